// --point: chooses a point of a sweep by its number or its settings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

// The point's number; none if the text is not a number but settings.
std::optional<int> point_number(std::string_view text);

// The message for a --point that is none of this many points.
std::string out_of_range(int point, std::size_t points);

// Finds the point with this number ("17") or these settings ("lock=mcs,cpus=32"). The last part of a path suffices if it is
// unique. If several points match, returns the last. Errors: ConfigError, with the legal values.
int chosen_point(const std::string& text, const std::vector<ReportedPoint>& points);

}  // namespace linebounce::sim
