#include "forms/numa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "forms/forms.hpp"
#include "forms/hmat.hpp"
#include "forms/line_file.hpp"
#include "forms/lock_statistics.hpp"
#include "forms/number_grid.hpp"
#include "models/text/quote_marks.hpp"
#include "models/text/shell_word.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr int kMostNumaNode = 1023;
constexpr int kMostNumaCpu = 4095;
// Kernels before 5.5 log a latency of 76 ns as "7600 nsec".
constexpr double kLongestHmatNs = 5000;
constexpr std::string_view kPair = "Initiator-Target[";
constexpr std::string_view kNodeFolder = "/node/node";

class NumaReader {
 public:
  NumaReader(const std::string& text, const std::string& file) : file_(file) {
    for (const std::string& one : unquoted_lines(text)) {
      ++number_;
      line(stripped(one));
    }
  }

  NumaTables finished() {
    std::ranges::move(hmat_.finished(), std::back_inserter(pairs_));
    take_pairs();
    if (nodes_.empty()) refuse("no node with its CPUs, distances or latency was found");
    NumaTables tables;
    for (auto& [number, node] : nodes_) {
      if (!node.distances.empty() && node.distances.size() != nodes_.size())
        refuse(fmt::format("node {} has {} distances, and there are {} nodes", number, node.distances.size(), nodes_.size()));
      node.number = number;
      tables.nodes.push_back(std::move(node));
    }
    const auto has_distances = [](const NumaNode& node) { return !node.distances.empty(); };
    const auto with = std::ranges::count_if(tables.nodes, has_distances);
    if (with != 0 && with != std::ssize(tables.nodes)) refuse("only some of the nodes have distances");
    if (with != 0) tables.losses.add(Loss::distances_compare, "SLIT");
    if (!pairs_.empty()) tables.losses.add(Loss::domains_as_nodes, "HMAT");
    if (others_ > 0) tables.other_node_ns = others_sum_ / others_;
    return tables;
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const { throw trace::TraceError(fmt::format("{}: {}", file_, text)); }
  [[noreturn]] void refuse_line(const std::string& text) const { refuse(fmt::format("line {}: {}", number_, text)); }

  void line(std::string_view text) {
    if (continued_) {
      distances_of_slit(nodes_[*continued_], text);
    } else if (hmat_.take(text)) {
      return;
    } else if (const std::size_t folder = text.find(kNodeFolder); folder != text.npos) {
      of_sysfs(text.substr(folder + kNodeFolder.size()));
    } else if (text.find("Locality: Flags:") != text.npos) {
      const bool reads = text.find("Type:Read ") != text.npos || text.find("Type:Access ") != text.npos;
      logs_latency_ = reads && text.find("Latency") != text.npos;
      logs_bandwidth_ = reads && text.find("Bandwidth") != text.npos;
    } else if (const std::size_t pair = text.find(kPair); pair != text.npos) {
      of_log(text.substr(pair + kPair.size()));
    } else if (const std::size_t row = text.find("Locality "); row != text.npos && text.find(':', row) != text.npos) {
      of_slit(text.substr(row + std::string_view("Locality ").size()));
    } else if (text.starts_with("node distances:")) {
      in_distances_ = true;
    } else if (text.starts_with("node ")) {
      of_numactl(words_of(text));
    } else if (in_distances_ || is_bare(text)) {
      distances(text);
    }
  }

  // True for the output of "cat node*/distance": one line of distances per node.
  bool is_bare(std::string_view text) {
    const std::vector<std::string_view> words = words_of(text);
    return !words.empty() && std::ranges::all_of(words, [](std::string_view word) { return decimal(word).has_value(); });
  }

  NumaNode& node(std::string_view text) {
    const auto number = decimal(text);
    if (!number || *number > kMostNumaNode) refuse_line(fmt::format("expected a node's number, up to {}", kMostNumaNode));
    return nodes_[static_cast<int>(*number)];
  }

  // Parses "node 0 cpus: 0 2". Other lines that begin with "node" have sizes.
  void of_numactl(const std::vector<std::string_view>& words) {
    if (words.size() < 3 || words[2] != "cpus:") return;
    NumaNode& of = node(words[1]);
    for (std::size_t i = 3; i < words.size(); ++i) {
      const auto cpu = decimal(words[i]);
      if (!cpu || *cpu > kMostNumaCpu) refuse_line("expected the CPUs' numbers");
      of.cpus.push_back(static_cast<int>(*cpu));
    }
    std::ranges::sort(of.cpus);
  }

  // Parses a row of distances: "0:  10  21" by numactl, or "10 21".
  void distances(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == text.npos && in_distances_) return;
    if (colon == text.npos) {
      nodes_[next_bare_++].distances = figures(text);
    } else if (const std::string_view number = stripped(text.substr(0, colon)); decimal(number)) {
      node(number).distances = figures(text.substr(colon + 1));
    } else {
      in_distances_ = false;  // other text follows
    }
  }

