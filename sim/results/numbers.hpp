// How results print numbers: counts exactly, everything else with 6 significant digits by std::to_chars, which gives the same
// text with every compiler and locale.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "workloads/program/parameters.hpp"

namespace linebounce::sim {

using namespace workloads;

using Number = std::variant<std::int64_t, double>;

// "12.8571", "100", "1.23457e+08". REQUIRES: finite; anything else is a bug and throws std::logic_error.
std::string significant(double value);

// The double nearest to significant(value), as a reader of the results sees it.
double rounded(double value);

// The number in results.json: an integer exactly, a double rounded.
nlohmann::ordered_json number_to_json(const Number& number);
Number number_from_json(const nlohmann::ordered_json& json);
double as_double(const Number& number);

// A value of a configuration, for `at` in results.json and for messages ("8", "true", "global_lock").
nlohmann::ordered_json value_to_json(const ParameterValue& value);
ParameterValue value_from_json(const nlohmann::ordered_json& json);
std::string value_text(const ParameterValue& value);

// Paths and their values. A point's `at` is in the sweep's order; a paper row's is sorted by path.
nlohmann::ordered_json at_to_json(const std::vector<std::pair<std::string, ParameterValue>>& values);
nlohmann::ordered_json at_to_json(const std::map<std::string, ParameterValue>& values);

// Equality as users mean it: 8 and 8.0 are equal.
bool same_value(const ParameterValue& left, const ParameterValue& right);

}  // namespace linebounce::sim
