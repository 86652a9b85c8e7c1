// --point: chooses a point of a sweep by its number or its settings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

// The number in the text; none if the text must be settings.
std::optional<int> point_number(std::string_view text);

// Finds "17", or "lock=mcs,cpus=32". The last parts of paths suffice if they fit only one path. Among several points with these
// settings, the last one counts. Errors: ConfigError, listing the legal values.
int chosen_point(const std::string& text, const std::vector<ReportedPoint>& points);

}  // namespace linebounce::sim
