// Divides each CPU's measured time by function and cause, as rows of cpi.csv.
#pragma once

#include <vector>

#include "models/machine/machine.hpp"
#include "sim/point/point_data.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

// One row for each CPU and function that spent time, sorted by CPU, then by the function's name. REQUIRES: the machine has run.
std::vector<CpiRow> cpi_rows(Machine& machine, const workloads::AddressSpace& memory);

}  // namespace linebounce::sim
