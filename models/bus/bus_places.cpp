#include "models/bus/bus_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "models/text/whole_number.hpp"

namespace linebounce {
namespace {

constexpr double kLongestWayNs = 1e6;
constexpr int kFarthestPlace = 255;

// Splits a parameter's text into words, one for each core in the order of core numbers. There may be fewer words than cores.
std::vector<std::string> words_of(const std::string& key, const std::string& text, const MachineLayout& layout) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() > static_cast<std::size_t>(layout.cores_present)) {
    throw std::invalid_argument(
        fmt::format("{}: {} values, but the machine has {} cores", key, words.size(), layout.cores_present));
  }
  return words;
}

double latency_of(const std::string& key, const std::string& word) {
  double ns = -1;
  const char* end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, ns);
  if (error == std::errc{} && stopped == end && ns >= 0 && ns <= kLongestWayNs) return ns;
  throw std::invalid_argument(fmt::format(
      "{}: '{}' is not a latency; legal: numbers from 0 to {:g}, one for each core, \"0 1.5 3\"", key, word, kLongestWayNs));
}

std::pair<int, int> place_of(const std::string& key, const std::string& word) {
  const std::size_t comma = std::min(word.find(','), word.size());
  const auto column = whole_number(std::string_view(word).substr(0, comma), 0, kFarthestPlace);
  const auto row = whole_number(std::string_view(word).substr(std::min(comma + 1, word.size())), 0, kFarthestPlace);
  if (column && row) return {static_cast<int>(*column), static_cast<int>(*row)};
  throw std::invalid_argument(
      fmt::format("{}: '{}' is not a place; legal: a column and a row from 0 to {}, one pair for each core, \"0,0 1,0\"", key,
                  word, kFarthestPlace));
}

}  // namespace

Tick BusPlaces::between(int giver, int taker) const {
  if (cores.empty()) return 0;
  const Core& from = cores[giver];
  const Core& to = cores[taker];
  return from.way + to.way + hop * (std::abs(from.column - to.column) + std::abs(from.row - to.row));
}

std::vector<CorePlace> core_places(const MachineSpec& spec, const MachineLayout& layout) {
  const std::string way_key = "machine.bus.way_ns";
  const std::string edge_key = "machine.bus.edge_way_ns";
  const std::string place_key = "machine.bus.places";
  std::vector<CorePlace> cores(layout.cores_present);
  std::size_t core = 0;
  for (const std::string& word : words_of(way_key, spec.bus.way_ns, layout)) cores[core++].way_ns = latency_of(way_key, word);
  core = 0;
  for (const std::string& word : words_of(edge_key, spec.bus.edge_way_ns, layout)) {
    cores[core++].edge_way_ns = latency_of(edge_key, word);
  }
  core = 0;
  for (const std::string& word : words_of(place_key, spec.bus.places, layout)) {
    std::tie(cores[core].column, cores[core].row) = place_of(place_key, word);
    ++core;
  }
  return cores;
}

BusPlaces places_on_bus(const MachineSpec& spec, const MachineLayout& layout, int bus, const Timebase& timebase) {
  BusPlaces places;
  if (spec.bus.way_ns.empty() && spec.bus.edge_way_ns.empty() && spec.bus.places.empty()) return places;
  places.hop = timebase.from_ns(spec.bus.hop_ns);
  const std::vector<CorePlace> all = core_places(spec, layout);
  const auto begin = layout.cores_on_bus.begin();
  const int first = std::accumulate(begin, begin + bus, 0);
  for (int i = 0; i < layout.cores_on_bus[bus]; ++i) {
    const int seat = layout.seat_of_core[static_cast<std::size_t>(first) + static_cast<std::size_t>(i)];
    const CorePlace& place = all[seat];
    places.cores.push_back({timebase.from_ns(place.way_ns), timebase.from_ns(place.edge_way_ns), place.column, place.row});
  }
  return places;
}

}  // namespace linebounce
