#include "sim/simulation/table_places.hpp"

#include <set>

#include "sim/config/settings.hpp"
#include "sim/config/suggestions.hpp"

namespace linebounce::sim {
namespace {

// All layouts with fields. An array without fields has no line that a table could describe.
std::vector<Layout> known_layouts(const LayoutSet& declared, const AddressSpace& memory) {
  std::vector<Layout> known;
  for (const auto& [name, layout] : declared.all()) known.push_back(layout);
  known.insert(known.end(), memory.layouts().begin(), memory.layouts().end());
  std::erase_if(known, [](const Layout& layout) { return layout.fields.empty(); });
  return known;
}

void require_known(const MeasuredTable& table, const LayoutSet& declared, const AddressSpace& memory) {
  std::set<std::string> structures;
  std::set<std::string> fields;
  for (const Layout& layout : known_layouts(declared, memory)) {
    structures.insert(layout.name);
    if (!is_part_of(layout.name, table.structure)) continue;
    for (const Field& field : layout.fields) fields.insert(field.name);
  }
  if (fields.empty())
    fail(Origin{table.places.structure}, "table.structure",
         "the structure " + not_known(table.structure, {structures.begin(), structures.end()}));
  if (!fields.contains(table.field))
    fail(Origin{table.places.field}, "table.field",
         "structure " + table.structure + ": the field " + not_known(table.field, {fields.begin(), fields.end()}));
}

}  // namespace

std::vector<PlacedTable> place_tables(const std::vector<MeasuredTable>& tables, const LayoutSet& declared,
                                      const AddressSpace& memory, const LineStore& store, const Homes& homes) {
  std::vector<PlacedTable> placed;
  for (const MeasuredTable& table : tables) {
    require_known(table, declared, memory);
    PlacedTable& place = placed.emplace_back(PlacedTable{&table, {}});
    for (const Address address : memory.addresses_of(table.structure, table.field)) {
      const LineAddr line = store.line_of(address);
      if (!table.home || homes.peek(line) == *table.home) place.lines.push_back(line.value);
    }
  }
  return placed;
}

}  // namespace linebounce::sim
