#include "sim/terminal/machine_drawing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "models/machine_layout.hpp"
#include "models/network/topology.hpp"
#include "sim/answer/quantity.hpp"
#include "sim/config/schema.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

// ---- placing boxes beside and below each other ----

// A box's text: sections of centred lines. A horizontal rule separates two sections.
using Box = std::vector<std::vector<std::string>>;

// Boxes drawn side by side. `feet`: the columns from which a connecting line leads down.
struct BoxRow {
  std::vector<std::string> lines;
  std::vector<std::size_t> feet;
};

constexpr std::size_t kBoxIndent = 2;

constexpr const char* kBoxGap = " ";
constexpr std::size_t kEllipsisWidth = 7;
constexpr int kEllipsis = -1;

std::size_t inner_width(const Box& box) {
  std::size_t width = 0;
  for (const auto& section : box) {
    for (const std::string& line : section) width = std::max(width, width_of(line));
  }
  return width + 2;
}

// A border with `mark` in its middle.
std::string border(const char* left, const char* line, const char* mark, const char* right, std::size_t inner) {
  return left + repeated(line, inner / 2) + mark + repeated(line, inner - inner / 2 - 1) + right;
}

std::vector<std::string> drawn(const Box& box, std::size_t inner, const char* top_mark, const char* bottom_mark) {
  std::vector<std::string> lines = {border("┌", "─", top_mark, "┐", inner)};
  for (std::size_t i = 0; i < box.size(); ++i) {
    if (i > 0) lines.push_back("├" + repeated("─", inner) + "┤");
    for (const std::string& line : box[i]) lines.push_back("│" + centred(line, inner) + "│");
  }
  lines.push_back(border("└", "─", bottom_mark, "┘", inner));
  return lines;
}

// The numbers of the boxes to draw: all of them if they fit, else the first ones, kEllipsis, and the last one.
std::vector<int> chosen(int boxes, std::size_t box_width, std::size_t room) {
  std::size_t count = (room + 1) / (box_width + 1);
  const bool all = static_cast<std::size_t>(boxes) <= count;
  if (!all) count = (room - kEllipsisWidth - box_width) / (box_width + 1);
  std::vector<int> numbers;
  for (int box = 0; box < (all ? boxes : static_cast<int>(count)); ++box) numbers.push_back(box);
  if (!all) numbers.insert(numbers.end(), {kEllipsis, boxes - 1});
  return numbers;
}

// Draws boxes of equal width side by side. If they don't fit into `columns`, draws the first ones and the last one. REQUIRES:
// at least one box.
BoxRow side_by_side(const std::vector<Box>& boxes, std::size_t columns) {
  std::size_t inner = 0;
  std::size_t height = 0;
  for (const Box& box : boxes) inner = std::max(inner, inner_width(box));
  for (const Box& box : boxes) height = std::max(height, drawn(box, inner, "─", "┬").size());
  BoxRow row;
  row.lines.resize(height);
  std::size_t column = 0;
  bool after_box = false;
  for (const int number : chosen(static_cast<int>(boxes.size()), inner + 2, columns - kBoxIndent)) {
    if (number == kEllipsis) {
      for (std::size_t i = 0; i < height; ++i) row.lines[i] += centred(i == height / 2 ? "..." : "", kEllipsisWidth);
      column += kEllipsisWidth;
      after_box = false;
      continue;
    }
    const std::vector<std::string> lines = drawn(boxes[number], inner, "─", "┬");
    for (std::size_t i = 0; i < height; ++i) row.lines[i] += (after_box ? kBoxGap : "") + lines.at(i);
    column += after_box ? 1 : 0;
    row.feet.push_back(column + 1 + inner / 2);
    column += inner + 2;
    after_box = true;
  }
  return row;
}

// Draws the wide double-bordered box, such as the bus, on which a row of boxes stands. `goes_on`: whether a connecting line
// leads down from its middle.
BoxRow standing_on(const BoxRow& row, const std::vector<std::string>& texts, bool goes_on) {
  const std::size_t inner = std::max(width_of(row.lines.front()) - 2, inner_width({texts}));
  std::string top;
  for (std::size_t column = 1; column <= inner; ++column) {
    const bool foot = std::ranges::find(row.feet, column) != row.feet.end();
    top += foot ? "╧" : "═";
  }
  BoxRow below;
  below.lines.push_back("╔" + top + "╗");
  for (const std::string& text : texts) below.lines.push_back("║" + centred(text, inner) + "║");
  below.lines.push_back(border("╚", "═", goes_on ? "╤" : "═", "╝", inner));
  if (goes_on) below.feet = {1 + inner / 2};
  return below;
}

