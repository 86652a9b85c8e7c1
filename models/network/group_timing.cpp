#include "models/network/group_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "models/text/whole_number.hpp"

namespace linebounce {
namespace {

int rows_of_slices(const GroupSpec& spec) {
  if (spec.slice_columns > 0) {
    if (spec.slices % spec.slice_columns == 0) return spec.slices / spec.slice_columns;
    throw std::invalid_argument(
        fmt::format("machine.group.{}.slice_columns: {} stops make no whole rows of {}; legal: a divisor of {}, or 0",
                    spec.name, spec.slices, spec.slice_columns, spec.slices));
  }
  int rows = 1;
  for (int divisor = 1; divisor * divisor <= spec.slices; ++divisor) {
    if (spec.slices % divisor == 0) rows = divisor;
  }
  return rows;
}

}  // namespace

std::vector<int> stops_of_members(const GroupSpec& spec) {
  std::vector<int> stops;
  std::istringstream words(spec.positions);
  for (std::string word; words >> word;) {
    const auto number = whole_number(word, 0, spec.slices - 1);
    if (!number) {
      throw std::invalid_argument(fmt::format("machine.group.{}.positions: '{}' is not a stop; legal: numbers from 0 to {}",
                                              spec.name, word, spec.slices - 1));
    }
    stops.push_back(static_cast<int>(*number));
  }
  if (stops.empty()) {
    for (int member = 0; member < spec.members; ++member) stops.push_back(member * spec.slices / spec.members);
  }
  if (static_cast<int>(stops.size()) != spec.members) {
    throw std::invalid_argument(fmt::format("machine.group.{}.positions: {} stops for {} members; legal: one for each, or \"\"",
                                            spec.name, stops.size(), spec.members));
  }
  return stops;
}

std::vector<std::vector<int>> hops_between_stops(const GroupSpec& spec) {
  const int stops = spec.slices;
  const int columns = spec.slice_topology == SliceTopology::mesh ? stops / rows_of_slices(spec) : stops;
  std::vector<std::vector<int>> hops(stops, std::vector<int>(stops));
  for (int a = 0; a < stops; ++a) {
    for (int b = 0; b < stops; ++b) {
      const int straight = std::abs(a - b);
      hops[a][b] = spec.slice_topology == SliceTopology::ring
                       ? std::min(straight, stops - straight)
                       : std::abs(a % columns - b % columns) + std::abs(a / columns - b / columns);
    }
  }
  return hops;
}

GroupTiming::GroupTiming(const MachineSpec& spec, const MachineLayout& layout, const Timebase& timebase) : layout_(layout) {
  for (const GroupSpec& group : spec.groups) {
    levels_.push_back({.link = timebase.from_ns(group.link_ns),
                       .hop = timebase.from_ns(group.slice_hop_ns),
                       .occupancy = timebase.from_ns(group.occupancy_ns),
                       .slices = group.slices,
                       .stops = stops_of_members(group),
                       .hops = hops_between_stops(group)});
  }
}

int GroupTiming::parent_of(int endpoint) const {
  if (endpoint >= layout_.first_group()) return layout_.group_at(endpoint).parent;
  const auto buses = static_cast<int>(layout_.cores_on_bus.size());
  return endpoint >= 0 && endpoint < buses ? layout_.place_of_bus[endpoint].parent : -1;
}

int GroupTiming::number_of(int endpoint) const {
  if (endpoint >= layout_.first_group()) return layout_.group_at(endpoint).number;
  return layout_.place_of_bus[endpoint].number;
}

Tick GroupTiming::way_in_group(int sender, int receiver, LineAddr line) const {
  const int above_sender = parent_of(sender), above_receiver = parent_of(receiver);
  int group = -1;
  if (above_sender >= 0 && (receiver == above_sender || above_receiver == above_sender)) group = above_sender;
  if (above_receiver >= 0 && sender == above_receiver) group = above_receiver;
  if (group < 0) return 0;
  const Level& level = levels_[layout_.group_at(group).level];
  // The hash spreads consecutive lines, and lines whose distance is a power of two, over different slices.
  const std::uint64_t mixed = line.value ^ line.value >> 7 ^ line.value >> kSliceHashShift;
  const std::size_t slice = mixed % static_cast<std::uint64_t>(level.slices);
  const auto stop = [&](int endpoint) {
    return endpoint == group ? slice : static_cast<std::size_t>(level.stops[number_of(endpoint)]);
  };
  return level.link + level.hop * level.hops[stop(sender)][stop(receiver)];
}

}  // namespace linebounce
