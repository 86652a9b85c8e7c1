#include "workloads/program/object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "workloads/program/layout_set.hpp"

namespace linebounce::workloads {
namespace {

bool has(const Layout& layout, Section section) {
  return std::ranges::any_of(layout.fields, [section](const Field& field) { return field.section == section; });
}

// Returns one section of `layout` as a separate layout of whole lines.
Layout part_of(const Layout& layout, Section section, const std::string& suffix, int line_bytes) {
  Layout part{.name = layout.name + suffix, .alignment = line_bytes, .fields = {}, .subsystem = layout.subsystem};
  for (const Field& field : layout.fields) {
    if (field.section != section) continue;
    part.fields.push_back(field);
    part.size = std::max(part.size, field.offset + field.size);
  }
  part.size = (part.size + line_bytes - 1) / line_bytes * line_bytes;
  return part;
}

}  // namespace

FieldPlace field_of(const Layout& layout, const std::string& field) {
  std::optional<FieldPlace> whole;
  for (const Field& candidate : layout.fields) {
    if (is_called(candidate.name, field)) return {candidate.offset, candidate.size, candidate.section};
    if (group_of(candidate.name) != field) continue;
    if (!whole) whole = FieldPlace{candidate.offset, 0, candidate.section};
    const int end = std::max(whole->offset + whole->size, candidate.offset + candidate.size);
    whole->offset = std::min(whole->offset, candidate.offset);
    whole->size = end - whole->offset;
  }
  if (whole) return *whole;
  std::string names;
  for (const Field& known : layout.fields) names += (names.empty() ? "" : ", ") + known.name;
  throw std::invalid_argument(
      fmt::format("workload.layout: structure {} has no field {}; it has: {}", layout.name, field, names));
}

FieldPlace list_field_of(const Layout& layout, const std::string& name) {
  const FieldPlace next = field_of(layout, name + ".next");
  const FieldPlace previous = field_of(layout, name + ".prev");
  if (next.section != previous.section || previous.offset != next.offset + next.size) {
    throw std::invalid_argument(fmt::format(
        "workload.layout: {}.{}.prev must stand right behind {}.next, as in every list_head", layout.name, name, name));
  }
  return next;
}

bool is_in_one_section(const Layout& layout) {
  return !has(layout, Section::read_mostly) && !has(layout, Section::per_cpu);
}

Object place_object(AddressSpace& memory, const Layout& layout, const std::string& name, const MachineLayout& machine,
                    std::optional<Home> home) {
  if (is_in_one_section(layout)) return Object(memory.place(layout, name, 0, home));
  const int line = memory.line_bytes();
  Layout own = layout;
  std::erase_if(own.fields, [](const Field& field) { return field.section != Section::own; });
  Object object(memory.place(own, name, 0, home));
  if (has(layout, Section::read_mostly)) {
    const Layout part = part_of(layout, Section::read_mostly, ".read_mostly", line);
    object.read_mostly_ = memory.place(part, name + ".read_mostly", 0, home);
  }
  if (!has(layout, Section::per_cpu)) return object;
  const Layout part = part_of(layout, Section::per_cpu, ".per_cpu", line);
  for (int cpu = 0; cpu < static_cast<int>(machine.cpus.size()); ++cpu) {
    const Home near = Home::near(machine.cpus[cpu]);
    const Address copy = memory.place(part, fmt::format("{}.cpu[{}]", name, cpu), 0, near);
    if (cpu == 0) object.per_cpu_ = copy;
    object.stride_ = static_cast<Address>(part.size);
    if (copy == object.per_cpu_ + static_cast<Address>(cpu) * object.stride_) continue;
    throw std::invalid_argument(fmt::format(
        "placement: the parts of {} for each CPU lie one behind the other: give {}.cpu[{}] a node, not a policy that "
        "begins a page",
        name, name, cpu));
  }
  return object;
}

}  // namespace linebounce::workloads
