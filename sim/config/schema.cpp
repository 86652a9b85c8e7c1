#include "sim/config/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <type_traits>

#include "sim/config/frequency.hpp"

namespace linebounce {
namespace {

using Configuration = TypedConfiguration;

// Where a parameter lives: a member of a part of the machine, of a cache, of the machine, of the run or the engine.
template <auto Member>
Target cpu(Configuration& c, std::size_t) {
  return &(c.machine.cpu.*Member);
}
template <auto Member>
Target bus(Configuration& c, std::size_t) {
  return &(c.machine.bus.*Member);
}
template <auto Member>
Target memory(Configuration& c, std::size_t) {
  return &(c.machine.memory.*Member);
}
template <auto Member>
Target cache(Configuration& c, std::size_t level) {
  return &(c.machine.caches[level].*Member);
}
template <auto Member>
Target machine(Configuration& c, std::size_t) {
  return &(c.machine.*Member);
}
template <auto Member>
Target run(Configuration& c, std::size_t) {
  return &(c.run.*Member);
}
template <auto Member>
Target engine(Configuration& c, std::size_t) {
  return &(c.engine.*Member);
}
Target seeds(Configuration& c, std::size_t) {
  return &c.seeds;
}

constexpr bool kRequired = true;
constexpr bool kDefault = false;
constexpr bool kStructural = true;
constexpr double kMostCpus = 64;
constexpr double kMostCycles = 1e6;
constexpr double kMostNs = 1e7;
constexpr double kMostUs = 1e12;
constexpr double kMostMhz = 1e5;

}  // namespace

const std::vector<Parameter>& schema() {
  static const std::vector<Parameter> rows = {
      {"machine.name", "", machine<&MachineSpec::name>, kRequired, 0, 0, "the name in results", kStructural},
      {"machine.title", "", machine<&MachineSpec::title>, kDefault, 0, 0, "one line for people", kStructural},
      {"machine.cpus_present", "", machine<&MachineSpec::cpus_present>, kDefault, 0, kMostCpus,
       "hardware threads that the machine has; 0: as many as `cpus`", kStructural},
      {"machine.cpus", "", machine<&MachineSpec::cpus>, kRequired, 1, kMostCpus, "hardware threads in use"},
      {"machine.cpu_order", "", machine<&MachineSpec::cpu_order>, kDefault, 0, 0,
       "which hardware threads come first: spread over nodes, buses and cores, or fill one after the other"},

      {"machine.cpu.clock_mhz", "MHz", cpu<&CpuSpec::clock>, kRequired, 0.001, kMostMhz, "the cores' clock"},
      {"machine.cpu.issue_per_cycle", "", cpu<&CpuSpec::issue_per_cycle>, kDefault, 1, 64,
       "instructions that a core retires in a cycle"},
      {"machine.cpu.threads_per_core", "", cpu<&CpuSpec::threads_per_core>, kDefault, 1, 8,
       "hardware threads that share a core's caches"},
      {"machine.cpu.atomic_latency_cycles", "cycles", cpu<&CpuSpec::atomic_latency_cycles>, kDefault, 0, kMostCycles,
       "exchange and fetch-and-add on a line that is owned; the line is locked for so long"},
      {"machine.cpu.compare_exchange_latency_cycles", "cycles", cpu<&CpuSpec::compare_exchange_latency_cycles>, kDefault, 0,
       kMostCycles, "compare-and-exchange on a line that is owned; the line is locked for so long"},
      {"machine.cpu.fence_latency_cycles", "cycles", cpu<&CpuSpec::fence_latency_cycles>, kDefault, 0, kMostCycles,
       "a full fence with nothing to wait for"},
      {"machine.cpu.fill_latency_cycles", "cycles", cpu<&CpuSpec::fill_latency_cycles>, kDefault, 0, kMostCycles,
       "first data at the core's pins to the start of the operation that waits for it"},
      {"machine.cpu.interrupt_latency_cycles", "cycles", cpu<&CpuSpec::interrupt_latency_cycles>, kDefault, 0, kMostCycles,
       "an interrupt's arrival to its handler's first instruction"},
      {"machine.cpu.ipi_latency_ns", "ns", cpu<&CpuSpec::ipi_latency_ns>, kDefault, 0, kMostNs,
       "sending an inter-processor interrupt to its arrival; waking a sleeping CPU takes as long"},
      {"machine.cpu.consistency", "", cpu<&CpuSpec::consistency>, kDefault, 0, 0, "the memory model"},
      {"machine.cpu.store_buffer_entries", "entries", cpu<&CpuSpec::store_buffer_entries>, kDefault, 0, 1024,
       "stores that wait for their lines; more than 0 exactly where consistency is not sc"},
      {"machine.cpu.outstanding_misses", "", cpu<&CpuSpec::outstanding_misses>, kDefault, 1, 1024,
       "misses, prefetches and store-buffer drains that a core has under way"},
      {"machine.cpu.write_back_buffers", "", cpu<&CpuSpec::write_back_buffers>, kDefault, 1, 1024,
       "dirty victims of a core that wait for the bus"},

      {"machine.cache.*.size_kib", "KiB", cache<&CacheSpec::size_kib>, kRequired, 1, 1 << 20, "capacity"},
      {"machine.cache.*.ways", "", cache<&CacheSpec::ways>, kRequired, 1, 1024, "associativity"},
      {"machine.cache.*.line_bytes", "bytes", cache<&CacheSpec::line_bytes>, kRequired, 8, 4096,
       "line size; the outermost cache's is the coherence line"},
      {"machine.cache.*.hit_latency_cycles", "cycles", cache<&CacheSpec::hit_latency_cycles>, kRequired, 1, kMostCycles,
       "load to use on a hit"},
      {"machine.cache.*.inclusive", "", cache<&CacheSpec::inclusive>, kDefault, 0, 0, "holds all that the nearer levels hold"},
      {"machine.cache.*.replacement", "", cache<&CacheSpec::replacement>, kDefault, 0, 0, "which line makes room"},

      {"machine.bus.protocol", "", bus<&BusSpec::protocol>, kRequired, 0, 0,
       "coherence protocol: a name in models/protocols, or a path"},
      {"machine.bus.clock_mhz", "MHz", bus<&BusSpec::clock>, kRequired, 0.001, kMostMhz, "the bus's clock"},
      {"machine.bus.width_bytes", "bytes", bus<&BusSpec::width_bytes>, kRequired, 1, 4096,
       "data that is transferred in a clock"},
      {"machine.bus.line_bytes", "bytes", bus<&BusSpec::line_bytes>, kDefault, 0, 4096,
       "the coherence line on this bus; 0: the outermost cache's line"},
      {"machine.bus.arbitration_clocks", "clocks", bus<&BusSpec::arbitration_clocks>, kDefault, 0, kMostCycles,
       "the arbiter's decision to the address phase"},
      {"machine.bus.address_clocks", "clocks", bus<&BusSpec::address_clocks>, kDefault, 1, kMostCycles,
       "least distance of two address phases"},
      {"machine.bus.snoop_clocks", "clocks", bus<&BusSpec::snoop_clocks>, kDefault, 1, kMostCycles,
       "address phase to snoop result"},
      {"machine.bus.snoop_stall_clocks", "clocks", bus<&BusSpec::snoop_stall_clocks>, kDefault, 1, kMostCycles,
       "a snoop that meets a locked line is sampled again after so long"},
      {"machine.bus.response_clocks", "clocks", bus<&BusSpec::response_clocks>, kDefault, 0, kMostCycles,
       "snoop result to the response of a transaction without data"},
      {"machine.bus.intervention_clocks", "clocks", bus<&BusSpec::intervention_clocks>, kDefault, 0, kMostCycles,
       "snoop result to the first data from another cache"},
      {"machine.bus.turnaround_clocks", "clocks", bus<&BusSpec::turnaround_clocks>, kDefault, 0, kMostCycles,
       "idle data clocks when the sender changes"},
      {"machine.bus.latch_clocks", "clocks", bus<&BusSpec::latch_clocks>, kDefault, 0, kMostCycles,
       "first data on the bus to the core's pins"},
      {"machine.bus.outstanding", "", bus<&BusSpec::outstanding>, kDefault, 1, 1024,
       "transactions between address phase and end of data"},

      {"machine.memory.latency_ns", "ns", memory<&MemorySpec::latency_ns>, kRequired, 0, kMostNs,
       "address phase to first data"},
      {"machine.memory.banks", "", memory<&MemorySpec::banks>, kDefault, 1, 4096, "banks, interleaved by coherence line"},
      {"machine.memory.bank_busy_ns", "ns", memory<&MemorySpec::bank_busy_ns>, kDefault, 0, kMostNs,
       "an access occupies its bank for so long"},
      {"machine.memory.bandwidth_mb_per_s", "MB/s", memory<&MemorySpec::bandwidth_mb_per_s>, kDefault, 0, 1e9,
       "of all banks together; 0: only banks and bus limit it"},

      {"run.warmup_us", "us", run<&RunSpec::warmup_us>, kDefault, 0, kMostUs, "statistics start after this"},
      {"run.measure_us", "us", run<&RunSpec::measure_us>, kDefault, 0, kMostUs,
       "length of the measurement; 0: until every program has ended"},
      {"run.seeds", "", seeds, kDefault, 1, 1000, "runs per point, each with a seed of its own"},

      {"engine.run_ahead", "", engine<&EngineSpec::run_ahead>, kDefault, 0, 0, "cores run ahead of kernel time while they hit"},
      {"engine.parked_spins", "", engine<&EngineSpec::parked_spins>, kDefault, 0, 0,
       "spinning CPUs sleep until their line changes"},
      {"engine.reverse_construction", "", engine<&EngineSpec::reverse_construction>, kDefault, 0, 0,
       "build and start the cores in the opposite order"},
      {"engine.horizon_slack_ticks", "ticks", engine<&EngineSpec::horizon_slack_ticks>, kDefault, 0, 1e6,
       "self-test: 1 or more breaks run-ahead on purpose"},
      {"engine.watchdog_us", "us", engine<&EngineSpec::watchdog_us>, kDefault, 1, kMostUs,
       "simulated time without any completed operation that is no spin"},
  };
  return rows;
}

namespace {

// The words for the values of an enumeration, in the enumeration's order.
template <class Enum>
struct Words;
template <>
struct Words<Replacement> {
  static constexpr std::array<std::string_view, 2> kList = {"lru", "tree_plru"};
};
template <>
struct Words<Consistency> {
  static constexpr std::array<std::string_view, 3> kList = {"sc", "tso", "ia64"};
};
template <>
struct Words<CpuOrder> {
  static constexpr std::array<std::string_view, 2> kList = {"spread", "fill"};
};

struct TypeOf {
  ValueType operator()(const int*) const { return ValueType::integer; }
  ValueType operator()(const bool*) const { return ValueType::boolean; }
  ValueType operator()(const double*) const { return ValueType::number; }
  ValueType operator()(const Frequency*) const { return ValueType::number; }
  template <class Text>
  ValueType operator()(const Text*) const {
    return ValueType::text;
  }
};

struct ChoicesOf {
  template <class T>
  std::vector<std::string> operator()(const T*) const {
    if constexpr (std::is_enum_v<T>) return {Words<T>::kList.begin(), Words<T>::kList.end()};
    return {};
  }
};

struct Read {
  ConfigValue operator()(const int* value) const { return static_cast<std::int64_t>(*value); }
  ConfigValue operator()(const bool* value) const { return *value; }
  ConfigValue operator()(const double* value) const { return *value; }
  ConfigValue operator()(const std::string* value) const { return *value; }
  ConfigValue operator()(const Frequency* value) const {
    return static_cast<double>(value->numerator_mhz) / static_cast<double>(value->denominator);
  }
  template <class Enum>
  ConfigValue operator()(const Enum* value) const {
    return std::string(Words<Enum>::kList.at(static_cast<std::size_t>(*value)));
  }
};

double as_number(const ConfigValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? static_cast<double>(*integer) : std::get<double>(value);
}

struct Assign {
  const std::string& path;
  const Setting& setting;
  void operator()(int* target) const { *target = static_cast<int>(std::get<std::int64_t>(setting.value)); }
  void operator()(bool* target) const { *target = std::get<bool>(setting.value); }
  void operator()(double* target) const { *target = as_number(setting.value); }
  void operator()(std::string* target) const { *target = std::get<std::string>(setting.value); }
  void operator()(Frequency* target) const {
    const auto frequency = to_frequency(as_number(setting.value));
    if (!frequency)
      fail(setting.origin, path,
           fmt::format("{} MHz is no fraction with a denominator of at most 64", plain_text(setting.value)));
    *target = *frequency;
  }
  template <class Enum>
  void operator()(Enum* target) const {
    const auto& word = std::get<std::string>(setting.value);
    for (std::size_t i = 0; i < Words<Enum>::kList.size(); ++i) {
      if (Words<Enum>::kList[i] == word) *target = static_cast<Enum>(i);
    }
  }
};

constexpr std::string_view kEachCache = "machine.cache.*.";

// Calls visit(parameter, path, cache) for every parameter; those of caches once for each cache.
template <class Visit>
void for_each_parameter(const std::vector<std::string>& cache_levels, Visit visit) {
  const auto& rows = schema();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].path.starts_with(kEachCache)) {
      visit(rows[i], std::string(rows[i].path), 0);
      continue;
    }
    // The rows of caches stand together; a listing goes cache by cache.
    std::size_t end = i;
    while (end < rows.size() && rows[end].path.starts_with(kEachCache)) ++end;
    for (std::size_t level = 0; level < cache_levels.size(); ++level) {
      for (std::size_t row = i; row < end; ++row) {
        visit(rows[row], fmt::format("machine.cache.{}.{}", cache_levels[level], rows[row].path.substr(kEachCache.size())),
              level);
      }
    }
    i = end - 1;
  }
}