  // "0/distance:10 21", "0/access0/initiators/read_latency:110"
  void of_sysfs(std::string_view text) {
    const std::size_t slash = text.find('/'), colon = text.find(':');
    if (slash == text.npos || colon == text.npos || colon < slash) return;
    const std::string_view what = text.substr(slash + 1, colon - slash - 1), value = stripped(text.substr(colon + 1));
    if (what == "distance") {
      node(text.substr(0, slash)).distances = figures(value);
    } else if (what == "cpulist") {
      auto cpus = listed_numbers(value, kMostNumaCpu);
      if (!cpus) refuse_line("expected a list of CPUs");
      node(text.substr(0, slash)).cpus = *std::move(cpus);
    } else if (what.starts_with("access")) {
      access(node(text.substr(0, slash)), what, value);
    }
  }

  // Parses a pair of proximity domains in the kernel's log: "0-1]:180 nsec" or "0-1]:40000 MB/s".
  void of_log(std::string_view text) {
    if (!logs_latency_ && !logs_bandwidth_) return;
    const std::size_t dash = text.find('-'), close = text.find("]:");
    if (dash == text.npos || close == text.npos || dash > close) refuse_line("expected Initiator-Target[NODE-NODE]:NUMBER");
    const auto from = decimal(text.substr(0, dash)), to = decimal(text.substr(dash + 1, close - dash - 1));
    std::string_view rest = text.substr(close + 2);
    const std::string_view word = take_word(rest);
    const auto figure = real(word.substr(0, word.find_first_not_of("0123456789.")));
    if (!from || !to || !figure || *from > kMostNumaNode || *to > kMostNumaNode)
      refuse_line("expected Initiator-Target[NODE-NODE]:NUMBER");
    if (logs_latency_ && *figure > kLongestHmatNs)
      refuse_line(fmt::format("expected up to {:g} ns; old kernels log hundredths: give the files in /sys/devices/system/node",
                              kLongestHmatNs));
    if (*figure > 0) pairs_.push_back({static_cast<int>(*from), static_cast<int>(*to), logs_latency_, *figure});
  }

  // Takes each memory's best figures, which are those of the nearest CPUs, and the mean latency of all others.
  void take_pairs() {
    for (const HmatPair& pair : pairs_) {
      if (pair.is_latency && pair.figure > kLongestHmatNs)
        refuse(fmt::format("HMAT has {:g} ns between domains {} and {}; expected up to {:g}", pair.figure, pair.from, pair.to,
                           kLongestHmatNs));
      NumaNode& of = nodes_[pair.to];
      std::optional<double>& place = pair.is_latency ? of.read_latency_ns : of.read_mb_per_s;
      place = !place ? pair.figure : pair.is_latency ? std::min(*place, pair.figure) : std::max(*place, pair.figure);
    }
    const auto has_own = [&](int node) {
      return std::ranges::any_of(pairs_, [node](const HmatPair& pair) { return pair.from == node && pair.to == node; });
    };
    for (const HmatPair& pair : pairs_) {
      if (!pair.is_latency || pair.from == pair.to || !has_own(pair.to)) continue;
      others_sum_ += pair.figure;
      ++others_;
    }
  }

  // Parses a row of SLIT, "  0 : 0A 15", in hexadecimal.
  void of_slit(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view number = stripped(text.substr(0, colon));
    NumaNode& of = node(number);
    continued_ = static_cast<int>(*decimal(number));
    distances_of_slit(of, text.substr(colon + 1));
  }

  // iasl ends a line of 16 bytes that goes on with a backslash.
  void distances_of_slit(NumaNode& of, std::string_view text) {
    if (text.ends_with('\\')) {
      text.remove_suffix(1);
    } else {
      continued_.reset();
    }
    for (const std::string_view word : words_of(text)) {
      const auto distance = hexadecimal(word);
      if (!distance || *distance < 10 || *distance > 255) refuse_line("expected distances from 0A to FF");
      of.distances.push_back(static_cast<double>(*distance));
    }
  }