// Draws a box below the only connecting line of the row above.
BoxRow hanging_from(const BoxRow& row, const Box& box) {
  const std::size_t inner = inner_width(box);
  const std::size_t foot = row.feet.front();
  const std::size_t shift = foot > 1 + inner / 2 ? foot - 1 - inner / 2 : 0;
  BoxRow below;
  for (const std::string& line : drawn(box, inner, "┴", "─")) {
    below.lines.push_back(std::string(shift, ' ') + line);
  }
  return below;
}

// Joins the rows from top to bottom, indented.
std::string drawing(const std::vector<BoxRow>& rows) {
  std::string out;
  for (const BoxRow& row : rows) {
    for (const std::string& line : row.lines) out += std::string(kBoxIndent, ' ') + without_trailing_spaces(line) + "\n";
  }
  return out;
}

std::string ns_text(double ns) {
  return fmt::format("{:g} ns", ns);
}

// "0, 2, 4, 6", "0, 2, 4 ... 30".
std::string numbers_text(const std::vector<int>& numbers) {
  constexpr std::size_t kMost = 6;
  constexpr std::size_t kFirst = 3;
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers.size() > kMost && i == kFirst) return fmt::format("{} ... {}", text, numbers.back());
    text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
  }
  return text;
}

std::string cpus_text(const std::vector<int>& cpus) {
  return cpus.empty() ? "no CPU" : "CPU " + numbers_text(cpus);
}

