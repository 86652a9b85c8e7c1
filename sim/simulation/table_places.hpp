// Finds the lines of measured tables in a workload's memory.
#pragma once

#include <vector>

#include "models/memory/line_store.hpp"
#include "sim/lines/table_metrics.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

// Finds the lines of each table. A table has none if this run has no such object: a variant of the workload may not use a
// structure of the layout file, or no object of the structure may have the home of the measured one. REQUIRES: the workload
// has placed its objects; `tables` outlive the result. Errors: ConfigError for a structure or field that neither the file nor
// the workload has, with the legal ones.
std::vector<PlacedTable> place_tables(const std::vector<MeasuredTable>& tables, const LayoutSet& declared,
                                      const AddressSpace& memory, const LineStore& store, const Homes& homes);

}  // namespace linebounce::sim
