// Reads the output of lscpu (util-linux). -J -e prints a list of CPUs in JSON, -e a table with blanks, -p one with commas. -J
// alone or no option prints a summary. The summary has the CPUs of each NUMA node, but not of each core, so it suffices only
// if cores have one thread.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/machine_topology.hpp"
#include "forms/size_text.hpp"
#include "models/text/quote_marks.hpp"
#include "models/text/text_lines.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::json;

constexpr int kMostLscpuCpu = 4095;

[[noreturn]] void refuse_lscpu(const std::string& file, const std::string& text) {
  throw trace::TraceError(file + ": " + text);
}

std::vector<int> numbers_of(std::string_view text, const std::string& file) {
  auto numbers = listed_numbers(text, kMostLscpuCpu);
  if (!numbers) refuse_lscpu(file, fmt::format("\"{}\" is not a list of CPUs", text));
  return *std::move(numbers);
}

// Returns the last number of "0:0:0:1", the number of the CPU's largest cache; `otherwise` if there is none.
int last_cache(const std::string& text, int otherwise) {
  const std::size_t colon = text.rfind(':');
  const auto number = decimal(colon == std::string::npos ? std::string_view(text) : std::string_view(text).substr(colon + 1));
  return number && *number <= kMostLscpuCpu ? static_cast<int>(*number) : otherwise;
}

// Returns a number of a row. Depending on the version, it is a JSON number or a string. Returns `otherwise` if it is absent.
int member(const json& row, const char* name, int otherwise) {
  const auto found = row.find(name);
  if (found == row.end()) return otherwise;
  if (found->is_number_integer()) return found->get<int>();
  const auto number = found->is_string() ? decimal(found->get<std::string>()) : std::nullopt;
  return number && *number <= kMostLscpuCpu ? static_cast<int>(*number) : otherwise;
}

MachineTopology of_cpu_list(const json& cpus, const std::string& file) {
  MachineTopology topology;
  for (const json& row : cpus) {
    if (!row.is_object()) refuse_lscpu(file, "expected an object for each CPU");
    const json online = row.value("online", json(true));
    if (online == false || online == "no") continue;
    TopologyCpu cpu;
    cpu.number = member(row, "cpu", -1);
    cpu.core = member(row, "core", -1);
    if (cpu.number < 0 || cpu.core < 0) refuse_lscpu(file, "a CPU lacks its number or its core: lscpu -J -e has both");
    cpu.package = member(row, "socket", member(row, "node", 0));
    cpu.node = member(row, "node", cpu.package);
    cpu.cache = cpu.package;
    for (const auto& [name, value] : row.items()) {
      if (!name.starts_with("l1d") || !value.is_string()) continue;
      cpu.cache = last_cache(value.get<std::string>(), cpu.package);
      topology.shared_cache = "L" + std::to_string(1 + std::ranges::count(name, ':') - (name.find("l1i") != name.npos ? 1 : 0));
    }
    topology.cpus.push_back(cpu);
  }
  return topology;
}

void set_nodes(MachineTopology& topology, const std::map<std::string, std::string>& fields, const std::string& file) {
  for (const auto& [name, value] : fields) {
    if (!name.starts_with("NUMA node") || !name.ends_with(" CPU(s)")) continue;
    const auto node = decimal(stripped(std::string_view(name).substr(9, name.size() - 9 - 7)));
    if (!node || value.empty()) continue;
    for (const int number : numbers_of(value, file)) {
      for (TopologyCpu& cpu : topology.cpus) {
        if (cpu.number == number) cpu.node = cpu.package = cpu.cache = static_cast<int>(*node);
      }
    }
  }
}