TypedConfiguration blank(const std::vector<std::string>& cache_levels) {
  TypedConfiguration configuration;
  for (const auto& name : cache_levels) configuration.machine.caches.emplace_back().name = name;
  return configuration;
}

}  // namespace

std::vector<KeyInfo> schema_keys(const std::vector<std::string>& cache_levels) {
  std::vector<KeyInfo> keys;
  auto configuration = blank(cache_levels);
  for_each_parameter(cache_levels, [&](const Parameter& parameter, const std::string& path, std::size_t level) {
    const Target target = parameter.locate(configuration, level);
    keys.push_back({path, std::visit(TypeOf{}, target), std::string(parameter.unit), std::string(parameter.meaning),
                    parameter.minimum, parameter.maximum, std::visit(ChoicesOf{}, target), parameter.structural});
  });
  return keys;
}

void fill_defaults(Settings& settings, const std::vector<std::string>& cache_levels, std::string_view prefix,
                   const Origin& origin) {
  auto configuration = blank(cache_levels);
  for_each_parameter(cache_levels, [&](const Parameter& parameter, const std::string& path, std::size_t level) {
    if (!path.starts_with(prefix) || settings.contains(path)) return;
    if (parameter.required) {
      fail(origin, path,
           fmt::format("this key is missing and has no default ({}{}{})", parameter.meaning,
                       parameter.unit.empty() ? "" : ", in ", parameter.unit));
    }
    settings.emplace(path, Setting{canonical(std::visit(Read{}, parameter.locate(configuration, level))), origin});
  });
}

TypedConfiguration to_typed(const Settings& settings, const std::vector<std::string>& cache_levels) {
  auto configuration = blank(cache_levels);
  for_each_parameter(cache_levels, [&](const Parameter& parameter, const std::string& path, std::size_t level) {
    const auto found = settings.find(path);
    if (found == settings.end()) return;
    std::visit(Assign{path, found->second}, parameter.locate(configuration, level));
  });
  return configuration;
}

}  // namespace linebounce
