// The verdict on a protocol of a network, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/coherence/checker/network/prove_network.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// The line of a row, "FILE:LINE" where it is inherited; of each column's rows.
nlohmann::ordered_json line_json(const ControllerTable& table, int source_line);
nlohmann::ordered_json lines_json(const ControllerTable& table, const std::vector<std::vector<int>>& rows);

// REQUIRES, of both: `proof` is of these protocols.
nlohmann::ordered_json proof_json(const NetworkProtocols& protocols, const NetworkProof& proof);
std::string proof_page(const NetworkProtocols& protocols, const NetworkProof& proof, const Painter& paint);

}  // namespace linebounce::sim
