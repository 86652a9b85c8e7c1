#include "workloads/program/layout_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "workloads/program/object.hpp"

namespace linebounce::workloads {

const Layout& LayoutSet::find(const std::string& structure) const {
  const auto found = layouts_.find(structure);
  if (found != layouts_.end()) return found->second;
  std::string names;
  for (const auto& [name, layout] : layouts_) names += (names.empty() ? "" : ", ") + name;
  throw std::invalid_argument(fmt::format("workload.layout: the file has no structure {}; it has: {}", structure, names));
}

std::string group_of(const std::string& field) {
  return field.substr(0, field.find_first_of(".[+"));
}

bool is_called(const std::string& field, const std::string& name) {
  if (field == name) return true;
  for (std::size_t begin = 0; begin < field.size();) {
    const std::size_t end = std::min(field.find('|', begin), field.size());
    if (field.compare(begin, end - begin, name) == 0) return true;
    begin = end + 1;
  }
  return false;
}

Address offset_of(const Layout& layout, const std::string& field) {
  const FieldPlace place = field_of(layout, field);
  if (place.section == Section::own) return static_cast<Address>(place.offset);
  const auto moved = std::ranges::find_if(layout.fields, [&](const Field& candidate) {
    return is_called(candidate.name, field) || group_of(candidate.name) == field;
  });
  const char* key = place.section == Section::per_cpu ? "per_cpu" : "read_mostly";
  throw std::invalid_argument(
      fmt::format("{}: layout.change.{}: this workload keeps the fields of a {} together in the object: {} cannot be moved out "
                  "of it; legal here: order, split, align_bytes, base_offset_bytes",
                  moved->moved_at, key, layout.name, field));
}

}  // namespace linebounce::workloads
