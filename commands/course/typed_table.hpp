// The table of accesses that are typed: what `linebounce steps --accesses` and the teaching page show.
#pragma once

#include <memory>
#include <string>

#include "commands/course/bus_options.hpp"
#include "commands/course/state_table.hpp"

namespace linebounce::sim {

struct StateTableRun {
  std::unique_ptr<StateTable> table;
  bool cut = false;  // there were more accesses than `most`
};

// The table of typed accesses under a protocol of an atomic bus. REQUIRES: `protocol` outlives the result. Errors: ConfigError;
// ProtocolFault and std::logic_error if the protocol does what no correct one does.
StateTableRun typed_table(const TraceOptions& options, const std::string& accesses, const Protocol& protocol, std::size_t most);

}  // namespace linebounce::sim
