// The counters of caches in the words of a course: as a table, or in the form of a template.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/statistics/class_counters.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// By cache: the counters by name.
using CounterListing = std::vector<std::map<std::string, double>>;

CounterListing listing_of(const ClassCounters& counters);
// From the metrics of a run with run.counters; empty if it had none.
CounterListing listing_of(const ReportedPoint& point);

// A row for each counter that is not 0 everywhere, a column for each cache, and one for all.
std::string counter_table(const CounterListing& listing, const Painter& paint);

// Fills in a template (configs/counters). `name`: of its file, for messages. Errors: ConfigError for an unknown counter or an
// unclosed section, with the line.
std::string filled_in(const std::string& text, const std::string& name, const CounterListing& listing);

}  // namespace linebounce::sim
