// Formats numbers in results. Counts are exact; other numbers have 6 significant digits. std::to_chars gives the same text with
// every compiler and locale.
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

// "12.8571", "100", "1.23457e+08". REQUIRES: a finite value; otherwise throws std::logic_error, because that is a bug.
std::string significant(double value);

// The value that a reader of the results gets: the double nearest to significant(value).
double rounded(double value);

// A number in results.json: an integer exactly, a double rounded.
nlohmann::ordered_json number_to_json(const Number& number);
Number number_from_json(const nlohmann::ordered_json& json);
double as_double(const Number& number);

// A configuration value in `at` of results.json, and in messages ("8", "true", "global_lock").
nlohmann::ordered_json value_to_json(const ParameterValue& value);
ParameterValue value_from_json(const nlohmann::ordered_json& json);
std::string value_text(const ParameterValue& value);

// Pairs of path and value. A point's `at` keeps the sweep's order; a paper row's is sorted by path.
nlohmann::ordered_json at_to_json(const std::vector<std::pair<std::string, ParameterValue>>& values);
nlohmann::ordered_json at_to_json(const std::map<std::string, ParameterValue>& values);

// Equality as users understand it: 8 equals 8.0.
bool same_value(const ParameterValue& left, const ParameterValue& right);

}  // namespace linebounce::sim
