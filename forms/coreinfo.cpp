// Reads the output of Coreinfo (Sysinternals), which shows on Windows what logical processors share. A map has a letter for
// each of them:
//
//   Logical to Physical Processor Map:
//   **--  Physical Processor 0 (Hyperthreaded)
//   Logical Processor to Cache Map:
//   **--  Unified Cache       0, Level 2,  256 KB, Assoc   8, LineSize  64
//
// Where Windows has several groups of processors, Coreinfo prints the name first and then a row of letters for each group.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/machine_topology.hpp"
#include "forms/size_text.hpp"
#include "models/text/text_lines.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kCores = "Logical to Physical Processor Map:";
constexpr std::size_t kMostMapped = 4096;

// Something that logical processors share: "Physical Processor 0 (Hyperthreaded)", "NUMA Node 1", "Unified Cache 0, Level 2,
// ...".
struct MappedPart {
  std::string name;
  std::string letters;  // one for each logical processor: '*' if it has part in it
};

bool is_map(std::string_view word) {
  return !word.empty() && word.find_first_not_of("*-") == word.npos;
}

bool begins_part(std::string_view line) {
  return line.starts_with("Physical Processor ") || line.starts_with("Socket ") || line.starts_with("NUMA Node ") ||
         line.starts_with("Group ") || line.starts_with("Data Cache ") || line.starts_with("Instruction Cache ") ||
         line.starts_with("Unified Cache ") || line.starts_with("Trace Cache ");
}

std::vector<MappedPart> parts_in(const std::string& text, const std::string& file) {
  std::vector<MappedPart> parts;
  bool continues = false;  // rows of letters follow for the groups of the latest part
  for (const std::string& line : text_lines(text)) {
    std::string_view rest = stripped(line);
    if (begins_part(rest)) {
      if (rest.ends_with(':')) rest.remove_suffix(1);
      parts.push_back({.name = std::string(rest), .letters = ""});
      continues = true;
      continue;
    }
    const std::string_view letters = take_word(rest);
    const bool is_row = is_map(letters);
    if (is_row && rest.empty() && continues) {
      parts.back().letters += letters;
    } else if (is_row && begins_part(rest)) {
      parts.push_back({.name = std::string(rest), .letters = std::string(letters)});
    }
    continues = continues && is_row;
    if (!parts.empty() && parts.back().letters.size() > kMostMapped)
      throw trace::TraceError(fmt::format("{}: has a map of more than {} logical processors", file, kMostMapped));
  }
  return parts;
}

// The number after the last occurrence of `before` in a part's name: "Level 2,  256 KB, Assoc   8" has 8 after "Assoc".
int number_after(std::string_view name, std::string_view before) {
  const std::size_t at = name.rfind(before);
  if (at == name.npos) return 0;
  std::string_view rest = name.substr(at + before.size());
  std::string_view word = take_word(rest);
  if (word.ends_with(',')) word.remove_suffix(1);
  constexpr std::uint64_t kMost = 65536;
  return static_cast<int>(std::min(decimal(word).value_or(0), kMost));
}

// "Unified Cache       1, Level 3,    8 MB, Assoc  16, LineSize  64"
TopologyCache coreinfo_cache_of(const MappedPart& part) {
  const std::string_view name = part.name;
  TopologyCache cache{.level = number_after(name, "Level "),
                      .ways = number_after(name, "Assoc "),
                      .line_bytes = number_after(name, "LineSize "),
                      .cpus = static_cast<int>(std::ranges::count(part.letters, '*'))};
  const std::size_t level = name.find("Level ");
  const std::size_t size = level == name.npos ? name.npos : name.find(',', level);
  const std::size_t end = size == name.npos ? name.npos : name.find(',', size + 1);
  if (end != name.npos) cache.bytes = bytes_of_size(stripped(name.substr(size + 1, end - size - 1))).value_or(0);
  return cache;
}

// The processor's name stands above its family, as in "AMD64 Family 23 Model 49 Stepping 0, AuthenticAMD".
std::string coreinfo_processor(const std::string& text) {
  std::string above;
  for (const std::string& line : text_lines(text)) {
    const std::string_view whole = stripped(line);
    if (whole.find(" Family ") != whole.npos && whole.find(" Model ") != whole.npos) return above;
    if (!whole.empty()) above = whole;
  }
  return "";
}

