#include "commands/layout/structure_accesses.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "models/core/cpu.hpp"
#include "models/core/program_tap.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/simulation/simulate.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {
namespace {

// Receives every operation that takes effect, including those of spins and of lock algorithms.
class AccessCollector final : public SimulationTap, public ProgramTap {
 public:
  AccessCollector(StructureAccesses& found, const SimulationInput& input) : found_(found), cpus_(input.machine.cpus) {
    for (UnitUse& use : found_.uses) {
      use.reads_on.assign(cpus_, false);
      use.writes_on.assign(cpus_, false);
    }
  }

  // ---- SimulationTap ----
  ProgramTap& begin(Machine&, const AddressSpace& memory, const LockSet&) override {
    memory_ = &memory;
    return *this;
  }
  void miss(const Miss&) override {}
  void end(const PointData&) override { memory_ = nullptr; }

  // ---- ProgramTap ----
  void called(const Cpu&, const ProgramCall&) override {}
  void applied(const Cpu& cpu, const linebounce::Operation& operation, Value) override {
    const AddressSpace::Place place = memory_->find_byte(operation.address);
    if (place.object == AddressSpace::kNoObject) return;
    const AddressSpace::Object& object = memory_->objects()[place.object];
    if (memory_->layouts()[object.layout].name != found_.layout.name) return;
    const auto unit = std::ranges::upper_bound(found_.units, static_cast<int>(place.offset), {}, &LayoutUnit::begin);
    if (unit == found_.units.begin() || std::prev(unit)->end <= static_cast<int>(place.offset)) return;
    const std::size_t index = unit - found_.units.begin() - 1;
    const std::uint32_t number = objects_.try_emplace(place.object, static_cast<std::uint32_t>(objects_.size())).first->second;
    const int id = cpu.id().value;
    found_.sequence.push_back({static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(id), number,
                               static_cast<std::int32_t>(place.offset) - found_.units[index].begin, operation.writes()});
    UnitUse& use = found_.uses[index];
    (operation.writes() ? use.writes_on : use.reads_on)[id] = true;
    ++(operation.writes() ? use.writers : use.readers)[memory_->functions()[operation.function].name];
    found_.objects = static_cast<std::uint32_t>(objects_.size());
  }
  void forwarded(const Cpu&, Address) override {}
  void spin_begins(const Cpu&, std::span<const Address>, int) override {}
  void spin_polled(const Cpu&) override {}
  void spin_ends(const Cpu&) override {}
  void composite_begins(const Cpu&, const Composite&) override {}
  void composite_ends(const Cpu&, bool) override {}
  void handler_begins(const Cpu&, int) override {}
  void handler_ends(const Cpu&) override {}

 private:
  StructureAccesses& found_;
  int cpus_;
  const AddressSpace* memory_ = nullptr;
  // By object in the address space: its number among the structure's objects.
  std::unordered_map<std::uint32_t, std::uint32_t> objects_;
};

std::int64_t sum_of(const std::map<std::string, std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

// Up to three functions, the most accesses first. Leaves out those with less than a tenth of the accesses.
std::string functions_text(const std::map<std::string, std::int64_t>& counts) {
  constexpr std::size_t kMostNames = 3;
  const std::int64_t all = sum_of(counts);
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [name, count] : counts) {
    if (10 * count >= all && !name.empty()) order.emplace_back(-count, name);
  }
  std::ranges::sort(order);
  std::vector<std::string> names;
  for (const auto& [count, name] : order) names.push_back(name);
  if (names.size() > kMostNames) names.resize(kMostNames);
  return names.empty() ? "" : fmt::format(" in {}", fmt::join(names, ", "));
}

}  // namespace

std::vector<LayoutUnit> units_of(const Layout& layout) {
  std::vector<Field> fields = layout.fields;
  std::ranges::stable_sort(fields, [](const Field& a, const Field& b) { return a.offset < b.offset; });
  std::vector<LayoutUnit> units;
  for (const Field& field : fields) {
    const std::string group = group_of(field.name);
    if (units.empty() || units.back().name != group) units.push_back({group, field.offset, field.offset, 1});
    LayoutUnit& unit = units.back();
    unit.end = std::max(unit.end, field.offset + field.size);
    unit.alignment = std::max(unit.alignment, alignment_of(field));
  }
  // Padding at the end of a nested structure belongs to its unit, because it moves with it.
  for (std::size_t i = 0; i < units.size(); ++i) {
    const int next = i + 1 < units.size() ? units[i + 1].begin : layout.size;
    const int padded = (units[i].size() + units[i].alignment - 1) / units[i].alignment * units[i].alignment;
    units[i].end = std::max(units[i].end, std::min(units[i].begin + padded, next));
  }
  return units;
}

Layout layout_of_units(Layout layout) {
  const std::vector<LayoutUnit> units = units_of(layout);
  layout.fields.clear();
  for (const LayoutUnit& unit : units) {
    const int alignment = unit.alignment > natural_alignment(unit.size()) ? unit.alignment : 0;
    layout.fields.push_back({.name = unit.name, .offset = unit.begin, .size = unit.size(), .alignment = alignment});
  }
  return layout;
}

std::int64_t UnitUse::reads() const {
  return sum_of(readers);
}

std::int64_t UnitUse::writes() const {
  return sum_of(writers);
}

int UnitUse::writing_cpus() const {
  return static_cast<int>(std::ranges::count(writes_on, true));
}

StructureAccesses structure_accesses(const SimulationInput& input, const Layout& layout) {
  StructureAccesses found{.layout = layout, .units = units_of(layout), .sequence = {}, .uses = {}, .cpus = input.machine.cpus};
  found.uses.resize(found.units.size());
  AccessCollector collector(found, input);
  simulate_with(collector, input, {});
  if (found.sequence.empty())
    throw ConfigError(fmt::format("no field of {} is touched: there is nothing that a layout could gain", layout.name));
  if (found.sequence.size() > StructureAccesses::kMostAccesses) {
    const auto skipped = static_cast<std::ptrdiff_t>((found.sequence.size() - StructureAccesses::kMostAccesses) / 2);
    found.sequence.erase(found.sequence.begin(), found.sequence.begin() + skipped);
    found.sequence.resize(StructureAccesses::kMostAccesses);
  }
  return found;
}

std::vector<UnitAccess> sequence_in(const SimulationInput& input, const Layout& layout, const std::vector<LayoutUnit>& units) {
  StructureAccesses found = structure_accesses(input, layout);
  for (UnitAccess& access : found.sequence) {
    const auto unit = std::ranges::find(units, found.units[access.unit].name, &LayoutUnit::name);
    access.unit = static_cast<std::uint16_t>(unit - units.begin());
  }
  return std::move(found.sequence);
}

std::string users_text(const UnitUse& use) {
  std::string text;
  if (use.writes() > 0) {
    const int cpus = use.writing_cpus();
    text = fmt::format("written{} by {} CPU{}", functions_text(use.writers), cpus, cpus == 1 ? "" : "s");
  }
  if (use.reads() > 0) text += fmt::format("{}read{}", text.empty() ? "" : ", ", functions_text(use.readers));
  return text.empty() ? "not touched" : text;
}

}  // namespace linebounce::sim
