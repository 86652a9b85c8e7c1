#include "workloads/program/layout_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "workloads/program/object.hpp"

namespace linebounce {

const Layout& LayoutSet::find(const std::string& structure) const {
  const auto found = layouts_.find(structure);
  if (found != layouts_.end()) return found->second;
  std::string names;
  for (const auto& [name, layout] : layouts_) names += (names.empty() ? "" : ", ") + name;
  throw std::invalid_argument(fmt::format("workload.layout: the file has no structure {}; it has: {}", structure, names));
}

std::string group_of(const std::string& field) {
  return field.substr(0, field.find_first_of(".["));
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
  throw std::invalid_argument(
      fmt::format("layout.change: this workload keeps the fields of a {} together in the object: {} cannot be per_cpu or "
                  "read_mostly here",
                  layout.name, field));
}

}  // namespace linebounce
