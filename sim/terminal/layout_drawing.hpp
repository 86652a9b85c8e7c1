// Draws a structure, one coherence line after the other.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/terminal/terminal.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

// Draws each line as a strip of its bytes, followed by a list of its fields and holes with offsets and sizes in bytes.
std::string drawn_layout(const Layout& layout, int line_bytes, const Painter& paint);
nlohmann::ordered_json layout_to_json(const Layout& layout, int line_bytes);

}  // namespace linebounce::sim
