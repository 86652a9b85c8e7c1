#include "sim/sources/litmus_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/sources/line_file.hpp"
#include "workloads/litmus/litmus_test.hpp"

namespace linebounce::sim {

void TestBuilder::begin_thread(int number) {
  thread_ = number;
  if (static_cast<int>(test_->threads.size()) <= number) test_->threads.resize(number + 1);
}

const Held* TestBuilder::final_value(int thread, const std::string& reg) const {
  const auto found = registers_.find({thread, reg});
  return found == registers_.end() ? nullptr : &found->second;
}

char TestBuilder::letter(const std::string& name) {
  const auto found = std::ranges::find(test_->variables, name);
  if (found != test_->variables.end()) return workloads::kLitmusVariables[found - test_->variables.begin()];
  if (test_->variables.size() == workloads::kLitmusVariables.size())
    throw std::invalid_argument("more variables than a test may have here");
  test_->variables.push_back(name);
  return workloads::kLitmusVariables[test_->variables.size() - 1];
}

int TestBuilder::new_register(const std::string& reg) {
  test_->registers.push_back(fmt::format("{}:{}", thread_, reg));
  return static_cast<int>(test_->registers.size()) - 1;
}

void TestBuilder::load(const std::string& reg, const std::string& variable, bool acquires, std::optional<int> after) {
  const char name = letter(variable);
  const int number = new_register(reg);
  statement(fmt::format("r{} ={} {}{}", number, acquires ? "acq" : "", name, after ? fmt::format(" after r{}", *after) : ""));
  held(reg) = {Held::What::loaded, "", number};
}

void TestBuilder::store(const std::string& variable, const Held& value, bool releases) {
  const char name = letter(variable);
  statement(fmt::format("{} ={} {}", name, releases ? "rel" : "", text_of_value(value)));
}

void TestBuilder::exchange(const std::string& reg, const std::string& variable, const Held& value) {
  if (value.what != Held::What::constant) throw std::invalid_argument("only a constant can be exchanged here");
  const char name = letter(variable);
  const int number = new_register(reg);
  statement(fmt::format("r{} = exchange {} {}", number, name, value.number));
  held(reg) = {Held::What::loaded, "", number};
}

void TestBuilder::partial_fence() {
  test_->has_partial_fence = true;
  fence();
}

std::string TestBuilder::text_of_value(const Held& value) {
  if (value.what == Held::What::constant) return std::to_string(value.number);
  if (value.what == Held::What::loaded) return fmt::format("r{}", value.number);
  throw std::invalid_argument("the value is neither a constant nor was it loaded");
}

void TestBuilder::statement(const std::string& text) {
  std::string& thread = test_->threads[thread_];
  thread += (thread.empty() ? "" : "; ") + text;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  return out;
}

std::vector<std::string> split_text(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    parts.emplace_back(stripped(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

std::optional<int> litmus_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto value = text.starts_with("0x") ? hexadecimal(text) : decimal(negative ? text.substr(1) : text);
  constexpr std::uint64_t kLargest = 1'000'000;
  if (!value || *value > kLargest || negative) return std::nullopt;
  return static_cast<int>(*value);
}

}  // namespace linebounce::sim
