// The parameters of a workload. A workload declares each one with its default and meaning, and the reader of a configuration
// checks the values against the declarations.
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
  std::string name;              // the key below [workload], which ends with the unit
  ParameterValue default_value;  // its type is the parameter's type
  std::string meaning;
  double minimum = 0;  // the limits of numbers
  double maximum = 1e18;
  std::vector<std::string> choices = {};  // legal texts; if empty, every text is legal
  // Existing values that are illegal for this parameter, such as unsuitable locks, with the reasons for the error message.
  // REQUIRES: none of them is among the choices.
  std::map<std::string, std::string> refusals = {};
  // Texts only. True if the user may also set every other name in the parameter's table, with the same choices and no default:
  // "locks.NAME" besides "locks.default".
  bool open = false;
  // For a parameter that names a lock or a lock's file: returns why a lock with these traits is illegal here; empty if it is
  // legal.
  std::function<std::string(const LockTraits&)> why_no_lock = {};
  // The same for a parameter that names a counter.
  std::function<std::string(const CounterUses&)> why_no_counter = {};
};

// The values of one run's parameters. Errors: std::out_of_range for an undeclared name, which is a bug in the caller.
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
  // Returns the values of all parameters whose names begin with `prefix` ("locks."), by the rest of the name.
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
