// The home node of each line. An object may name its node or a placement policy; all other memory follows the machine's policy.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/machine_layout.hpp"
#include "models/memory/page_frames.hpp"
#include "models/units.hpp"

namespace linebounce {

// Where an object's memory is to be: on a specific node, or by a placement policy.
struct Home {
  std::optional<Placement> policy;  // if empty, the home is `node`
  int node = 0;
  bool is_os_node = false;  // `node` is one of the operating system's

  // A node of the interconnect, for what measures the hardware.
  static Home on(int node) { return {std::nullopt, node}; }
  // A node of the operating system, which interleaves pages over its memories if it has several.
  static Home on_os_node(int node) { return {std::nullopt, node, true}; }
  // The CPU's node of the operating system, on which kernels and libraries place what belongs to the CPU.
  static Home near(const CpuPlace& cpu) { return on_os_node(cpu.os_node); }
  static Home by(Placement policy) { return {policy, 0}; }
  friend bool operator==(const Home&, const Home&) = default;
};

class Homes {
 public:
  Homes(const MachineSpec& spec, const MachineLayout& layout, int line_bytes);
  Homes(const Homes&) = delete;
  Homes& operator=(const Homes&) = delete;

  [[nodiscard]] int page_bytes() const { return page_bytes_; }
  [[nodiscard]] const Home& machine_policy() const { return default_; }

  // Returns `home` as one of the interconnect's nodes where the operating system's are the same, so that equal homes compare
  // equal.
  [[nodiscard]] Home plain(Home home) const {
    if (os_nodes_are_the_same_) home.is_os_node = false;
    return home;
  }

  // Says where a replayed program's pages lie. Objects keep the homes of their virtual addresses, so that pages that follow
  // each other in the program are interleaved over the nodes. REQUIRES: called before home() and peek().
  void set_frames(const PageFrames& frames) { frames_ = frames; }

  // Sets the home of the lines from the virtual address `begin` on, up to the next call's `begin`. If the node has no memory,
  // the next node that has some is the home. REQUIRES: called in the order of addresses, before the simulation starts.
  void place(Address begin, const Home& home);

  // The line's home node. Under first_touch, the first call for a page decides it: the memory of the operating system's node to
  // which `toucher`, a node of the interconnect, belongs.
  int home(LineAddr line, int toucher);
  // The line's home node, without setting one; -1 if the line is in a first_touch page that no node has touched yet.
  [[nodiscard]] int peek(LineAddr line) const;

 private:
  struct Range {
    std::uint64_t first_line;
    Home home;
  };
  // The homes under first_touch of kNearPages pages; -1: not touched yet.
  static constexpr std::uint64_t kNearPages = 4096;
  using TouchedPages = std::array<std::int8_t, kNearPages>;

  [[nodiscard]] std::uint64_t virtual_line(LineAddr line) const;
  [[nodiscard]] const Home& home_of(std::uint64_t line) const;
  [[nodiscard]] int known_home(std::uint64_t line) const;
  [[nodiscard]] int touched(std::uint64_t page) const;
  [[nodiscard]] int with_memory(int node) const;
  [[nodiscard]] int in_os_node(int os_node, std::uint64_t page) const;

  std::vector<int> nodes_with_memory_;
  std::vector<std::vector<int>> memory_of_os_node_;
  std::vector<int> os_node_of_node_;
  bool os_nodes_are_the_same_;  // as the interconnect's
  int nodes_;
  int page_bytes_;
  int line_shift_;
  int page_shift_;  // shifts a line's number to its page's number
  Home default_;
  PageFrames frames_;
  std::vector<Range> ranges_;  // sorted by first line
  // Key: page / kNearPages. A map, because the pages of a replayed trace may be far apart. Pointers to its elements stay valid.
  std::unordered_map<std::uint64_t, TouchedPages> touched_;
  mutable std::uint64_t last_near_ = 0;  // the key of `last_pages_`, which was used last
  mutable const TouchedPages* last_pages_ = nullptr;
};

}  // namespace linebounce