  // Prefers access1, which describes access by CPUs. access0 describes access by the nearest initiator of any kind.
  void access(NumaNode& of, std::string_view what, std::string_view value) {
    const bool latency = what.ends_with("/initiators/read_latency"), bandwidth = what.ends_with("/initiators/read_bandwidth");
    if (!latency && !bandwidth) return;
    const auto figure = real(value);
    if (!figure) refuse_line("expected a number");
    // The kernel shows 0 if the firmware does not state the value.
    if (*figure == 0) return;
    if (latency && *figure > kLongestHmatNs) refuse_line(fmt::format("expected up to {:g} ns", kLongestHmatNs));
    std::optional<double>& place = latency ? of.read_latency_ns : of.read_mb_per_s;
    if (!place || !what.starts_with("access0")) place = figure;
  }

  std::vector<double> figures(std::string_view text) const {
    std::vector<double> figures;
    for (const std::string_view word : words_of(text)) {
      const auto figure = decimal(word);
      // In ACPI, the distance within a node is 10, and 255 means unreachable.
      if (!figure || *figure < 10 || *figure > 255) refuse_line("expected distances from 10 to 255");
      figures.push_back(static_cast<double>(*figure));
    }
    return figures;
  }

  std::string file_;
  HmatTable hmat_{[this](const std::string& text) { refuse_line(text); }};
  std::map<int, NumaNode> nodes_;
  std::vector<HmatPair> pairs_;
  double others_sum_ = 0;
  int others_ = 0;
  bool logs_latency_ = false, logs_bandwidth_ = false;  // what the pairs that follow in the log are
  std::int64_t number_ = 0;
  int next_bare_ = 0;
  std::optional<int> continued_;  // the node whose distances go on in the next line
  bool in_distances_ = false;
};

// Returns the smaller of the distances in both directions.
double nearer(const NumaTables& tables, std::size_t a, std::size_t b) {
  return std::min(tables.nodes[a].distances[b], tables.nodes[b].distances[a]);
}

using LinkCounts = std::vector<std::vector<int>>;
constexpr int kNoWay = std::numeric_limits<int>::max() / 2;

// Returns the number of links between each two nodes, on the shortest way.
LinkCounts link_counts(const std::vector<std::pair<int, int>>& links, std::size_t nodes) {
  LinkCounts counts(nodes, std::vector<int>(nodes, kNoWay));
  for (std::size_t i = 0; i < nodes; ++i) counts[i][i] = 0;
  for (const auto& [a, b] : links) counts[a][b] = counts[b][a] = 1;
  for (std::size_t by = 0; by < nodes; ++by) {
    for (std::size_t a = 0; a < nodes; ++a) {
      for (std::size_t b = 0; b < nodes; ++b) counts[a][b] = std::min(counts[a][b], counts[a][by] + counts[by][b]);
    }
  }
  return counts;
}

// True if the number of links is a strictly increasing function of the distance.
bool compare_alike(const NumaTables& tables, const LinkCounts& counts) {
  std::map<double, std::set<int>> by_distance;
  for (std::size_t a = 0; a < counts.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) by_distance[nearer(tables, a, b)].insert(counts[a][b]);
  }
  int before = 0;
  for (const auto& [distance, numbers] : by_distance) {
    if (numbers.size() > 1 || *numbers.begin() <= before) return false;
    before = *numbers.begin();
  }
  return true;
}

Likeness numa_likeness(const Excerpt& excerpt) {
  if (!excerpt.is_text) return {};
  if (excerpt.has("node distances:")) return {Likeness::Sure::certain, "it has \"node distances:\""};
  if (excerpt.has("available: ") && excerpt.has("node 0 cpus:")) return {Likeness::Sure::certain, "it has \"node 0 cpus:\""};
  if (excerpt.has("HMAT") || excerpt.has("/hmat:")) {
    if (excerpt.has(kPair)) return {Likeness::Sure::certain, "it has HMAT's pairs of initiators and targets"};
  }
  if (excerpt.has("\"HMAT\"") && excerpt.has("Structure Type :"))
    return {Likeness::Sure::certain, "it has HMAT's structures as iasl prints them"};
  if (excerpt.has("\"SLIT\"") && excerpt.has("Localities :")) return {Likeness::Sure::certain, "it has SLIT's localities"};
  for (const std::string_view part : {"/distance:", "/cpulist:", "/initiators/read_latency:"}) {
    if (excerpt.has(kNodeFolder) && excerpt.has(part))
      return {Likeness::Sure::certain, "its lines begin with paths of /sys/devices/system/node"};
  }
  const NumberGrid grid = split_grid(excerpt.bytes);
  if (!excerpt.whole || !grid.problem.empty() || grid.is_marked || !grid.is_square()) return {};
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    const auto is_distance = [](const GridCell& cell) { return decimal(cell.text).value_or(0) >= 10; };
    if (grid.rows[i][i].text != "10" || !std::ranges::all_of(grid.rows[i], is_distance)) return {};
  }
  return {Likeness::Sure::possible, "its diagonal is 10, as a node's distance to itself is"};
}

}  // namespace

