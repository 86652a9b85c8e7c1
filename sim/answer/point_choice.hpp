// --point: a point of a sweep by its number or by where it lies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/paper.hpp"

namespace linebounce::sim {

// The number that a text is; none: it has to be settings.
std::optional<int> point_number(std::string_view text);

// "17", or "lock=mcs,cpus=32": the last parts of paths are enough as long as they are of one path. Of several points with these
// settings the last one. Errors: ConfigError with what there is.
int chosen_point(const std::string& text, const std::vector<ReportedPoint>& points);

}  // namespace linebounce::sim
