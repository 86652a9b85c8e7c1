// States what limits a verdict from a recording: before the verdict, what could change it; after it, what else was not seen.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/terminal/terminal.hpp"
#include "trace/limits.hpp"

namespace linebounce::sim {

// What limits a verdict from a recording, a paragraph each, to be printed before anything else. `indent`: of all lines.
std::string limits_text(const trace::Limits& limits, std::size_t indent, const Painter& paint);
// What the sizes of a verdict rest on (pace_sentence()), to be printed behind the limits and before the verdict.
std::string basis_text(const std::string& basis, std::size_t indent, const Painter& paint);
nlohmann::ordered_json limits_json(const trace::Limits& limits);
// The verdict as it can be quoted alone: behind what limits it.
std::string behind_limits(const trace::Limits& limits, const std::string& verdict);

// Lists what a trace does not contain; empty if nothing is missing. Pages that begin with limits_text() leave its sentences out
// (missing_beside_limits()).
std::string not_seen_text(const std::vector<std::string>& missing, const Painter& paint);

}  // namespace linebounce::sim
