#include "workloads/locks/races.hpp"

#include <algorithm>
#include <tuple>

namespace linebounce::workloads {

void Races::add(const Races& other) {
  sections += other.sections;
  if (!other.first) return;
  const auto order = [](const Race& race) { return std::tuple(race.at, race.second_cpu.value, race.first_cpu.value); };
  if (!first || order(*other.first) < order(*first)) first = other.first;
}

Races Sections::find_races() {
  std::sort(sections_.begin(), sections_.end(), [](const Section& a, const Section& b) {
    return std::tuple(a.since, a.cpu.value, a.until) < std::tuple(b.since, b.cpu.value, b.until);
  });
  Races races;
  std::vector<Section*> inside;
  for (Section& section : sections_) {
    std::erase_if(inside, [&section](const Section* other) { return other->until <= section.since; });
    for (Section* other : inside) {
      if (!excludes(*other, section)) continue;
      other->raced = section.raced = true;
      if (!races.first && section.measured)
        races.first = Race{section.since, other->cpu, section.cpu, other->call_site, section.call_site};
    }
    inside.push_back(&section);
  }
  races.sections = std::count_if(sections_.begin(), sections_.end(), [](const Section& s) { return s.raced && s.measured; });
  return races;
}

}  // namespace linebounce::workloads
