#include "commands/calibrate/placed_caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace linebounce::sim {
namespace {

constexpr int kMostWaysTried = 128;
constexpr std::int64_t kBytesOfKib = 1024;
constexpr const char* kBehindBus = "machine.node.";

class CachePlacer {
 public:
  explicit CachePlacer(FittedTables& machine) : machine_(machine) {}

  PlacedCaches place(const std::vector<ProbedCache>& caches, bool keep_structure) {
    const MachineSpec machine = machine_.typed();
    const int threads = machine.cpu.threads_per_core;
    const bool can_share = machine.has_nodes() && machine_.number("machine.node.cache_size_kib") > 0;
    // A core that shares neither its bus nor its last-level cache has that cache behind the bus.
    const bool is_behind_bus = cores_of_bus(machine) == 1 && can_share;
    const bool has_shared = !caches.empty() && caches.back().level > 1 && (caches.back().shared_by > threads || is_behind_bus);
    const std::size_t own = caches.size() - (has_shared ? 1 : 0);
    if (own != names().size() && !keep_structure && has_all_levels(caches)) reshape(own);
    for (std::size_t i = 0; i < own; ++i) place_own(caches[i], static_cast<std::size_t>(caches[i].level) - 1, threads);
    if (has_shared && can_share) {
      placed_.shared = &caches.back();
      set_size(kBehindBus, caches.back(), caches.back().size_kib);
    } else if (has_shared) {
      note("L{} is shared by {} CPUs; the machine has no place for it.", caches.back().level, caches.back().shared_by);
    } else if (can_share) {
      note("No cache is shared by cores; the machine's cache behind the bus is an assumption.");
    }
    return std::move(placed_);
  }

 private:
  static int cores_of_bus(const MachineSpec& machine) {
    return std::max(machine.cpus, machine.cpus_present) / machine.cpu.threads_per_core /
           (machine.nodes * machine.buses_per_node);
  }

  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    placed_.notes.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  [[nodiscard]] std::vector<std::string>& names() { return machine_.tables().parts.caches; }

  // An inner cache that cores share becomes a private one of each, with its part of the size.
  void place_own(const ProbedCache& cache, std::size_t level, int threads) {
    if (level >= names().size()) {
      note("L{} is private, but the machine has only {} private levels.", cache.level, names().size());
      return;
    }
    const std::string table = "machine.cache." + names()[level] + ".";
    const int cores = std::max(1, cache.shared_by / std::max(1, threads));
    if (cores > 1)
      note("{} cores share each L{}, of {} KiB; in the machine each core has {} KiB of it to itself.", cores, cache.level,
           cache.size_kib, cache.size_kib / cores);
    set_size(table, cache, cache.size_kib / cores);
    placed_.own.emplace_back(table, &cache);
  }

  // A machine requires a power of two of sets: keeps the stated number of ways if it gives one, else takes the nearest that
  // does. If there is none, uses the next smaller size.
  void set_size(const std::string& table, const ProbedCache& cache, int stated_kib) {
    const bool is_shared = table == kBehindBus;
    const std::string ways_key = table + (is_shared ? "cache_ways" : "ways");
    const std::string size_key = table + (is_shared ? "cache_size_kib" : "size_kib");
    const int line = cache.line_bytes > 0 ? cache.line_bytes : static_cast<int>(machine_.typed().caches.back().line_bytes);
    const auto lines = static_cast<int>(stated_kib * kBytesOfKib / line);
    const int wanted = cache.ways > 0 ? cache.ways : static_cast<int>(machine_.number(ways_key));
    int ways = ways_for(lines, wanted);
    int size_kib = stated_kib;
    if (ways == 0) {
      ways = std::min({wanted, kMostWaysTried, std::max(1, lines)});
      const auto sets = std::bit_floor(static_cast<unsigned>(std::max(1, lines / ways)));
      size_kib = static_cast<int>(std::int64_t{sets} * ways * line / kBytesOfKib);
      note("L{} has {} KiB; in the machine {} KiB, for sets are a power of two there.", cache.level, stated_kib, size_kib);
    } else if (cache.ways > 0 && ways != cache.ways) {
      note("L{} has {} ways; in the machine {}, for sets are a power of two there.", cache.level, cache.ways, ways);
    }
    machine_.set(size_key, size_kib);
    machine_.set(ways_key, ways);
    if (cache.ways == 0) machine_.tables().sources[ways_key] = "assumed: the caches' ways are not stated";
    if (cache.line_bytes > 0 && !is_shared) machine_.set(table + "line_bytes", line);
  }

  // The number of ways nearest to the wanted one that gives a power of two of sets; 0: none does.
  static int ways_for(int lines, int wanted) {
    int best = 0;
    for (int ways = 1; ways <= kMostWaysTried; ++ways) {
      if (lines % ways != 0 || !std::has_single_bit(static_cast<unsigned>(lines / ways))) continue;
      if (best == 0 || std::abs(ways - wanted) < std::abs(best - wanted)) best = ways;
    }
    return best;
  }

  // Removes or adds levels until there are `levels`. Added levels are copies of the outermost one.
  void reshape(std::size_t levels) {
    MachineTables& tables = machine_.tables();
    static const std::vector<std::string> kKeys = {"size_kib",           "ways",      "line_bytes",
                                                   "hit_latency_cycles", "inclusive", "replacement"};
    while (names().size() > levels) {
      for (const std::string& key : kKeys) tables.settings.erase("machine.cache." + names().back() + "." + key);
      std::erase_if(tables.sources,
                    [&](const auto& source) { return source.first.starts_with("machine.cache." + names().back()); });
      names().pop_back();
    }
    while (names().size() < levels) {
      const std::string name = fmt::format("L{}", names().size() + 1);
      for (const std::string& key : kKeys) {
        tables.settings["machine.cache." + name + "." + key] =
            tables.settings.at("machine.cache." + names().back() + "." + key);
      }
      names().push_back(name);
    }
    tables.keys = KeySpace();
    for (const KeyInfo& key : schema_keys(tables.parts)) {
      if (key.path.starts_with("machine.")) tables.keys.add(key);
    }
  }

  FittedTables& machine_;
  PlacedCaches placed_;
};

}  // namespace

bool has_all_levels(const std::vector<ProbedCache>& caches) {
  for (std::size_t i = 0; i < caches.size(); ++i) {
    if (caches[i].level != static_cast<int>(i) + 1) return false;
  }
  return true;
}

PlacedCaches place_caches(FittedTables& machine, const std::vector<ProbedCache>& caches, bool keep_structure) {
  return CachePlacer(machine).place(caches, keep_structure);
}

}  // namespace linebounce::sim
