// Litmus tests from a few strings, and their verdicts.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "litmus/judge.hpp"
#include "litmus/read_test.hpp"
#include "litmus/scanner.hpp"
#include "litmus/shipped_models.hpp"

namespace linebounce::sim::litmus {

enum class Says : std::uint8_t { allowed, forbidden, nothing_ends };
inline constexpr Says kAllowed = Says::allowed, kForbidden = Says::forbidden;

struct Shape {
  std::string_view what;                  // as a sentence
  std::vector<std::string_view> threads;  // instructions, separated by semicolons
  std::string_view asks;                  // inside exists (...)
  Says says;
  std::string_view initial = "";
};

// A test in columns.
inline std::string column_text(std::string_view architecture, const Shape& shape) {
  std::vector<std::vector<std::string>> columns;
  std::size_t rows = 0;
  for (const std::string_view thread : shape.threads) {
    columns.push_back(split_outside_brackets(thread, ';'));
    rows = std::max(rows, columns.back().size());
  }
  std::string text = fmt::format("{} shape\n{{ {} }}\n", architecture, shape.initial);
  for (std::size_t i = 0; i < columns.size(); ++i) text += fmt::format("{} P{}", i == 0 ? "" : " |", i);
  text += " ;\n";
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      text += fmt::format("{} {}", i == 0 ? "" : " |", row < columns[i].size() ? columns[i][row] : "");
    text += " ;\n";
  }
  return text + fmt::format("exists ({})\n", shape.asks);
}

// A test in C, whose variables are all parameters of each function.
inline std::string c_text(const Shape& shape) {
  std::string text = fmt::format("C shape\n{{ {} }}\n", shape.initial);
  for (std::size_t i = 0; i < shape.threads.size(); ++i)
    text += fmt::format(
        "P{}(int *a, int *b, int *c, int **p, spinlock_t *l, spinlock_t *m, struct srcu_struct *s, struct srcu_struct *t)\n"
        "{{\n\tint r0; int r1; int r2;\n\t{}\n}}\n",
        i, shape.threads[i]);
  return text + fmt::format("exists ({})\n", shape.asks);
}

inline Judgement judgement_of(const std::string& text, const std::string& model_name) {
  const Program program = read_test(text, "shape.litmus");
  const Model model = load_model(model_name);
  return Judge(program, model).judgement();
}

inline void expect_verdict(const Shape& shape, const std::string& text, const std::string& model) {
  const Observation found = judgement_of(text, model).observation;
  const Says says = found == Observation::never          ? Says::forbidden
                    : found == Observation::no_execution ? Says::nothing_ends
                                                         : Says::allowed;
  EXPECT_NE(found, Observation::undecided) << shape.what;
  EXPECT_EQ(static_cast<int>(says), static_cast<int>(shape.says)) << shape.what << " (" << model << ")\n" << text;
}

}  // namespace linebounce::sim::litmus
