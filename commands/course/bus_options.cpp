#include "commands/course/bus_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "models/coherence/bus_order.hpp"
#include "sim/config/machine_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kAtomicEnding = "_atomic";
constexpr int kBytesOfKib = 1024;

}  // namespace

void add_trace_options(Command& command, TraceOptions& options) {
  command.option("--accesses", "TEXT", &options.accesses,
                 "Instead of a trace: the accesses, such as \"P1 R x; P2 W x; P1 R x\"");
  command.option("--protocol", "P", &options.protocol, "For a trace: the caches' protocol; default: the machine's");
  command.option("--cache-bytes", "N", &options.cache_bytes, "For a trace: the size of each cache").between(1, 1 << 30);
  command.option("--ways", "N", &options.ways, "For a trace: each cache's associativity").between(1, 1024);
  command.option("--line-bytes", "N", &options.line_bytes, "For a trace: the size of a line").between(1, 4096);
  command.option("--as", "FORM", &options.as, "For a trace: its form, where several fit (see: linebounce import --help)");
}

bool has_trace_options(const TraceOptions& options) {
  return !options.as.empty() || !options.protocol.empty() || options.cache_bytes || options.ways || options.line_bytes;
}

Protocol protocol_of_course(const std::string& name) {
  const std::vector<std::string> known = file_names(kProtocolFiles);
  const bool is_short =
      std::ranges::find(known, name) == known.end() && std::ranges::find(known, name + kAtomicEnding) != known.end();
  return load_protocol(is_short ? name + kAtomicEnding : name, "--protocol");
}

Protocol protocol_of_accesses(const TraceOptions& options) {
  if (options.protocol.empty()) throw UsageError("accesses that are typed also need a protocol, such as --protocol mesi");
  Protocol protocol = protocol_of_course(options.protocol);
  if (!is_for_atomic_bus(protocol))
    throw ConfigError(
        fmt::format("--protocol {}: accesses that are typed run on an atomic bus; legal here: mesi_atomic and the "
                    "like, see linebounce list protocols",
                    options.protocol));
  return protocol;
}

bool is_for_atomic_bus(const Protocol& protocol) {
  return protocol.kind == ProtocolKind::bus && protocol.bus == BusKind::atomic;
}

ExitCode run_on_bus(const Protocol& protocol, const std::function<void()>& run) {
  const auto tell = [&protocol](const std::exception& fault) {
    std::cerr << "linebounce: " << fault.what() << "; `linebounce check " << protocol.name << "` shows a shortest way there\n";
    return ExitCode::simulation_failed;
  };
  try {
    run();
    return ExitCode::done;
  } catch (const std::logic_error& fault) {
    return tell(fault);
  } catch (const ProtocolFault& fault) {
    return tell(fault);
  }
}

AtomicCacheSpec caches_of(const TraceOptions& options, const std::string& machine) {
  const MachineFiles files = read_machine_files(machine.empty() ? kCourseMachine : machine, "");
  const CacheSpec& outermost = files.spec.caches.back();
  const AtomicCacheSpec spec{.size_bytes = options.cache_bytes.value_or(outermost.size_kib * kBytesOfKib),
                             .ways = options.ways.value_or(outermost.ways),
                             .line_bytes = options.line_bytes.value_or(outermost.line_bytes)};
  try {
    sets_of(spec);
  } catch (const std::invalid_argument& refused) {
    throw ConfigError(fmt::format("the caches: {}", refused.what()));
  }
  return spec;
}

void refuse_settings(const TraceOptions& options, const Protocol& protocol) {
  if (!options.overrides.sets.empty())
    throw ConfigError(
        fmt::format("--set: {} is for an atomic bus, which has no time; legal with it: --cache-bytes, --ways, "
                    "--line-bytes",
                    protocol.name));
}

}  // namespace linebounce::sim
