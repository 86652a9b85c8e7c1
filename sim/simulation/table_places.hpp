// Finds the lines of measured tables in a workload's memory.
#pragma once

#include <vector>

#include "models/memory/line_store.hpp"
#include "sim/lines/table_metrics.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

// Finds the lines of each table. There may be none: a variant of the workload may not use the structure, or no object of the
// structure may have the measured home. REQUIRES: the workload has placed its objects; `tables` outlive the result. Errors:
// ConfigError for a structure or field that neither the layout file nor the workload has, with the legal ones.
std::vector<PlacedTable> place_tables(const std::vector<MeasuredTable>& tables, const LayoutSet& declared,
                                      const AddressSpace& memory, const LineStore& store, const Homes& homes);

}  // namespace linebounce::sim
