// Where the lines of measured tables are in a workload's memory.
#pragma once

#include <vector>

#include "models/memory/line_store.hpp"
#include "sim/lines/table_metrics.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce {

// REQUIRES: the workload has placed its objects; `tables` outlive the result. Errors: ConfigError for a structure of which the
// workload has no object, or a field that it does not have, with those that there are; for a home that none of them has.
std::vector<PlacedTable> place_tables(const std::vector<MeasuredTable>& tables, const AddressSpace& memory,
                                      const LineStore& store, const Homes& homes);

}  // namespace linebounce
