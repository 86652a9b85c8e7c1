// What no single key of a machine can say: whether its parts fit each other.
#include <fmt/format.h>

#include "sim/config/directory_name.hpp"
#include "sim/config/machine_tables.hpp"
#include "sim/config/node_checks.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce::sim {
namespace {

class Checks {
 public:
  Checks(MachineSpec& machine, const Settings& settings) : machine_(machine), settings_(settings) {}

  // Studies of a trace have a directory for each machine.
  void name() const {
    if (!machine_.name.empty() && !names_directory(machine_.name))
      refuse("machine.name", fmt::format("\"{}\" {}", machine_.name, kNoDirectoryName));
  }

  void cpus() const {
    if (machine_.cpus > machine_.cpus_present) {
      refuse("machine.cpus", fmt::format("{} is more than the machine's {}; legal: 1 to {}", machine_.cpus,
                                         machine_.cpus_present, machine_.cpus_present));
    }
    if (machine_.cpus_present % machine_.cpu.threads_per_core != 0) {
      refuse("machine.cpu.threads_per_core",
             fmt::format("{} does not divide the machine's {} CPUs", machine_.cpu.threads_per_core, machine_.cpus_present));
    }
    const bool buffered = machine_.cpu.store_buffer_entries > 0;
    if (buffered == (machine_.cpu.consistency == Consistency::sc)) {
      refuse("machine.cpu.store_buffer_entries",
             buffered ? "consistency = \"sc\" has no store buffer; legal: 0, or consistency \"tso\" or \"ia64\""
                      : "0 is out of range; consistency \"tso\" and \"ia64\" need a store buffer: 1 or more entries");
    }
  }

  void footprint() const {
    for (const KeyInfo& key : schema_keys({})) {
      if (!key.path.starts_with("machine.footprint.") || has_effect(key, settings_) || !is_shown(key, settings_)) continue;
      const std::string needed = shown(key.needs, settings_.at(key.path).origin);
      refuse(key.path, fmt::format("has no effect, {} is 0: give that, or leave this out", needed));
    }
    const FootprintSpec& footprint = machine_.footprint;
    if (footprint.tlb_entries % footprint.tlb_ways != 0) {
      refuse("machine.footprint.tlb_ways",
             fmt::format("{} does not divide the {} entries", footprint.tlb_ways, footprint.tlb_entries));
    }
    const int bytes = footprint.code_cache_kib * 1024;
    if (bytes % (footprint.code_cache_ways * footprint.code_line_bytes) != 0) {
      refuse("machine.footprint.code_cache_ways",
             fmt::format("{} KiB are no whole number of sets of {} lines of {} bytes", footprint.code_cache_kib,
                         footprint.code_cache_ways, footprint.code_line_bytes));
    }
  }

  void cache(std::size_t level) const {
    const CacheSpec& cache = machine_.caches[level];
    const std::string at = "machine.cache." + cache.name + ".";
    if (level == kMostLevels) {
      refuse(at + "size_kib",
             fmt::format("{} is one level too many; legal: 1 to {} private caches of a core", cache.name, level));
    }
    if (!power_of_two(cache.line_bytes)) refuse(at + "line_bytes", fmt::format("{} is no power of two", cache.line_bytes));
    const int bytes = cache.size_kib * 1024;
    const int way_bytes = cache.ways * cache.line_bytes;
    if (bytes % way_bytes != 0 || !power_of_two(bytes / way_bytes)) {
      refuse(at + "size_kib",
             fmt::format("{} KiB in {} ways of {}-byte lines make {:.6g} sets; the number of sets must be a power of two",
                         cache.size_kib, cache.ways, cache.line_bytes, static_cast<double>(bytes) / way_bytes));
    }
    if (cache.replacement == Replacement::tree_plru && !power_of_two(cache.ways)) {
      refuse(at + "replacement",
             fmt::format("tree_plru needs a power of two of ways; {} has {}; use lru", cache.name, cache.ways));
    }
    if (level > 0) against_inner(machine_.caches[level - 1], cache, at);
  }

  void bus() {
    const int line = machine_.caches.back().line_bytes;
    if (machine_.bus.line_bytes == 0) machine_.bus.line_bytes = line;
    if (machine_.bus.line_bytes != line) {
      refuse("machine.bus.line_bytes",
             fmt::format("{} differs from the {} bytes of cache {}: all coherence lines on a bus have one size",
                         machine_.bus.line_bytes, line, machine_.caches.back().name));
    }
    if (line % machine_.bus.width_bytes != 0) {
      refuse("machine.bus.width_bytes",
             fmt::format("{} does not divide the coherence line of {} bytes", machine_.bus.width_bytes, line));
    }
  }

  void protocols() const {
    for (const std::string_view path : kProtocolKeys) {
      const Setting& setting = settings_.at(std::string(path));
      const auto& name = std::get<std::string>(setting.value);
      const bool needed = path == "machine.bus.protocol" || !name.empty();
      if (needed) find_file(kProtocolFiles, name, "", setting.origin.place + ": " + shown(std::string(path), setting.origin));
    }
    for (const GroupSpec& group : machine_.groups) {
      const std::string path = fmt::format("machine.group.{}.protocol", group.name);
      const Setting& setting = settings_.at(path);
      find_file(kProtocolFiles, group.protocol, "", setting.origin.place + ": " + shown(path, setting.origin));
    }
  }

 private:
  static std::string shown(const std::string& path, const Origin& origin) {
    return path.substr(path.starts_with(origin.hidden) ? origin.hidden.size() : 0);
  }

  [[noreturn]] void refuse(const std::string& path, const std::string& text) const {
    fail(settings_.at(path).origin, path, text);
  }

  void against_inner(const CacheSpec& inner, const CacheSpec& outer, const std::string& at) const {
    if (outer.line_bytes % inner.line_bytes != 0) {
      refuse("machine.cache." + inner.name + ".line_bytes", fmt::format("{} does not divide the {} bytes of the next level, {}",
                                                                        inner.line_bytes, outer.line_bytes, outer.name));
    }
    if (outer.inclusive && outer.size_kib < inner.size_kib) {
      refuse(at + "size_kib", fmt::format("{} KiB cannot include the {} KiB of {}; make it larger or set inclusive = false",
                                          outer.size_kib, inner.size_kib, inner.name));
    }
  }

  MachineSpec& machine_;
  const Settings& settings_;
};

}  // namespace

void check_machine(MachineSpec& machine, const Settings& settings) {
  Checks checks(machine, settings);
  checks.name();
  checks.cpus();
  for (std::size_t level = 0; level < machine.caches.size(); ++level) checks.cache(level);
  checks.footprint();
  checks.bus();
  checks.protocols();
  check_nodes(machine, settings);
}

}  // namespace linebounce::sim
