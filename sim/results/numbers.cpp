#include "sim/results/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "sim/results/json_members.hpp"

namespace linebounce::sim {
namespace {

std::optional<double> numeric(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

template <class Values>
nlohmann::ordered_json members(const Values& values) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [path, value] : values) out[path] = value_to_json(value);
  return out;
}

}  // namespace

std::string significant(double value) {
  if (!std::isfinite(value)) throw std::logic_error("a result is not a finite number");
  if (value == 0) value = 0;  // also turns -0 into 0
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6).ptr;
  return {text.data(), end};
}

double rounded(double value) {
  const std::string text = significant(value);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

nlohmann::ordered_json number_to_json(const Number& number) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return *integer;
  return rounded(std::get<double>(number));
}

Number number_from_json(const nlohmann::ordered_json& json) {
  if (json.is_number_integer()) return taken<std::int64_t>(json);
  return json.get<double>();
}

double as_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

nlohmann::ordered_json value_to_json(const ParameterValue& value) {
  return std::visit([](const auto& v) { return nlohmann::ordered_json(v); }, value);
}

ParameterValue value_from_json(const nlohmann::ordered_json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return taken<std::int64_t>(json);
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

nlohmann::ordered_json at_to_json(const std::vector<std::pair<std::string, ParameterValue>>& values) {
  return members(values);
}
nlohmann::ordered_json at_to_json(const std::map<std::string, ParameterValue>& values) {
  return members(values);
}

std::string value_text(const ParameterValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return significant(*real);
  return std::get<std::string>(value);
}

bool same_value(const ParameterValue& left, const ParameterValue& right) {
  const auto left_number = numeric(left);
  const auto right_number = numeric(right);
  if (left_number && right_number) return *left_number == *right_number;
  return left == right;
}

}  // namespace linebounce::sim