// Where firmware lists the first thread of every core before the second ones, as on most servers, each node has a block of CPUs
// for each thread: "0-7,16-23". Only then do the nodes show which CPUs share a core.
bool lists_first_threads_first(const MachineTopology& topology, std::size_t threads) {
  const std::vector<TopologyCpu>& cpus = topology.cpus;
  if (threads < 2 || cpus.size() % threads != 0) return false;
  const std::size_t cores = cpus.size() / threads;
  const bool has_several_nodes =
      std::ranges::any_of(cpus, [&](const TopologyCpu& cpu) { return cpu.node != cpus.front().node; });
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (cpus[i].number != static_cast<int>(i) || cpus[i].node != cpus[i % cores].node) return false;
  }
  return has_several_nodes;
}

// The size of one cache, and how many there are: "64 KiB (2 instances)" is the sum of all, "32K" of older versions is one's.
struct SummedCache {
  std::int64_t bytes = 0;
  std::uint64_t instances = 0;  // 0: not stated
};

constexpr std::uint64_t kMostInstances = 65536;

SummedCache summed_cache(std::string_view text) {
  const std::size_t open = text.find('(');
  const auto bytes = bytes_of_size(text.substr(0, open));
  if (!bytes) return {};
  std::string_view count = open == text.npos ? std::string_view() : text.substr(open + 1);
  const auto instances = decimal(take_word(count)).value_or(0);
  return {instances > 0 ? *bytes / static_cast<std::int64_t>(instances) : *bytes, instances};
}

// Reads the processor, its clock and its caches from a summary, without its CPUs.
MachineTopology facts_of_summary(std::map<std::string, std::string>& values) {
  MachineTopology topology;
  topology.processor = values["Model name"];
  // lscpu on Arm may know the maker alone.
  if (topology.processor.empty() || topology.processor == "-")
    topology.processor = std::string(stripped(values["Vendor ID"] + " " + values["Architecture"]));
  topology.mhz = real(values["CPU max MHz"]);
  for (const auto& [level, names] : std::map<int, std::vector<std::string>>{
           {1, {"L1d", "L1d cache"}}, {2, {"L2", "L2 cache"}}, {3, {"L3", "L3 cache"}}, {4, {"L4", "L4 cache"}}}) {
    for (const std::string& name : names) {
      const auto [bytes, instances] = summed_cache(values[name]);
      if (bytes == 0) continue;
      topology.caches.push_back(
          {.level = level, .bytes = bytes, .instances = static_cast<int>(std::min(instances, kMostInstances))});
      break;
    }
  }
  return topology;
}

MachineTopology of_summary(std::map<std::string, std::string> values, const std::string& file) {
  MachineTopology topology = facts_of_summary(values);
  const std::string online = values["On-line CPU(s) list"];
  for (const int number : numbers_of(online, file)) topology.cpus.push_back({.number = number, .core = number});
  set_nodes(topology, values, file);
  const std::uint64_t threads = decimal(values["Thread(s) per core"]).value_or(0);
  if (threads == 1) return topology;
  if (!lists_first_threads_first(topology, threads))
    refuse_lscpu(
        file, "does not say which CPUs share a core, and cores here have several threads: give lscpu -J -e, or lstopo's XML");
  const int cores = static_cast<int>(topology.cpus.size() / threads);
  for (TopologyCpu& cpu : topology.cpus) cpu.core = cpu.number % cores;
  topology.losses.add(Loss::threads_assumed, "lscpu's summary", std::to_string(cores));
  return topology;
}

// True for the first line of a summary. Above it may stand the prompt and the command, if it was pasted from a terminal.
bool begins_summary(const std::string& line) {
  return stripped(line).starts_with("Architecture:");
}

// Returns the fields of a summary, by name. Each line has one: "Thread(s) per core:  2".
std::map<std::string, std::string> fields_of_text(const std::string& text) {
  std::map<std::string, std::string> values;
  for (const std::string& line : text_lines(text)) {
    const std::string_view whole = stripped(line);
    const std::size_t colon = whole.find(':');
    if (colon != whole.npos) values.emplace(stripped(whole.substr(0, colon)), stripped(whole.substr(colon + 1)));
  }
  return values;
}

