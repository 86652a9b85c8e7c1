// The travel time of messages inside groups: between a group and one of its members, or between two members. It is the link's
// time plus the time of the hops between their stops on the ring or mesh of the group's slices.
#pragma once

#include <vector>

#include "models/machine_layout.hpp"
#include "models/timebase.hpp"
#include "models/units.hpp"

namespace linebounce {

// A line's slice is a hash of the line's number. The hash shifts the number by up to kSliceHashShift bits.
constexpr int kSliceHashShift = 13;

class GroupTiming {
 public:
  GroupTiming(const MachineSpec& spec, const MachineLayout& layout, const Timebase& timebase);

  // The travel time of a message; 0 if it does not stay inside a group. Receiver -1 is the directory of the line's home.
  [[nodiscard]] Tick way(int sender, int receiver, LineAddr line) const {
    return levels_.empty() ? 0 : way_in_group(sender, receiver, line);
  }
  // How long a message occupies the controller of a group of this level.
  [[nodiscard]] Tick occupancy(int level) const { return levels_[level].occupancy; }

 private:
  struct Level {
    Tick link = 0, hop = 0, occupancy = 0;
    int slices = 1;
    std::vector<int> stops;              // the stop of each member
    std::vector<std::vector<int>> hops;  // [a][b]: the number of hops between stops a and b
  };
  [[nodiscard]] Tick way_in_group(int sender, int receiver, LineAddr line) const;
  [[nodiscard]] int parent_of(int endpoint) const;
  [[nodiscard]] int number_of(int endpoint) const;

  const MachineLayout& layout_;
  std::vector<Level> levels_;
};

// The stop of each member. Errors: std::invalid_argument, "KEY: TEXT" for the user, if GroupSpec::positions is invalid.
std::vector<int> stops_of_members(const GroupSpec& spec);
// The number of hops between every two stops. Errors: std::invalid_argument if the stops of a mesh don't fill its last row.
std::vector<std::vector<int>> hops_between_stops(const GroupSpec& spec);

}  // namespace linebounce
