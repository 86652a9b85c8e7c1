// The home node of each line. Objects may name their node or policy; all other memory follows the machine's policy.
#pragma once

#include <optional>
#include <vector>

#include "models/machine_layout.hpp"
#include "models/units.hpp"

namespace linebounce {

// An object's wish: a node, or a policy.
struct Home {
  std::optional<Placement> policy;  // none: on `node`
  int node = 0;
  static Home on(int node) { return {std::nullopt, node}; }
  static Home by(Placement policy) { return {policy, 0}; }
  friend bool operator==(const Home&, const Home&) = default;
};

class Homes {
 public:
  Homes(const MachineSpec& spec, const MachineLayout& layout, int line_bytes);

  [[nodiscard]] int page_bytes() const { return page_bytes_; }
  [[nodiscard]] const Home& machine_policy() const { return default_; }

  // Places the lines from `begin` up to those of the next call. If the node has no memory, the next node with memory gets them.
  // REQUIRES: calls in the order of addresses, before the simulation starts.
  void place(Address begin, const Home& home);

  // The line's home. Under first touch, the first call for a page places it on the node `toucher`.
  int home(LineAddr line, int toucher);
  // The line's home without placing it: -1 if its page is untouched.
  [[nodiscard]] int peek(LineAddr line) const;

 private:
  struct Range {
    std::uint64_t first_line;
    Home home;
  };
  [[nodiscard]] const Home& home_of(LineAddr line) const;
  [[nodiscard]] int with_memory(int node) const;

  std::vector<int> nodes_with_memory_;
  int nodes_;
  int page_bytes_;
  int line_shift_;
  int page_shift_;  // of a line's number
  Home default_;
  std::vector<Range> ranges_;         // by first line
  std::vector<std::int8_t> touched_;  // by page: the node, or -1
};

}  // namespace linebounce