std::map<std::string, std::string> fields_of_json(const json& fields) {
  std::map<std::string, std::string> values;
  const auto text_of = [](const json& one, const char* name) {
    const auto found = one.find(name);
    return found != one.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  constexpr int kDeepest = 8;
  const std::function<void(const json&, int)> collect = [&](const json& list, int depth) {
    for (const json& one : list) {
      if (!one.is_object() || depth == kDeepest) continue;
      std::string name = text_of(one, "field");
      if (name.ends_with(':')) name.pop_back();
      if (!name.empty()) values.emplace(name, text_of(one, "data"));
      if (one.contains("children")) collect(one["children"], depth + 1);
    }
  };
  collect(fields, 0);
  return values;
}

// True for the title of the table that lscpu -e prints: "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE".
bool is_extended_title(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  return words.size() > 2 && words.front() == "CPU" && std::ranges::find(words, "CORE") != words.end();
}

// True for the titles of lscpu -C: "NAME ONE-SIZE ALL-SIZE WAYS TYPE LEVEL SETS PHY-LINE COHERENCY-SIZE".
bool is_cache_title(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  return words.size() > 2 && words.front() == "NAME" && std::ranges::find(words, "ONE-SIZE") != words.end();
}

MachineTopology of_extended_table(const std::string& text, const std::string& file) {
  MachineTopology topology;
  std::vector<std::string> titles;
  for (const std::string& line : text_lines(text)) {
    const std::vector<std::string_view> cells = words_of(line);
    if (is_cache_title(line)) break;  // lscpu -C follows
    if (is_extended_title(line)) titles.assign(cells.begin(), cells.end());
    if (titles.empty() || cells.empty() || is_extended_title(line)) continue;
    const auto cell = [&](std::string_view title) {
      const auto place = static_cast<std::size_t>(std::ranges::find(titles, title) - titles.begin());
      return place < cells.size() ? cells[place] : std::string_view();
    };
    const auto number_in = [&](std::string_view title) {
      const auto value = decimal(cell(title));
      return value && *value <= kMostLscpuCpu ? std::optional(static_cast<int>(*value)) : std::nullopt;
    };
    if (cell("ONLINE") == "no") continue;
    const auto number = number_in("CPU"), core = number_in("CORE");
    if (!number || !core)
      refuse_lscpu(file, fmt::format("\"{}\" has no CPU and core, as lscpu -e prints them", stripped(line)));
    const int package = number_in("SOCKET").value_or(number_in("NODE").value_or(0));
    const auto caches = std::ranges::find_if(titles, [](const std::string& title) { return title.starts_with("L1d:"); });
    TopologyCpu cpu{*number, number_in("NODE").value_or(package), package, package, *core};
    if (caches != titles.end()) {
      cpu.cache = last_cache(std::string(cell(*caches)), package);
      topology.shared_cache = caches->substr(caches->rfind(':') + 1);
    }
    topology.cpus.push_back(cpu);
  }
  return topology;
}

std::vector<std::string> cells_of_table(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t from = line.starts_with('#') ? 1 : 0; from <= line.size();) {
    const std::size_t to = std::min(line.find(',', from), line.size());
    cells.emplace_back(stripped(line.substr(from, to - from)));
    from = to + 1;
  }
  return cells;
}

// True for the titles of -p: "# CPU,Core,Socket,Node,,L1d,L1i,L2,L3". With a list of columns, they have the list's order.
bool is_table_title(std::string_view line) {
  if (!line.starts_with("# ")) return false;
  const std::vector<std::string> cells = cells_of_table(line);
  const auto has = [&cells](std::string_view title) { return std::ranges::find(cells, title) != cells.end(); };
  return has("CPU") && (has("Core") || has("Socket") || has("Node"));
}

constexpr std::string_view kUsualTitles = "# CPU,Core,Socket,Node,,L1d,L1i,L2,L3";

