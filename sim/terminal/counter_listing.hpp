// Prints the counters of caches in the terms of a course, as a table or in the format of a template.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/results/reported_point.hpp"
#include "sim/statistics/class_counters.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// By cache: the counters by name.
using CounterListing = std::vector<std::map<std::string, double>>;

CounterListing listing_of(const ClassCounters& counters);
// Extracts the counters from the metrics of a run with run.counters; empty for any other run.
CounterListing listing_of(const ReportedPoint& point);

// One row for each counter that is not 0 in every cache, one column for each cache, and one column for the sum.
std::string counter_table(const CounterListing& listing, const Painter& paint);

// Fills in a template (configs/counters). `name`: the template file's name, for messages. Errors: ConfigError with the line,
// for an unknown counter or an unclosed section.
std::string filled_in(const std::string& text, const std::string& name, const CounterListing& listing);

}  // namespace linebounce::sim
