// The verdict on a protocol for a network, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/coherence/checker/network/prove_network.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// line_json(): a row's line number in the table's own file, or "FILE:LINE" if the row is inherited. lines_json(): the same for
// the rows of each column.
nlohmann::ordered_json line_json(const ControllerTable& table, int source_line);
nlohmann::ordered_json lines_json(const ControllerTable& table, const std::vector<std::vector<int>>& rows);

// REQUIRES for both: `proof` is about these protocols.
nlohmann::ordered_json proof_json(const NetworkProtocols& protocols, const NetworkProof& proof);
std::string proof_page(const NetworkProtocols& protocols, const NetworkProof& proof, const Painter& paint);

}  // namespace linebounce::sim
