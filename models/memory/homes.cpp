#include "models/memory/homes.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace linebounce {

Homes::Homes(const MachineSpec& spec, const MachineLayout& layout, int line_bytes)
    : nodes_with_memory_(layout.nodes_with_memory),
      memory_of_os_node_(layout.memory_of_os_node),
      os_node_of_node_(layout.os_node_of_node),
      os_nodes_are_the_same_(spec.os_nodes.empty()),
      nodes_(layout.nodes()),
      page_bytes_(spec.memory.page_kib * 1024),
      line_shift_(std::countr_zero(static_cast<unsigned>(line_bytes))),
      page_shift_(std::countr_zero(static_cast<unsigned>(page_bytes_ / line_bytes))),
      default_(Home::by(spec.memory.placement)) {}

void Homes::place(Address begin, const Home& home) {
  const std::uint64_t line = begin >> line_shift_;
  if (!ranges_.empty() && ranges_.back().first_line == line) ranges_.pop_back();
  ranges_.push_back({line, home});
}

int Homes::home(LineAddr line, int toucher) {
  const std::uint64_t at = virtual_line(line);
  const int known = known_home(at);
  if (known >= 0) return known;
  const std::uint64_t page = at >> page_shift_;
  const auto [near, is_new] = touched_.try_emplace(page / kNearPages);
  if (is_new) near->second.fill(-1);
  return near->second[page % kNearPages] = static_cast<std::int8_t>(in_os_node(os_node_of_node_[toucher], page));
}

int Homes::peek(LineAddr line) const {
  return known_home(virtual_line(line));
}

std::uint64_t Homes::virtual_line(LineAddr line) const {
  return frames_.empty() ? line.value : frames_.to_virtual(line.value << line_shift_) >> line_shift_;
}

int Homes::known_home(std::uint64_t line) const {
  if (nodes_ == 1) return 0;
  const Home& home = home_of(line);
  const std::uint64_t page = line >> page_shift_;
  if (!home.policy) return home.is_os_node ? in_os_node(home.node, page) : with_memory(home.node);
  if (*home.policy == Placement::interleaved) return nodes_with_memory_[page % nodes_with_memory_.size()];
  return touched(page);
}

int Homes::touched(std::uint64_t page) const {
  const std::uint64_t near = page / kNearPages;
  if (last_pages_ == nullptr || near != last_near_) [[unlikely]] {
    const auto found = touched_.find(near);
    if (found == touched_.end()) return -1;
    last_near_ = near;
    last_pages_ = &found->second;
  }
  return (*last_pages_)[page % kNearPages];
}

const Home& Homes::home_of(std::uint64_t line) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), line,
                                      [](std::uint64_t at, const Range& range) { return at < range.first_line; });
  return after == ranges_.begin() ? default_ : std::prev(after)->home;
}

int Homes::in_os_node(int os_node, std::uint64_t page) const {
  const std::vector<int>& memory = memory_of_os_node_[os_node];
  return memory.size() == 1 ? memory.front() : memory[page % memory.size()];
}

int Homes::with_memory(int node) const {
  const auto next = std::lower_bound(nodes_with_memory_.begin(), nodes_with_memory_.end(), node);
  return next == nodes_with_memory_.end() ? nodes_with_memory_.front() : *next;
}

}  // namespace linebounce