// True for rows of -p from which a script has taken the titles: the CPUs count on, and the fifth cell is empty in each.
bool is_bare_table(std::string_view text) {
  constexpr std::size_t kGap = 4;
  const std::size_t most = cells_of_table(kUsualTitles).size() + 1;
  std::uint64_t next = 0;
  for (const std::string& line : text_lines(std::string(text))) {
    if (stripped(line).empty() || line.starts_with('#')) continue;
    const std::vector<std::string> cells = cells_of_table(line);
    if (cells.size() <= kGap || cells.size() > most || !cells[kGap].empty() || decimal(cells[0]) != next) return false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i != kGap && !decimal(cells[i])) return false;
    }
    ++next;
  }
  return next > 0;
}

// Reads the output of -p: titles, and rows of numbers. A list of columns has all caches in one: "L1d:L1i:L2:L3" and "0:0:0:0".
MachineTopology of_table(const std::string& text, const std::string& file) {
  MachineTopology topology;
  std::vector<std::string> titles = cells_of_table(kUsualTitles);
  for (const std::string& whole : text_lines(text)) {
    const std::string_view line = stripped(whole);
    const std::vector<std::string> cells = cells_of_table(line);
    if (is_table_title(line)) titles = cells;
    if (line.empty() || line.starts_with('#')) continue;
    const auto cell = [&](std::string_view title) -> std::optional<int> {
      const auto found = std::ranges::find(titles, title);
      const auto place = static_cast<std::size_t>(found - titles.begin());
      const auto value = place < cells.size() ? decimal(cells[place]) : std::nullopt;
      return value && *value <= kMostLscpuCpu ? std::optional(static_cast<int>(*value)) : std::nullopt;
    };
    const auto number = cell("CPU"), core = cell("Core");
    if (!number || !core) refuse_lscpu(file, fmt::format("\"{}\" has no CPU and core, as lscpu -p prints them", line));
    const int package = cell("Socket").value_or(cell("Node").value_or(0));
    const auto caches =
        std::find_if(titles.rbegin(), titles.rend(), [](const std::string& title) { return title.starts_with('L'); });
    const auto place = static_cast<std::size_t>(titles.rend() - caches) - 1;
    const bool has_cache = caches != titles.rend() && place < cells.size();
    topology.cpus.push_back(
        {*number, cell("Node").value_or(package), package, has_cache ? last_cache(cells[place], package) : package, *core});
    if (has_cache) topology.shared_cache = caches->substr(caches->rfind(':') + 1);
  }
  return topology;
}

// A row of lscpu -C, whose cells have these names.
std::optional<TopologyCache> cache_of(const std::function<std::string(std::string_view)>& cell) {
  constexpr std::uint64_t kMost = 4096;
  const auto level = decimal(cell("level"));
  const auto one = bytes_of_size(cell("one-size")), all = bytes_of_size(cell("all-size"));
  if (!level || *level == 0 || *level > 5 || !one || *one == 0 || cell("type") == "Instruction") return std::nullopt;
  const auto small = [](const std::string& text) {
    const auto number = decimal(text);
    return number && *number <= kMost ? static_cast<int>(*number) : 0;
  };
  const std::int64_t instances = all ? std::min<std::int64_t>(*all / *one, kMostInstances) : 0;
  return TopologyCache{.level = static_cast<int>(*level),
                       .bytes = *one,
                       .ways = small(cell("ways")),
                       .line_bytes = small(cell("coherency-size")),
                       .instances = static_cast<int>(instances)};
}

std::vector<TopologyCache> caches_of_table(const std::string& text) {
  std::vector<TopologyCache> caches;
  std::vector<std::string> titles;
  for (const std::string& line : text_lines(text)) {
    const std::vector<std::string_view> cells = words_of(line);
    if (is_cache_title(line)) {
      for (const std::string_view title : cells) titles.push_back(lower_case(title));
      continue;
    }
    if (titles.empty() || cells.size() != titles.size()) continue;
    const auto cell = [&](std::string_view title) {
      const auto place = static_cast<std::size_t>(std::ranges::find(titles, title) - titles.begin());
      return place < cells.size() ? std::string(cells[place]) : std::string();
    };
    if (const auto cache = cache_of(cell)) caches.push_back(*cache);
  }
  return caches;
}

