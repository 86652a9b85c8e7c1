// Text of a Murphi model, and how it names things.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/coherence/protocol.hpp"

namespace linebounce::checker {

class MurphiText {
 public:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Names may hold anything but spaces and commas in a table; the number keeps them apart.
inline std::string murphi_name(std::string_view kind, std::string_view name, std::size_t number) {
  std::string plain(name);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return fmt::format("{}{}_{}", kind, number, plain);
}

// "x = A | x = B": x is in one of the states for which `where` holds.
template <class Where>
std::string one_of(std::string_view variable, std::string_view kind, const ControllerTable& table, Where where) {
  std::vector<std::string> tests;
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    if (where(state)) tests.push_back(fmt::format("{} = {}", variable, murphi_name(kind, table.states[state].name, state)));
  }
  return tests.empty() ? "false" : fmt::format("({})", fmt::join(tests, " | "));
}

inline std::string state_names(std::string_view kind, const ControllerTable& table) {
  std::vector<std::string> names;
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    names.push_back(murphi_name(kind, table.states[state].name, state));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace linebounce::checker
