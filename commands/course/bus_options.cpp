#include "commands/course/bus_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "forms/line_words.hpp"
#include "models/coherence/bus_order.hpp"
#include "models/text/shell_word.hpp"
#include "models/text/visible.hpp"
#include "sim/config/machine_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kAtomicEnding = "_atomic";
constexpr int kBytesOfKib = 1024;

enum class Buses { atomic, all };

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_of(const Protocol& protocol, Buses buses) {
  return protocol.kind == ProtocolKind::bus && (buses == Buses::all || protocol.bus == BusKind::atomic);
}

// False for a file of another kind, some of which can't be loaded without a partner.
bool is_file_of(const std::string& name, Buses buses) {
  try {
    return is_of(load_protocol(name), buses);
  } catch (const ConfigError&) {
    return false;
  }
}

// "legal here: dragon, mesi, ..., with the short names that users type; did you mean mesi?"
std::string legal_protocols(const std::string& wanted, Buses buses) {
  std::vector<std::string> legal, meant;
  for (const std::string& name : file_names(kProtocolFiles)) {
    if (!is_file_of(name, buses)) continue;
    legal.push_back(name.substr(0, name.size() - (name.ends_with(kAtomicEnding) ? kAtomicEnding.size() : 0)));
    meant.push_back(name);
  }
  meant.insert(meant.end(), legal.begin(), legal.end());
  const std::string family = wanted.substr(0, wanted.find('_'));
  return fmt::format("legal here: {}{}", fmt::join(legal, ", "),
                     is_among(legal, family) ? fmt::format("; did you mean {}?", family) : did_you_mean(wanted, meant));
}

Protocol load_of(const std::string& wanted, Buses buses) {
  const bool is_file = is_path(kProtocolFiles, wanted);
  Protocol protocol;
  try {
    protocol = load_protocol(protocol_file(wanted), "--protocol");
  } catch (const ConfigError&) {
    std::error_code ignored;
    if (is_file || shipped_file(kProtocolFiles, protocol_file(wanted)) || std::filesystem::exists(wanted, ignored)) throw;
    throw ConfigError(fmt::format("--protocol: protocol \"{}\" is not known; {}", visible_name(wanted),
                                  legal_protocols(protocol_file(wanted), buses)));
  }
  if (!is_of(protocol, buses))
    throw ConfigError(fmt::format("--protocol {}: {}; {}", wanted,
                                  buses == Buses::atomic ? "accesses that are typed run on an atomic bus"
                                                         : "is not for a bus, on which a trace's caches are",
                                  legal_protocols(protocol_file(wanted), buses)));
  if (is_file) protocol.name = wanted;
  return protocol;
}

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

std::string protocol_file(const std::string& wanted) {
  if (is_path(kProtocolFiles, wanted)) return wanted;
  std::string name = lower_case(wanted);
  std::ranges::replace(name, '-', '_');
  const std::string atomic = fmt::format("{}{}", name, kAtomicEnding);
  return !shipped_file(kProtocolFiles, name) && shipped_file(kProtocolFiles, atomic) ? atomic : name;
}

Protocol protocol_of_course(const std::string& name) {
  return load_of(name, Buses::all);
}

Protocol protocol_of_accesses(const TraceOptions& options) {
  if (options.protocol.empty()) throw UsageError("accesses that are typed also need a protocol, such as --protocol mesi");
  return load_of(options.protocol, Buses::atomic);
}

bool is_for_atomic_bus(const Protocol& protocol) {
  return is_of(protocol, Buses::atomic);
}

ExitCode run_on_bus(const Protocol& protocol, const std::function<void()>& run) {
  const auto tell = [&protocol](const std::string& what) {
    std::cerr << "linebounce: " << what << "; `linebounce check " << shell_word(protocol.name)
              << "` shows a shortest way there\n";
    return ExitCode::simulation_failed;
  };
  try {
    run();
    return ExitCode::done;
  } catch (const std::logic_error& fault) {
    return tell(fault.what());
  } catch (const ProtocolFault& fault) {
    // A row of the file that this one extends: it stands there for all that extend it.
    const std::string what = fault.what(), file = std::filesystem::path(protocol.name).filename().string();
    const bool extends = protocol.cache.files.size() > 1 && protocol.name.ends_with(".md") && !what.starts_with(file);
    return tell(extends ? fmt::format("{}, which extends {}", protocol.name, what) : what);
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
  } catch (const std::invalid_argument&) {
    const int set_bytes = spec.ways * spec.line_bytes;
    const int below = set_bytes * static_cast<int>(std::bit_floor(static_cast<unsigned>(spec.size_bytes / set_bytes)));
    throw ConfigError(
        fmt::format("--cache-bytes {}: with --ways {} and --line-bytes {}, a cache has {} bytes times a power of "
                    "two; legal near it: {}",
                    spec.size_bytes, spec.ways, spec.line_bytes, set_bytes,
                    below == 0 ? fmt::format("{}", set_bytes) : fmt::format("{} and {}", below, 2 * below)));
  }
  return spec;
}

void refuse_settings(const TraceOptions& options, const Protocol& protocol, SeedOf seed) {
  if (!options.overrides.sets.empty())
    throw ConfigError(
        fmt::format("--set: {} is for an atomic bus, which has no time; legal with it: --cache-bytes, --ways, "
                    "--line-bytes",
                    protocol.name));
  if (options.overrides.seed && seed == SeedOf::nothing)
    throw UsageError(
        "--seed is for a recorded program's trace, whose pages' frames it draws; accesses that are typed have none");
}

}  // namespace linebounce::sim
