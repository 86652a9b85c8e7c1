// The accesses of a replay to the objects of one structure, in the order in which the simulated machine runs them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/point/simulation_input.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

// A unit that moves as a whole, as in [[layout.change]]: a member of the structure with all its parts.
struct LayoutUnit {
  std::string name;  // empty: the bytes belong to no field
  int begin = 0, end = 0;
  int alignment = 1;

  [[nodiscard]] int size() const { return end - begin; }
};

// By offset.
std::vector<LayoutUnit> units_of(const Layout& layout);

// A layout with one field for each unit of the given one.
Layout layout_of_units(Layout layout);

struct UnitAccess {
  std::uint16_t unit = 0, cpu = 0;
  std::uint32_t object = 0;
  std::int32_t offset = 0;  // in the unit
  bool writes = false;
};

// The CPUs and functions that use a unit during the whole replay.
struct UnitUse {
  std::map<std::string, std::int64_t> readers, writers;  // functions, with their accesses
  std::vector<bool> reads_on, writes_on;                 // by CPU

  [[nodiscard]] std::int64_t reads() const;
  [[nodiscard]] std::int64_t writes() const;
  [[nodiscard]] std::int64_t all() const { return reads() + writes(); }
  [[nodiscard]] int writing_cpus() const;
};

struct StructureAccesses {
  Layout layout;
  std::vector<LayoutUnit> units;
  std::vector<UnitAccess> sequence;  // at most kMostAccesses from the middle of the replay
  std::vector<UnitUse> uses;         // by unit
  std::uint32_t objects = 0;
  int cpus = 0;

  static constexpr std::size_t kMostAccesses = 100'000;
};

// Runs the replay once, in this process. Errors: SimulationFailure; ConfigError if no object of the structure is touched.
StructureAccesses structure_accesses(const SimulationInput& input, const Layout& layout);

// The sequence of accesses in a replay with another layout of the same members. `units`: those of structure_accesses().
// Errors: as above.
std::vector<UnitAccess> sequence_in(const SimulationInput& input, const Layout& layout, const std::vector<LayoutUnit>& units);

// "written in receive by 12 CPUs, read in user".
std::string users_text(const UnitUse& use);

}  // namespace linebounce::sim