std::vector<TopologyCache> caches_of_json(const json& rows) {
  std::vector<TopologyCache> caches;
  for (const json& row : rows) {
    if (!row.is_object()) continue;
    const auto cell = [&row](std::string_view title) {
      const auto found = row.find(title);
      if (found == row.end()) return std::string();
      return found->is_string() ? found->get<std::string>() : found->dump();
    };
    if (const auto cache = cache_of(cell)) caches.push_back(*cache);
  }
  return caches;
}

// All JSON documents of a text: lscpu -J; lscpu -J -e; lscpu -J -C, one after the other, with prompts between them.
std::vector<json> documents_in(std::string_view text) {
  std::vector<json> documents;
  std::size_t begin = 0;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (depth > 0 && letter == '"' && text[at - 1] != '\\') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (letter == '{' && depth++ == 0) begin = at;
    if (letter != '}' || depth == 0 || --depth > 0) continue;
    json document = json::parse(text.substr(begin, at + 1 - begin), nullptr, false);
    if (document.is_object()) documents.push_back(std::move(document));
  }
  return documents;
}

const json* array_in(const std::vector<json>& documents, const char* name) {
  for (const json& document : documents) {
    const auto found = document.find(name);
    if (found != document.end() && found->is_array()) return &*found;
  }
  return nullptr;
}

// Adds the processor, its clock and its caches, as far as the text states them.
void add_facts(MachineTopology& topology, const std::string& text, const std::vector<json>& documents) {
  const std::vector<std::string> lines = text_lines(text);
  std::map<std::string, std::string> fields;
  if (std::ranges::any_of(lines, begins_summary)) fields = fields_of_text(text);
  if (const json* summary = array_in(documents, "lscpu")) fields = fields_of_json(*summary);
  MachineTopology said = facts_of_summary(fields);
  std::vector<TopologyCache> listed = caches_of_table(text);
  if (const json* rows = array_in(documents, "caches")) listed = caches_of_json(*rows);
  if (!listed.empty()) said.caches = std::move(listed);
  add_what_is_missing(topology, said);
}

// lscpu -y numbers the cores of each socket from 0. Renumbers them, so that no two cores of the machine share a number.
void number_cores(MachineTopology& topology) {
  std::map<std::pair<int, int>, int> numbers;
  for (TopologyCpu& cpu : topology.cpus)
    cpu.core = numbers.try_emplace({cpu.package, cpu.core}, static_cast<int>(numbers.size())).first->second;
}

// Where the last cache is an L2 that no cores share, CPUs share their package alone.
void forget_own_last_caches(MachineTopology& topology) {
  std::map<int, int> core_of;
  const auto is_shared = [&core_of](const TopologyCpu& cpu) {
    return core_of.try_emplace(cpu.cache, cpu.core).first->second != cpu.core;
  };
  if (topology.shared_cache == "L3" || std::ranges::any_of(topology.cpus, is_shared)) return;
  for (TopologyCpu& cpu : topology.cpus) cpu.cache = cpu.package;
  topology.shared_cache.clear();
}

}  // namespace

void add_what_is_missing(MachineTopology& topology, const MachineTopology& other) {
  if (topology.processor.empty()) topology.processor = other.processor;
  if (!topology.mhz) topology.mhz = other.mhz;
  if (topology.caches.empty()) topology.caches = other.caches;
  for (TopologyCache& cache : topology.caches) {
    const auto same = std::ranges::find(other.caches, cache.level, &TopologyCache::level);
    if (same == other.caches.end() || same->bytes != cache.bytes) continue;
    if (cache.ways == 0) cache.ways = same->ways;
    if (cache.line_bytes == 0) cache.line_bytes = same->line_bytes;
    if (cache.cpus == 0) cache.cpus = same->cpus;
    if (cache.instances == 0) cache.instances = same->instances;
  }
}