class CoreinfoReader {
 public:
  CoreinfoReader(const std::string& text, const std::string& file) : file_(file), parts_(parts_in(text, file)) {
    const std::size_t cpus = parts_.empty() ? 0 : parts_.front().letters.size();
    for (const MappedPart& part : parts_) {
      if (part.letters.size() != cpus)
        refuse(fmt::format("the map of \"{}\" has {} letters, that of \"{}\" has {}", part.name, part.letters.size(),
                           parts_.front().name, cpus));
    }
    topology_.processor = coreinfo_processor(text);
    for (int number = 0; number < static_cast<int>(cpus); ++number) {
      const std::optional<int> core = part_of(number, "Physical Processor ");
      if (!core) continue;  // switched off
      const int package = part_of(number, "Socket ").value_or(0);
      topology_.cpus.push_back({.number = number,
                                .node = part_of(number, "NUMA Node ").value_or(package),
                                .package = package,
                                .cache = package,
                                .core = *core});
    }
    if (topology_.cpus.empty()) refuse("does not say which CPUs share a core: coreinfo -c, or without options, does");
    read_caches();
  }

  MachineTopology topology() && { return std::move(topology_); }

 private:
  [[noreturn]] void refuse(const std::string& text) const { throw trace::TraceError(file_ + ": " + text); }

  [[nodiscard]] bool has(std::size_t part, int cpu) const { return parts_[part].letters[static_cast<std::size_t>(cpu)] == '*'; }

  // The place, among all parts, of the one with such a name that the processor has.
  [[nodiscard]] std::optional<int> part_of(int cpu, std::string_view name) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].name.starts_with(name) && has(i, cpu)) return static_cast<int>(i);
    }
    return std::nullopt;
  }

  void read_caches() {
    std::map<int, std::vector<std::size_t>> by_level;  // parts
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::string_view name = parts_[i].name;
      const int level = name.starts_with("Data Cache") || name.starts_with("Unified Cache") ? number_after(name, "Level ") : 0;
      if (level > 0) by_level[level].push_back(i);
    }
    const int first = topology_.cpus.front().number;
    for (const auto& [level, parts] : by_level) {
      const auto own = std::ranges::find_if(parts, [&](std::size_t i) { return has(i, first); });
      if (own == parts.end()) continue;
      const TopologyCache cache = coreinfo_cache_of(parts_[*own]);
      topology_.caches.push_back(cache);
      const auto differs = [&](std::size_t i) { return coreinfo_cache_of(parts_[i]).bytes != cache.bytes; };
      if (std::ranges::any_of(parts, differs))
        topology_.losses.add(Loss::caches_differ, fmt::format("L{}", level), std::to_string(first));
      refuse_caches_within_cores(level, parts);
      if (std::ranges::any_of(parts, [this](std::size_t i) { return is_shared_by_cores(i); })) share(level, parts);
    }
  }

  [[nodiscard]] bool is_shared_by_cores(std::size_t cache) const {
    std::optional<int> core;
    for (const TopologyCpu& cpu : topology_.cpus) {
      if (!has(cache, cpu.number)) continue;
      if (core.value_or(cpu.core) != cpu.core) return true;
      core = cpu.core;
    }
    return false;
  }

  // On some processors Windows 7 reports caches for each thread of a core.
  void refuse_caches_within_cores(int level, const std::vector<std::size_t>& parts) const {
    std::map<int, std::size_t> cache_of;  // by core
    for (const TopologyCpu& cpu : topology_.cpus) {
      for (const std::size_t i : parts) {
        if (!has(i, cpu.number)) continue;
        if (cache_of.try_emplace(cpu.core, i).first->second != i)
          refuse(
              fmt::format("says that the threads of one core ({}) have level {} caches of their own; a newer Windows says "
                          "what they share",
                          parts_[static_cast<std::size_t>(cpu.core)].name, level));
      }
    }
  }

  void share(int level, const std::vector<std::size_t>& parts) {
    topology_.shared_cache = fmt::format("L{}", level);
    int alone = static_cast<int>(parts_.size());
    for (TopologyCpu& cpu : topology_.cpus) {
      const auto own = std::ranges::find_if(parts, [&](std::size_t i) { return has(i, cpu.number); });
      cpu.cache = own == parts.end() ? alone++ : static_cast<int>(*own);
    }
  }

  std::string file_;
  std::vector<MappedPart> parts_;
  MachineTopology topology_;
};

}  // namespace

MachineTopology read_coreinfo(const std::string& text, const std::string& file) {
  return CoreinfoReader(text, file).topology();
}

Form coreinfo_form() {
  return {.name = "coreinfo",
          .kind = FormKind::machine,
          .what = "Coreinfo's maps (Windows): which CPUs share what",
          .marks = "Logical to Physical Processor Map:",
          .likeness =
              [](const Excerpt& excerpt) {
                const bool has = excerpt.has(kCores) || excerpt.has("Logical Processor to Cache Map:");
                return certain_if(excerpt.is_text && has, "it has the titles of Coreinfo's maps");
              },
          .read_structure = read_coreinfo};
}

}  // namespace linebounce::sim