bool NumaTables::has_cpus() const {
  return std::ranges::any_of(nodes, [](const NumaNode& node) { return !node.cpus.empty(); });
}

bool NumaTables::has_latencies() const {
  return std::ranges::any_of(nodes, [](const NumaNode& node) { return node.read_latency_ns.has_value(); });
}

NumaTables read_numa(const std::string& text, const std::string& file) {
  return NumaReader(text, file).finished();
}

NumaTables tables_of(const MlcLatencies& mlc) {
  NumaTables tables;
  tables.latencies_from = "MLC";
  tables.losses = mlc.losses;
  double sum = 0;
  int others = 0;
  for (std::size_t i = 0; i < mlc.idle_ns.size(); ++i) {
    NumaNode node{.number = static_cast<int>(i), .cpus = {}, .distances = {}, .read_latency_ns = {}, .read_mb_per_s = {}};
    for (std::size_t memory = 0; memory < mlc.idle_ns[i].size(); ++memory) {
      const double ns = mlc.idle_ns[i][memory];
      if (memory == i && ns > 0) node.read_latency_ns = ns;
      if (memory != i && ns > 0) sum += ns, ++others;
    }
    tables.nodes.push_back(std::move(node));
  }
  if (others > 0) tables.other_node_ns = sum / others;
  return tables;
}

MachineTopology topology_of(const NumaTables& tables, const std::string& file) {
  if (!tables.has_cpus())
    throw trace::TraceError(
        fmt::format("{}: does not say which CPUs a node has: add that, as in `lscpu -J -e > cpus.json; "
                    "linebounce import {} cpus.json`, or grep . /sys/devices/system/node/node*/cpulist",
                    file, shell_word(file)));
  MachineTopology topology;
  for (int at = 0; at < std::ssize(tables.nodes); ++at) {
    for (const int cpu : tables.nodes[at].cpus) topology.cpus.push_back({cpu, at, at, at, cpu});
  }
  std::ranges::sort(topology.cpus, {}, &TopologyCpu::number);
  const auto twice = std::ranges::adjacent_find(topology.cpus, {}, &TopologyCpu::number);
  if (twice != topology.cpus.end()) throw trace::TraceError(fmt::format("{}: CPU {} is in two nodes", file, twice->number));
  topology.losses.add(Loss::cores_assumed, "The list of nodes");
  return topology;
}

NodeLinks links_by_distance(const NumaTables& tables) {
  const std::size_t nodes = tables.nodes.size();
  std::set<double> distances;
  for (std::size_t a = 0; a < nodes && !tables.nodes[0].distances.empty(); ++a) {
    for (std::size_t b = 0; b < a; ++b) distances.insert(nearer(tables, a, b));
  }
  if (distances.size() < 2) return {};
  NodeLinks found{.all = false, .links = {}};
  for (const double most : distances) {
    found.links.clear();
    for (std::size_t a = 0; a < nodes; ++a) {
      for (std::size_t b = a + 1; b < nodes; ++b) {
        if (nearer(tables, a, b) <= most) found.links.emplace_back(a, b);
      }
    }
    const LinkCounts counts = link_counts(found.links, nodes);
    const bool joined = std::ranges::all_of(counts[0], [](int count) { return count < kNoWay; });
    if (!joined) continue;
    found.keeps_order = compare_alike(tables, counts);
    found.all = found.links.size() == nodes * (nodes - 1) / 2;
    return found;
  }
  return {};
}

Form numa_form() {
  return {.name = "numa",
          .kind = FormKind::machine,
          .what =
              "NUMA nodes: numactl -H, or grep . of files in /sys/devices/system/node; SLIT and HMAT by iasl -d, HMAT "
              "in the kernel's log",
          .marks =
              "\"node 0 cpus:\", \"node distances:\", paths such as node0/distance:, \"SLIT\", \"HMAT\", \"Initiator-Target[\"",
          .likeness = numa_likeness};
}

}  // namespace linebounce::sim
