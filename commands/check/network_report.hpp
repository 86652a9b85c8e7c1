// The verdict on a protocol for a network, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/coherence/checker/network/prove_network.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Where rows of protocol tables stand. line_json(): the line number in the table's own file, or "FILE:LINE" if the row is
// inherited. lines_json(): the same for several rows in each of several columns.
nlohmann::ordered_json line_json(const ControllerTable& table, int source_line);
nlohmann::ordered_json lines_json(const ControllerTable& table, const std::vector<std::vector<int>>& rows);

// REQUIRES: `proof` is about `protocols`.
nlohmann::ordered_json proof_json(const NetworkProtocols& protocols, const NetworkProof& proof);
std::string proof_page(const NetworkProtocols& protocols, const NetworkProof& proof, const Painter& paint);

}  // namespace linebounce::sim
