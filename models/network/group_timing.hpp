// The travel time of messages inside groups, between a group and its members or between two members: the link, and the hops
// between their stops on the ring or mesh of the group's slices.
#pragma once

#include <vector>

#include "models/machine_layout.hpp"
#include "models/timebase.hpp"
#include "models/units.hpp"

namespace linebounce {

class GroupTiming {
 public:
  GroupTiming(const MachineSpec& spec, const MachineLayout& layout, const Timebase& timebase);

  // 0 for a message outside of groups. The receiver -1 is the home's directory.
  [[nodiscard]] Tick way(int sender, int receiver, LineAddr line) const;
  // How long a pass occupies the controller at this endpoint; `otherwise` if it is no group's.
  [[nodiscard]] Tick occupancy(int endpoint, Tick otherwise) const;

 private:
  struct Level {
    Tick link = 0, hop = 0, occupancy = 0;
    int slices = 1;
    std::vector<int> stops;              // of each member
    std::vector<std::vector<int>> hops;  // between two stops
  };
  [[nodiscard]] int parent_of(int endpoint) const;
  [[nodiscard]] int number_of(int endpoint) const;

  const MachineLayout& layout_;
  std::vector<Level> levels_;
};

// The stop of each member of a group. Errors: std::invalid_argument, "KEY: TEXT".
std::vector<int> stops_of_members(const GroupSpec& spec);
// Hops from stop to stop. Errors: std::invalid_argument: a mesh without whole rows.
std::vector<std::vector<int>> hops_between_stops(const GroupSpec& spec);

}  // namespace linebounce