std::vector<int> cpus_of_os_node(const MachineLayout& layout, int node) {
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < layout.cpus.size(); ++cpu) {
    if (layout.cpus[cpu].os_node == node) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

// Draws the machine with the positions of its CPUs.
class Drawing {
 public:
  Drawing(const MachineSpec& machine, std::size_t columns) : machine_(machine), columns_(columns), layout_(lay_out(machine)) {
    const int cores = std::accumulate(layout_.cores_on_bus.begin(), layout_.cores_on_bus.end(), 0);
    cpus_of_core_.resize(cores);
    for (std::size_t cpu = 0; cpu < layout_.cpus.size(); ++cpu) {
      cpus_of_core_[layout_.cpus[cpu].core].push_back(static_cast<int>(cpu));
    }
  }

  [[nodiscard]] std::string one_bus() const {
    const BoxRow cores = core_row(0);
    const BoxRow bus = standing_on(cores, {bus_text()}, true);
    return drawing({cores, bus, hanging_from(bus, memory_box())});
  }

  [[nodiscard]] std::string nodes() const {
    const int bus = layout_.cpus.front().bus;
    const BoxRow cores = core_row(bus);
    const BoxRow below = standing_on(cores, {bus_text()}, true);
    std::string out = fmt::format("  node {}, bus {}\n", layout_.node_of_bus(bus), bus);
    out += drawing({cores, below, hanging_from(below, controller_box())}) + tree();
    const BoxRow row = node_row();
    return out + "\n" + drawing({row, standing_on(row, network_texts(), false)}) + distances() + os_nodes();
  }

  // The operating system's nodes, as boxes if they differ from the interconnect's.
  [[nodiscard]] std::string os_nodes() const {
    if (machine_.os_nodes.empty())
      return fmt::format("\n  operating system: the same {} node{}\n", layout_.os_nodes(), layout_.os_nodes() == 1 ? "" : "s");
    std::vector<Box> boxes;
    for (int node = 0; node < layout_.os_nodes(); ++node) {
      const std::vector<int>& memory = layout_.memory_of_os_node[node];
      boxes.push_back({{fmt::format("OS node {}", node)},
                       {cpus_text(cpus_of_os_node(layout_, node))},
                       {fmt::format("memory of node{} {}", memory.size() == 1 ? "" : "s", numbers_text(memory))}});
    }
    return fmt::format("\n  operating system: os_nodes = \"{}\"\n", machine_.os_nodes) +
           drawing({side_by_side(boxes, columns_)});
  }

 private:
  [[nodiscard]] BoxRow core_row(int bus) const {
    std::vector<Box> boxes;
    const auto first = std::accumulate(layout_.cores_on_bus.begin(), layout_.cores_on_bus.begin() + bus, 0);
    for (int core = 0; core < layout_.cores_on_bus[bus]; ++core) {
      boxes.push_back(core_box(cpus_of_core_[first + core]));
    }
    return side_by_side(boxes, columns_);
  }

  [[nodiscard]] Box core_box(const std::vector<int>& cpus) const {
    Box box = {{"CPU " + numbers_text(cpus), frequency_text(machine_.cpu.clock)}};
    for (const CacheSpec& cache : machine_.caches) {
      box.push_back(
          {cache.name + "  " + size_text(cache.size_kib),
           fmt::format("{}-way, {} cycle{}", cache.ways, cache.hit_latency_cycles, cache.hit_latency_cycles == 1 ? "" : "s")});
    }
    return box;
  }

  [[nodiscard]] std::string bus_text() const {
    const BusSpec& bus = machine_.bus;
    const double mhz = static_cast<double>(bus.clock.numerator_mhz) / static_cast<double>(bus.clock.denominator);
    return fmt::format("bus  {}  {} x {} bytes = {:.0f} MB/s", bus.protocol, frequency_text(bus.clock), bus.width_bytes,
                       mhz * bus.width_bytes);
  }

  [[nodiscard]] Box memory_box() const {
    const MemorySpec& memory = machine_.memory;
    Box box = {{"memory", figure(memory.latency_ns, "ns")}};
    std::string banks = fmt::format("{} bank{}", memory.banks, memory.banks == 1 ? "" : "s");
    if (memory.bank_busy_ns > 0) banks += fmt::format(", busy {:g} ns each", memory.bank_busy_ns);
    box.front().push_back(banks);
    if (memory.bandwidth_mb_per_s > 0) box.front().push_back(fmt::format("{:g} MB/s", memory.bandwidth_mb_per_s));
    return box;
  }

  [[nodiscard]] Box controller_box() const {
    const NodeSpec& node = machine_.node;
    Box box = {{fmt::format("controller  {}", node.protocol),
                fmt::format("a pass {}, occupied {}", ns_text(node.latency_ns), ns_text(node.occupancy_ns))}};
    if (machine_.nodes > 1) {
      box.front().push_back(fmt::format("leaving the node: a message {}, a line {}", ns_text(node.request_crossing_ns),
                                        ns_text(node.line_crossing_ns)));
    }
    if (node.cache_size_kib > 0) {
      box.push_back({fmt::format("cache  {}, {}-way, {}", size_text(node.cache_size_kib), node.cache_ways,
                                 ns_text(node.cache_latency_ns))});
    }
    return box;
  }

  // The levels of groups between the homes and the buses, one line each, from the homes down.
  [[nodiscard]] std::string tree() const {
    if (machine_.groups.empty()) return "";
    std::string out = fmt::format("\n  node 0: {} buses below {} group{} at the homes\n", machine_.buses_per_node,
                                  groups_at_homes(), groups_at_homes() == 1 ? "" : "s");
    std::size_t depth = 1;
    for (std::size_t level = machine_.groups.size(); level-- > 0; ++depth) {
      const GroupSpec& group = machine_.groups[level];
      const std::string below = level == 0 ? "buses" : machine_.groups[level - 1].name;
      std::string text = fmt::format("{}  {} of {} {}, a pass {}, a way {}", group.name, group.protocol, group.members, below,
                                     ns_text(group.latency_ns), ns_text(group.link_ns));
      text += group.size_kib > 0 ? fmt::format(", cache {}, {}-way, {}", size_text(group.size_kib), group.ways,
                                               ns_text(group.cache_latency_ns))
                                 : fmt::format(", cache as large as it has to be, {}", ns_text(group.cache_latency_ns));
      if (group.filter_entries > 0)
        text += fmt::format(", filter of {} entries, {}-way", group.filter_entries, group.filter_ways);
      if (group.slices > 1)
        text += fmt::format(", {} slices on a {}, {} a hop", group.slices,
                            group.slice_topology == SliceTopology::mesh ? "mesh" : "ring", ns_text(group.slice_hop_ns));
      out += std::string(2 * depth, ' ') + "  " + text + "\n";
    }
    return out;
  }

  [[nodiscard]] int groups_at_homes() const { return static_cast<int>(layout_.agents.size()) / machine_.nodes; }

  [[nodiscard]] BoxRow node_row() const {
    std::vector<Box> boxes;
    for (int node = 0; node < machine_.nodes; ++node) boxes.push_back(node_box(node));
    return side_by_side(boxes, columns_);
  }

  [[nodiscard]] Box node_box(int node) const {
    std::vector<std::string> buses;
    for (int bus = node * machine_.buses_per_node; bus < (node + 1) * machine_.buses_per_node; ++bus) {
      std::vector<int> cpus;
      for (std::size_t cpu = 0; cpu < layout_.cpus.size(); ++cpu) {
        if (layout_.cpus[cpu].bus == bus) cpus.push_back(static_cast<int>(cpu));
      }
      const std::string name = machine_.buses_per_node > 1 ? fmt::format("bus {}  ", bus) : "";
      buses.push_back(name + cpus_text(cpus));
    }
    const auto& with = layout_.nodes_with_memory;
    const bool memory = std::ranges::find(with, node) != with.end();
    const MachineSpec own = as_of_node(machine_, node);
    const std::vector<std::string> home = {"directory  " + ns_text(own.directory.latency_ns),
                                           "memory  " + ns_text(own.memory.latency_ns)};
    return {{fmt::format("node {}", node)}, buses, memory ? home : std::vector<std::string>{"no memory", ""}};
  }

  [[nodiscard]] std::vector<std::string> network_texts() const {
    const NetworkSpec& network = machine_.network;
    const std::string directories = "directories  " + machine_.directory.protocol;
    if (machine_.nodes == 1) return {directories};
    std::string links = fmt::format("network  {}", word_of(network.topology));
    if (network.topology != Topology::links) {
      links += ", " + ns_text(network.latency_ns);
      links += network.topology == Topology::crossbar ? "" : " a link";
      if (network.bandwidth_mb_per_s > 0) links += fmt::format(", {:g} MB/s each way", network.bandwidth_mb_per_s);
    }
    return {links, directories};
  }

  // A table of the network's latency between all pairs of nodes, without buses and directories.
  [[nodiscard]] std::string distances() const {
    constexpr int kMostNodes = 12;
    if (machine_.nodes == 1 || machine_.nodes > kMostNodes) return "";
    const NetworkMap map = lay_links(machine_.network, machine_.nodes);
    const std::vector<std::vector<double>> beside = pair_costs_ns(machine_.network, machine_.nodes);
    std::vector<Column> columns = {{"ns to node", Fit::text, 12, 0, Colour::none}};
    for (int to = 0; to < machine_.nodes; ++to) columns.push_back({std::to_string(to), Fit::figure, 7, 0, Colour::none});
    const Painter plain(false, columns_, columns_);
    Table table(std::move(columns), plain);
    for (int from = 0; from < machine_.nodes; ++from) {
      std::vector<Cell> cells = {fmt::format("from {}", from)};
      for (int to = 0; to < machine_.nodes; ++to) cells.emplace_back(from == to ? "-" : distance(map, beside, from, to));
      table.add(std::move(cells));
    }
    return "\n" + table.text();
  }

  static std::string distance(const NetworkMap& map, const std::vector<std::vector<double>>& beside, int from, int to) {
    double ns = 0;
    for (const int link : map.way(from, to)) ns += map.links[link].latency_ns;
    ns += beside[from][to];
    return fmt::format("{:g}", ns);
  }

  const MachineSpec& machine_;
  std::size_t columns_;
  MachineLayout layout_;
  std::vector<std::vector<int>> cpus_of_core_;
};

}  // namespace

