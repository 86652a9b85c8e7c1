// An object whose layout is read from data, such as a layout file. Programs access its fields by name, whatever sections the
// layout puts them in.
#pragma once

#include <optional>
#include <string>

#include "models/core/cpu.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// Where a field lies in every object of its structure.
struct FieldPlace {
  int offset = 0;  // bytes from the start of the field's section
  int size = 8;
  Section section = Section::own;
};
// Finds a field by its own name or its group's name: "wait" covers "wait.next" and "wait.prev". Errors: std::invalid_argument,
// which lists the known names.
FieldPlace field_of(const Layout& layout, const std::string& field);

// Finds the two pointers of a list's head or entry, and returns the first: NAME.next, with NAME.prev right after it. Errors: as
// for field_of(), also if NAME.prev is not right after NAME.next.
FieldPlace list_field_of(const Layout& layout, const std::string& name);

class Object {
 public:
  Object() = default;
  explicit Object(Address own) : own_(own) {}  // all its fields are in the section `own`

  // Returns the field's address. A per-CPU field's is that of `cpu`'s copy.
  [[nodiscard]] Address at(const FieldPlace& field, int cpu) const {
    switch (field.section) {
      case Section::read_mostly: return read_mostly_ + static_cast<Address>(field.offset);
      case Section::per_cpu: return per_cpu_ + static_cast<Address>(cpu) * stride_ + static_cast<Address>(field.offset);
      case Section::own: break;
    }
    return own_ + static_cast<Address>(field.offset);
  }
  [[nodiscard]] Address at(const FieldPlace& field, const Cpu& cpu) const { return at(field, cpu.id().value); }

  // Loads the whole field. REQUIRES: at most 8 bytes.
  Value load(Cpu& cpu, const FieldPlace& field) const { return cpu.load(at(field, cpu), field.size); }
  // Loads two fields with Cpu::load_pair().
  Cpu::Pair load_pair(Cpu& cpu, const FieldPlace& first, const FieldPlace& second) const {
    const Cpu::Word one = {at(first, cpu), first.size};
    return cpu.load_pair(one, {at(second, cpu), second.size});
  }
  void store(Cpu& cpu, const FieldPlace& field, Value value) const { cpu.store(at(field, cpu), value, field.size); }
  void add(Cpu& cpu, const FieldPlace& field, Value addend) const { store(cpu, field, load(cpu, field) + addend); }
  Value fetch_add(Cpu& cpu, const FieldPlace& field, Value addend) const {
    return cpu.fetch_add(at(field, cpu), addend, field.size);
  }

  // The address of the section `own`, which stands for the object in pointers.
  [[nodiscard]] Address address() const { return own_; }
  friend bool operator==(const Object&, const Object&) = default;

 private:
  friend Object place_object(AddressSpace& memory, const Layout& layout, const std::string& name, const MachineLayout& machine,
                             std::optional<Home> home);
  Address own_ = 0, read_mostly_ = 0, per_cpu_ = 0;
  Address stride_ = 0;
};

// True if all fields are in the section `own`, as in most layouts.
bool is_in_one_section(const Layout& layout);

// Places an object after all others. Sections other than `own` become separate objects on separate lines. An object "rq[3]" of
// structure "rq" gets "rq[3].read_mostly" of structure "rq.read_mostly", and for each CPU "rq[3].cpu[0]", ... of structure
// "rq.per_cpu", homed at the CPU's node.
Object place_object(AddressSpace& memory, const Layout& layout, const std::string& name, const MachineLayout& machine,
                    std::optional<Home> home = {});

}  // namespace linebounce::workloads
