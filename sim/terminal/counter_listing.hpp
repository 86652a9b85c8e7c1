// Prints the counters of caches in the terms of a course, as a table or in the format of a template.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/reported_point.hpp"
#include "sim/statistics/class_counters.hpp"
#include "sim/terminal/cost_formula.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// By cache: the counters by name. Cycles (cycles_issue, ...) are counters only if a cache has one: of a run in time.
using CounterListing = std::map<int, std::map<std::string, double>>;
constexpr std::string_view kCycleCounters = "cycles_";

CounterListing listing_of(const ClassCounters& counters);
// Extracts the counters from the metrics of a run with run.counters; empty for any other run.
CounterListing listing_of(const ReportedPoint& point);

// One row for each counter that is not 0 in every cache, then one for each cost; one column for each cache, and one for all
// caches, whose costs are computed from the sums of the counters. Errors: ConfigError for the costs.
std::string counter_table(const CounterListing& listing, const Painter& paint, const std::vector<CostFormula>& costs = {});

// Fills in a template (configs/counters). `name`: the template file's name, for messages. Errors: ConfigError with the line,
// for an unknown counter or an unclosed section. `more_costs`: in addition to those of the template's section [costs].
std::string filled_in(const std::string& text, const std::string& name, const CounterListing& listing,
                      const std::vector<CostFormula>& more_costs = {});

}  // namespace linebounce::sim