std::string frequency_text(const Frequency& frequency) {
  const double mhz = static_cast<double>(frequency.numerator_mhz) / static_cast<double>(frequency.denominator);
  return fmt::format("{:.4g} MHz", mhz);
}

std::string size_text(int kib) {
  return kib >= 1024 && kib % 1024 == 0 ? fmt::format("{} MiB", kib / 1024) : fmt::format("{} KiB", kib);
}

std::string os_nodes_text(const MachineSpec& machine) {
  constexpr std::size_t kMostListed = 4;
  const MachineLayout layout = lay_out(machine);
  std::vector<std::string> parts;
  std::set<std::size_t> sizes;
  for (int node = 0; node < layout.os_nodes(); ++node) {
    const std::vector<int> cpus = cpus_of_os_node(layout, node);
    if (cpus.empty()) continue;
    parts.push_back(cpus_text(cpus));
    sizes.insert(cpus.size());
  }
  if (parts.size() == 1) return "1 node with all CPUs";
  if (parts.size() <= kMostListed) return fmt::format("{} nodes: {}", parts.size(), fmt::join(parts, "; "));
  return sizes.size() == 1 ? fmt::format("{} nodes of {} CPU{}", parts.size(), *sizes.begin(), *sizes.begin() == 1 ? "" : "s")
                           : fmt::format("{} nodes of {} to {} CPUs", parts.size(), *sizes.begin(), *sizes.rbegin());
}

std::string draw_topology(const MachineSpec& machine, std::size_t columns) {
  const Drawing drawn(machine, columns);
  if (machine.has_nodes()) return drawn.nodes();
  return drawn.one_bus() + (machine.os_nodes.empty() ? "" : drawn.os_nodes());
}

}  // namespace linebounce::sim
