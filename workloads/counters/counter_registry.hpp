// The registry of counters: one line each.
#pragma once

#include <span>
#include <string>

#include "workloads/counters/counter.hpp"
#include "workloads/program/parameter_binder.hpp"

namespace linebounce::workloads {

// What a counter can count.
struct CounterUses {
  bool events = false;
  bool references = false;
};

// What a counter's file defines: NAME_counter().
using MakeCounterEntry = CounterEntry();

// In the order in which `list` shows them.
std::span<const CounterEntry> all_counters();

// Finds a counter by name; one of `from_files` is named by its file's path. Errors: std::invalid_argument, with the legal
// names.
const CounterEntry& find_counter(const std::string& name, std::span<const CounterEntry> from_files = {});

// A parameter that names a counter of events, of references, or of either.
void counter_parameter(ParameterBinder& parameters, const char* name, std::string& option, const char* meaning,
                       CounterUses wanted);

}  // namespace linebounce::workloads
