// Where the lines of measured tables are in a workload's memory.
#pragma once

#include <vector>

#include "models/memory/line_store.hpp"
#include "sim/lines/table_metrics.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

// A table has no lines where this run has no such object: a variant of the workload may do without a structure that the layout
// file declares, and none may have its home where the measured one had. REQUIRES: the workload has placed its objects; `tables`
// outlive the result. Errors: ConfigError for a structure or a field that neither the file nor the workload has, with those
// that there are.
std::vector<PlacedTable> place_tables(const std::vector<MeasuredTable>& tables, const LayoutSet& declared,
                                      const AddressSpace& memory, const LineStore& store, const Homes& homes);

}  // namespace linebounce::sim
