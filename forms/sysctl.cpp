// Reads what macOS's sysctl prints under hw and machdep.cpu, of which CPUs share what:
//
//   hw.perflevel0.physicalcpu: 8       macOS 12 and later: levels of performance, of which level 0 is the fastest
//   hw.perflevel0.logicalcpu: 8
//   hw.perflevel0.cpusperl2: 4         with cpusperl3 where there is an L3
//   hw.perflevel0.l2cachesize: 12582912
//   hw.cacheconfig: 8 2 2 8 0 0        how many CPUs share the memory, an L1, an L2 and an L3; of Apple's slowest cores
//   hw.cachesize: 17179869184 32768 262144 6291456 0 0
//
// It does not say which numbers the CPUs have. Threads of a core are neighbours, and slower cores come first: so hwloc 2.6 and
// core-to-core-latency show an M1.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/machine_topology.hpp"
#include "models/text/text_lines.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::uint64_t kMostSysctlCpus = 1024;
constexpr std::uint64_t kArm64 = 0x0100000c;  // CPU_TYPE_ARM64 of Apple's mach/machine.h

class SysctlReader {
 public:
  SysctlReader(const std::string& text, const std::string& file) : file_(file) {
    for (const std::string& line : text_lines(text)) {
      const std::string_view whole = stripped(line);
      const std::size_t colon = whole.find_first_of(":=");
      if (colon != whole.npos) values_.emplace(stripped(whole.substr(0, colon)), stripped(whole.substr(colon + 1)));
    }
    topology_.processor = value("machdep.cpu.brand_string");
    if (values_.contains("hw.perflevel0.physicalcpu")) {
      read_levels();
    } else {
      read_cacheconfig();
    }
    topology_.losses.add(Loss::numbers_assumed, "sysctl");
  }

  MachineTopology topology() && { return std::move(topology_); }

 private:
  [[noreturn]] void refuse(const std::string& text) const { throw trace::TraceError(file_ + ": " + text); }

  // Valid as long as the reader.
  [[nodiscard]] std::string_view value(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string_view() : found->second;
  }

  // 0 if it is absent.
  [[nodiscard]] std::uint64_t number(const std::string& name) const { return decimal(value(name)).value_or(0); }

  [[nodiscard]] int count(const std::string& name) const {
    const std::uint64_t cpus = number(name);
    if (cpus == 0 || cpus > kMostSysctlCpus)
      refuse(fmt::format("{} is \"{}\", not a number from 1 to {}: sysctl hw machdep.cpu prints it", name, value(name),
                         kMostSysctlCpus));
    return static_cast<int>(cpus);
  }

  void add_cache(int level, std::uint64_t bytes, int cpus) {
    if (bytes == 0 || bytes > (std::uint64_t{1} << 40)) return;
    topology_.caches.push_back({.level = level,
                                .bytes = static_cast<std::int64_t>(bytes),
                                .line_bytes = static_cast<int>(std::min<std::uint64_t>(number("hw.cachelinesize"), 65536)),
                                .cpus = cpus});
  }

  void read_levels() {
    const bool has_l3 = values_.contains("hw.perflevel0.cpusperl3");
    const std::string_view last = has_l3 ? "cpusperl3" : "cpusperl2";
    int levels = 0, cache = 0, core = 0;
    while (values_.contains(fmt::format("hw.perflevel{}.physicalcpu", levels))) ++levels;
    for (int level = levels - 1; level >= 0; --level) {
      const std::string of = fmt::format("hw.perflevel{}.", level);
      const int threads = threads_of(of), cpus = threads * count(of + "physicalcpu");
      const int sharers = count(fmt::format("{}{}", of, last));
      for (int i = 0; i < cpus; ++i)
        topology_.cpus.push_back(
            {.number = static_cast<int>(topology_.cpus.size()), .cache = cache + i / sharers, .core = core + i / threads});
      cache += (cpus + sharers - 1) / sharers;
      core += cpus / threads;
    }
    topology_.shared_cache = has_l3 ? "L3" : "L2";
    add_cache(1, number("hw.perflevel0.l1dcachesize"), threads_of("hw.perflevel0."));
    add_cache(2, number("hw.perflevel0.l2cachesize"), count("hw.perflevel0.cpusperl2"));
    if (has_l3) add_cache(3, number("hw.perflevel0.l3cachesize"), count("hw.perflevel0.cpusperl3"));
    if (levels > 1) topology_.losses.add(Loss::cores_differ, "sysctl");
  }

  // The threads of a core of a level.
  [[nodiscard]] int threads_of(const std::string& level) const {
    if (!values_.contains(level + "logicalcpu")) return 1;
    const int cpus = count(level + "logicalcpu"), cores = count(level + "physicalcpu");
    if (cpus % cores != 0)
      refuse(fmt::format("{0}logicalcpu is {1}, not a multiple of {0}physicalcpu, {2}", level, cpus, cores));
    return cpus / cores;
  }

  void read_cacheconfig() {
    if (number("hw.cputype") == kArm64 || topology_.processor.starts_with("Apple"))
      refuse("has no hw.perflevel0.physicalcpu, which macOS 12 and later print; hw.cacheconfig alone is of the slowest cores");
    std::vector<int> sharers;
    for (const std::string_view word : words_of(value("hw.cacheconfig")))
      sharers.push_back(static_cast<int>(std::min(decimal(word).value_or(0), kMostSysctlCpus)));
    if (sharers.size() < 2 || sharers[0] == 0 || sharers[1] == 0)
      refuse(
          "has neither hw.perflevel0.physicalcpu nor hw.cacheconfig, which say what CPUs share: sysctl hw machdep.cpu prints "
          "them");
    const std::vector<std::string_view> bytes = words_of(value("hw.cachesize"));
    const int packages = values_.contains("hw.packages") ? count("hw.packages") : 1;
    const int cpus = count("hw.logicalcpu"), threads = sharers[1];
    const int of_package = std::max(1, cpus / packages);
    std::size_t last = 1;
    for (std::size_t level = 1; level < sharers.size() && sharers[level] > 0; ++level) {
      add_cache(static_cast<int>(level), level < bytes.size() ? decimal(bytes[level]).value_or(0) : 0, sharers[level]);
      if (sharers[level] > threads) last = level;
    }
    if (sharers[last] > threads) topology_.shared_cache = fmt::format("L{}", last);
    for (int i = 0; i < cpus; ++i) {
      const int package = i / of_package;
      const int cache = topology_.shared_cache.empty() ? package : i / sharers[last];
      topology_.cpus.push_back({.number = i, .node = package, .package = package, .cache = cache, .core = i / threads});
    }
  }

  std::string file_;
  std::map<std::string, std::string> values_;
  MachineTopology topology_;
};

}  // namespace

MachineTopology read_sysctl(const std::string& text, const std::string& file) {
  return SysctlReader(text, file).topology();
}

Form sysctl_form() {
  return {.name = "sysctl",
          .kind = FormKind::machine,
          .what = "sysctl hw machdep.cpu (macOS): which CPUs share what",
          .marks = "hw.perflevel0.physicalcpu: or hw.cacheconfig:",
          .likeness =
              [](const Excerpt& excerpt) {
                const bool has = excerpt.has("hw.perflevel0.physicalcpu") || excerpt.has("hw.cacheconfig");
                return certain_if(excerpt.is_text && has, "it has the names of macOS's sysctl");
              },
          .read_structure = read_sysctl};
}

}  // namespace linebounce::sim
