// An object of a layout, for programs whose structures are data: where each field stands, wherever the layout has put it.
#pragma once

#include <optional>
#include <string>

#include "models/core/cpu.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// Where a field stands in any object of its structure.
struct FieldPlace {
  int offset = 0;  // bytes, in its section
  int size = 8;
  Section section = Section::own;
};
// By its name, or by what it is a part of: all of "wait" where there are "wait.next" and "wait.prev".
// Errors: std::invalid_argument, with the names that there are.
FieldPlace field_of(const Layout& layout, const std::string& field);

// The same for a list's head or entry: NAME.next, with NAME.prev right behind it. Errors: also if it isn't there.
FieldPlace list_field_of(const Layout& layout, const std::string& name);

class Object {
 public:
  Object() = default;

  // Of this CPU's copy, if the layout gives each CPU one.
  [[nodiscard]] Address at(const FieldPlace& field, int cpu) const {
    switch (field.section) {
      case Section::read_mostly: return read_mostly_ + static_cast<Address>(field.offset);
      case Section::per_cpu: return per_cpu_ + static_cast<Address>(cpu) * stride_ + static_cast<Address>(field.offset);
      case Section::own: break;
    }
    return own_ + static_cast<Address>(field.offset);
  }
  [[nodiscard]] Address at(const FieldPlace& field, const Cpu& cpu) const { return at(field, cpu.id().value); }

  // The field's whole word, of at most 8 bytes.
  Value load(Cpu& cpu, const FieldPlace& field) const { return cpu.load(at(field, cpu), field.size); }
  // Two fields whose loads stand in one bundle of instructions.
  Cpu::Pair load_pair(Cpu& cpu, const FieldPlace& first, const FieldPlace& second) const {
    const Cpu::Word one = {at(first, cpu), first.size};
    return cpu.load_pair(one, {at(second, cpu), second.size});
  }
  void store(Cpu& cpu, const FieldPlace& field, Value value) const { cpu.store(at(field, cpu), value, field.size); }
  void add(Cpu& cpu, const FieldPlace& field, Value addend) const { store(cpu, field, load(cpu, field) + addend); }
  Value fetch_add(Cpu& cpu, const FieldPlace& field, Value addend) const {
    return cpu.fetch_add(at(field, cpu), addend, field.size);
  }

  // Where the object itself begins: what a pointer to it holds.
  [[nodiscard]] Address address() const { return own_; }
  friend bool operator==(const Object&, const Object&) = default;

 private:
  friend Object place_object(AddressSpace& memory, const Layout& layout, const std::string& name, const MachineLayout& machine,
                             std::optional<Home> home);
  Address own_ = 0, read_mostly_ = 0, per_cpu_ = 0;
  Address stride_ = 0;
};

// Places an object behind all others. What its layout has moved to other sections becomes objects of its own, on lines of
// their own: "rq[3].read_mostly" of structure "rq.read_mostly", and "rq[3].cpu[0]" of "rq.per_cpu" on the CPU's node.
Object place_object(AddressSpace& memory, const Layout& layout, const std::string& name, const MachineLayout& machine,
                    std::optional<Home> home = {});

}  // namespace linebounce::workloads
