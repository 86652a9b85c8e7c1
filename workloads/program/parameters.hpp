// A workload's or lock's parameters: declared once with default and meaning, checked when a configuration is read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace linebounce::workloads {

struct CounterUses;
struct LockTraits;

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

struct ParameterDeclaration {
  std::string name;              // the key below [workload], its unit in its name
  ParameterValue default_value;  // also fixes the type
  std::string meaning;
  double minimum = 0;  // numbers only
  double maximum = 1e18;
  std::vector<std::string> choices = {};  // strings only; empty: any
  // What exists but does not do here, with the reason, for who asks for it. None is among the choices.
  std::map<std::string, std::string> refusals = {};
  // Texts only: any other name in its table is legal, too, with the same choices and no default: "locks.NAME" of
  // "locks.default".
  bool open = false;
  // Of one that names a lock, whose value may also be a lock's file: what forbids a lock of these traits; empty: nothing.
  std::function<std::string(const LockTraits&)> why_no_lock = {};
  // The same of one that names a counter.
  std::function<std::string(const CounterUses&)> why_no_counter = {};
};

// The values of one run. An undeclared name is a bug, std::out_of_range.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(std::map<std::string, ParameterValue> values) : values_(std::move(values)) {}
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] const ParameterValue& value(const std::string& name) const { return values_.at(name); }
  [[nodiscard]] std::int64_t integer(const std::string& name) const { return std::get<std::int64_t>(values_.at(name)); }
  [[nodiscard]] double number(const std::string& name) const { return std::get<double>(values_.at(name)); }
  [[nodiscard]] bool flag(const std::string& name) const { return std::get<bool>(values_.at(name)); }
  [[nodiscard]] const std::string& text(const std::string& name) const { return std::get<std::string>(values_.at(name)); }
  // Of a parameter whose name has an end that the user chooses ("locks.NAME"): what stands behind `prefix`, with the values.
  [[nodiscard]] std::map<std::string, std::string> texts_below(const std::string& prefix) const {
    std::map<std::string, std::string> found;
    for (auto value = values_.lower_bound(prefix); value != values_.end() && value->first.starts_with(prefix); ++value)
      found.emplace(value->first.substr(prefix.size()), std::get<std::string>(value->second));
    return found;
  }

 private:
  std::map<std::string, ParameterValue> values_;
};

}  // namespace linebounce::workloads