MachineTopology read_lscpu_facts(const std::string& text) {
  MachineTopology topology;
  add_facts(topology, text, documents_in(text));
  return topology;
}

MachineTopology read_lscpu(const std::string& quoted, const std::string& file) {
  const std::string text = fmt::format("{}\n", fmt::join(unquoted_lines(quoted), "\n"));
  MachineTopology topology;
  const std::vector<json> documents = documents_in(text);
  if (std::ranges::any_of(text_lines(text), is_table_title) || is_bare_table(text)) {
    topology = of_table(text, file);
  } else if (std::ranges::any_of(text_lines(text), is_extended_title)) {
    topology = of_extended_table(text, file);
  } else if (const json* cpus = array_in(documents, "cpus")) {
    topology = of_cpu_list(*cpus, file);
  } else if (std::ranges::any_of(text_lines(text), begins_summary)) {
    topology = of_summary(fields_of_text(text), file);
  } else if (const json* summary = array_in(documents, "lscpu")) {
    topology = of_summary(fields_of_json(*summary), file);
  } else if (documents.empty() && !std::ranges::any_of(text_lines(text), is_cache_title)) {
    refuse_lscpu(file, "is neither JSON, as lscpu -J prints it, nor a table of lscpu -p or -e, nor lscpu's list of fields");
  }
  if (topology.cpus.empty()) refuse_lscpu(file, "does not say which CPUs share what: lscpu -J -e does");
  number_cores(topology);
  forget_own_last_caches(topology);
  add_facts(topology, text, documents);
  std::ranges::sort(topology.cpus, {}, &TopologyCpu::number);
  return topology;
}

bool says_what_cpus_share(const std::string& lscpu_text) {
  const std::vector<json> documents = documents_in(lscpu_text);
  const std::vector<std::string> lines = text_lines(lscpu_text);
  return array_in(documents, "cpus") != nullptr || array_in(documents, "lscpu") != nullptr || is_bare_table(lscpu_text) ||
         std::ranges::any_of(lines, [](const std::string& line) {
           return is_table_title(line) || is_extended_title(line) || begins_summary(line);
         });
}

bool is_lscpu_table(const Excerpt& excerpt) {
  const std::string_view all = excerpt.bytes;
  const auto is_title = [](const Excerpt::Line& line) { return is_table_title(line.text); };
  return std::ranges::any_of(excerpt.lines, is_title) ||
         is_bare_table(excerpt.whole ? all : all.substr(0, all.rfind('\n') + 1));
}

Form lscpu_form() {
  return {
      .name = "lscpu",
      .kind = FormKind::machine,
      .what = "lscpu, alone or with -J, -e or -p: which CPUs share what",
      .marks = "\"lscpu\": [ or \"cpus\": [ with cores, # CPU,Core,..., CPU NODE SOCKET CORE ..., or Architecture: and CPU(s):",
      .likeness =
          [](const Excerpt& excerpt) {
            const bool list = excerpt.has("\"cpus\"") && excerpt.has("\"core\"");
            const auto is_title = [](const Excerpt::Line& line) {
              return is_extended_title(line.text) || is_cache_title(line.text);
            };
            const bool summary = excerpt.has("Architecture:") && excerpt.has("CPU(s):");
            const bool table = std::ranges::any_of(excerpt.lines, is_title) || is_lscpu_table(excerpt);
            return certain_if(excerpt.is_text && (summary || table || list || excerpt.has("\"lscpu\"") ||
                                                  (excerpt.has("\"caches\"") && excerpt.has("\"one-size\""))),
                              "it has the names that lscpu gives its fields");
          },
      .read_structure = read_lscpu,
      .read_facts = read_lscpu_facts};
}

}  // namespace linebounce::sim
