#include "sim/simulation/table_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/text/spelling.hpp"
#include "sim/config/config_error.hpp"

namespace linebounce {

namespace {

std::string choice_text(const std::string& word, const std::vector<std::string>& names) {
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (const std::string near = nearest(word, names); !near.empty()) text += "; did you mean " + near + "?";
  return text;
}

[[noreturn]] void refuse(const MeasuredTable& table, const AddressSpace& memory) {
  std::vector<std::string> structures;
  std::vector<std::string> fields;
  for (const Layout& layout : memory.layouts()) {
    if (layout.fields.empty()) continue;
    structures.push_back(layout.name);
    for (const Field& field : layout.fields) {
      if (layout.name == table.structure) fields.push_back(field.name);
    }
  }
  if (!fields.empty()) {
    throw ConfigError(fmt::format("table {}: structure {} has no field {}; it has: {}", table.id, table.structure, table.field,
                                  choice_text(table.field, fields)));
  }
  throw ConfigError(fmt::format("table {}: the workload has no object of structure {}; its structures: {}", table.id,
                                table.structure, choice_text(table.structure, structures)));
}

}  // namespace

std::vector<PlacedTable> place_tables(const std::vector<MeasuredTable>& tables, const AddressSpace& memory,
                                      const LineStore& store, const Homes& homes) {
  std::vector<PlacedTable> placed;
  for (const MeasuredTable& table : tables) {
    PlacedTable& place = placed.emplace_back(PlacedTable{&table, {}});
    for (const Address address : memory.addresses_of(table.structure, table.field)) {
      place.lines.push_back(store.line_of(address).value);
    }
    if (place.lines.empty()) refuse(table, memory);
    if (!table.home) continue;
    std::erase_if(place.lines, [&](LineNumber line) { return homes.peek(LineAddr(line)) != *table.home; });
    if (place.lines.empty()) {
      throw ConfigError(fmt::format("table {}: no {} has its home on node {}", table.id, table.structure, *table.home));
    }
  }
  return placed;
}

}  // namespace linebounce
