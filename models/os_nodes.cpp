#include "models/os_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "models/machine_layout.hpp"
#include "models/text/whole_number.hpp"

namespace linebounce {
namespace {

[[noreturn]] void refuse_os_nodes(const std::string& text) {
  throw std::invalid_argument("machine.os_nodes: " + text);
}

// How many neighbouring buses share their last-level cache: the outermost one whose size is stated. 0: each core has its own.
int buses_of_last_cache(const MachineSpec& spec) {
  int buses = spec.node.cache_size_kib > 0 ? 1 : 0;
  int below = 1;
  for (const GroupSpec& group : spec.groups) {
    below *= group.members;
    if (group.size_kib > 0) buses = below;
  }
  return buses;
}

// The numbers that the user lists, one for each bus.
std::vector<int> listed_by_bus(const std::string& text, int buses) {
  std::vector<int> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto number = whole_number(word, 0, buses - 1);
    if (!number) {
      refuse_os_nodes(fmt::format("'{}' is no node; legal: {}, {}, {}, {}, or a number for each of the {} buses, from 0 to {}",
                                  word, kOsNodeOfMachine, kOsNodeOfHalf, kOsNodeOfQuarter, kOsNodeOfCache, buses, buses - 1));
    }
    numbers.push_back(static_cast<int>(*number));
  }
  if (std::ssize(numbers) != buses)
    refuse_os_nodes(fmt::format("lists {} nodes; legal: one for each of the {} buses", numbers.size(), buses));
  const std::set<int> named(numbers.begin(), numbers.end());
  if (*named.rbegin() + 1 != std::ssize(named))
    refuse_os_nodes(
        fmt::format("lists {} nodes, the last of them {}; legal: numbers from 0 without gaps", named.size(), *named.rbegin()));
  return numbers;
}

class OsNodes {
 public:
  OsNodes(const MachineSpec& spec, int cores_per_bus, const std::vector<CpuPlace>& cores)
      : spec_(spec), cores_of_node_(cores_per_bus * spec.buses_per_node), cores_per_bus_(cores_per_bus) {
    for (const CpuPlace& core : cores) nodes_with_cores_.insert(core.node);
    const std::string& text = spec.os_nodes;
    parts_ = text == kOsNodeOfHalf ? 2 : text == kOsNodeOfQuarter ? 4 : 0;
    if (parts_ > 0 && cores_of_node_ % parts_ != 0)
      refuse_os_nodes(fmt::format("{}: the {} cores of a node do not make {} equal parts", text, cores_of_node_, parts_));
    const bool is_list = !text.empty() && parts_ == 0 && text != kOsNodeOfMachine && text != kOsNodeOfCache;
    if (is_list) listed_ = listed_by_bus(text, spec.nodes * spec.buses_per_node);
    number_nodes(cores);
  }

  [[nodiscard]] int of(const CpuPlace& core) const { return numbers_.at(key_of(core)); }

  // By the operating system's node: the nodes of the interconnect that it consists of, or the one that it is a part of.
  [[nodiscard]] const std::vector<std::set<int>>& spans() const { return spans_; }

 private:
  // Sorts the operating system's nodes: those with CPUs before those with memory alone.
  using Key = std::pair<bool, int>;

  [[nodiscard]] Key key_of(const CpuPlace& core) const {
    if (!listed_.empty()) return {false, listed_[core.bus]};
    if (spec_.os_nodes.empty()) return {false, core.node};
    if (spec_.os_nodes == kOsNodeOfMachine) return {false, 0};
    if (parts_ == 0) return {false, core.cache};
    const int in_node = core.bus % spec_.buses_per_node * cores_per_bus_ + core.core;
    return {false, core.node * parts_ + in_node / (cores_of_node_ / parts_)};
  }

  [[nodiscard]] Key key_of_memory(int node) const {
    if (!listed_.empty()) return {false, listed_[node * spec_.buses_per_node]};
    return {!spec_.os_nodes.empty(), node};
  }

  void number_nodes(const std::vector<CpuPlace>& cores) {
    std::map<Key, std::set<int>> spans;
    for (const CpuPlace& core : cores) spans[key_of(core)].insert(core.node);
    for (int node = 0; node < spec_.nodes; ++node) {
      if (!nodes_with_cores_.contains(node)) spans[key_of_memory(node)].insert(node);
    }
    std::map<int, int> parts;  // by node of the interconnect: of how many of the operating system's nodes it has a part
    for (const auto& [key, nodes] : spans) {
      numbers_.emplace(key, static_cast<int>(numbers_.size()));
      spans_.push_back(nodes);
      for (const int node : nodes) ++parts[node];
    }
    for (const std::set<int>& nodes : spans_) {
      const auto divided = std::ranges::find_if(nodes, [&parts](int node) { return parts[node] > 1; });
      if (nodes.size() > 1 && divided != nodes.end())
        refuse_os_nodes(
            fmt::format("a node has node {} of the interconnect in part, and others, too; legal: several of them "
                        "whole, or a part of one",
                        *divided));
    }
  }

  const MachineSpec& spec_;
  int cores_of_node_, cores_per_bus_;
  int parts_ = 0;  // into how many parts each node of the interconnect is divided; 0: otherwise
  std::vector<int> listed_;
  std::set<int> nodes_with_cores_;
  std::map<Key, int> numbers_;
  std::vector<std::set<int>> spans_;
};

// The nodes with memory among `nodes`; if there is none, the next one.
std::vector<int> with_memory_of(const std::set<int>& nodes, const std::vector<int>& with_memory) {
  std::vector<int> here;
  std::ranges::copy_if(with_memory, std::back_inserter(here), [&nodes](int node) { return nodes.contains(node); });
  if (!here.empty()) return here;
  const auto next = std::ranges::lower_bound(with_memory, *nodes.begin());
  return {next == with_memory.end() ? with_memory.front() : *next};
}

}  // namespace

void set_os_nodes(const MachineSpec& spec, int cores_per_bus, std::vector<CpuPlace>& cores, MachineLayout& layout) {
  const int sharing = buses_of_last_cache(spec);
  for (CpuPlace& core : cores) core.cache = sharing > 0 ? core.bus / sharing : core.bus * cores_per_bus + core.core;
  const OsNodes nodes(spec, cores_per_bus, cores);
  for (CpuPlace& core : cores) core.os_node = nodes.of(core);
  layout.os_node_of_node.assign(spec.nodes, -1);
  for (int node = 0; node < std::ssize(nodes.spans()); ++node) {
    const std::set<int>& span = nodes.spans()[node];
    layout.memory_of_os_node.push_back(with_memory_of(span, layout.nodes_with_memory));
    if (span.contains(layout.memory_of_os_node.back().front())) layout.os_nodes_with_memory.push_back(node);
    for (const int within : span) {
      if (layout.os_node_of_node[within] < 0) layout.os_node_of_node[within] = node;
    }
  }
}

}  // namespace linebounce
