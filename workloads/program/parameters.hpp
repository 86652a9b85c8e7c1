// The parameters of a workload: declared once with default and meaning, and checked when a configuration is read.
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
  // Known values that are illegal here, with the reason for the error message. REQUIRES: none is among the choices.
  std::map<std::string, std::string> refusals = {};
  // Texts only: every other name in the parameter's table is legal as well, with the same choices and no default: "locks.NAME"
  // besides "locks.default".
  bool open = false;
  // For a parameter that names a lock or a lock's file: the reason against a lock with these traits; empty if it is legal.
  std::function<std::string(const LockTraits&)> why_no_lock = {};
  // For a parameter that names a counter: likewise.
  std::function<std::string(const CounterUses&)> why_no_counter = {};
};

// The values of one run. Errors: std::out_of_range for an undeclared name, which is a bug.
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
  // The values of an open parameter ("locks.NAME"), by the part of the name after `prefix`.
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
