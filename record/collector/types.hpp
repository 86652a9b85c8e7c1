// Layouts of C and C++ types, from debug information.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/symbols.hpp"

namespace linebounce::record {

struct Type {
  std::string name{};  // "bucket"; empty: it has none
  std::int64_t bytes = 0;
  int alignment = 1;
  bool is_union = false;
  // For structures and classes: the members, bases' first, with their offsets.
  struct Member {
    std::string name;  // empty: a base, or a member without name
    std::int64_t offset = 0;
    const Type* type = nullptr;
    Dwarf_Die entry{};
  };
  std::vector<Member> members{};
  // For arrays.
  const Type* element = nullptr;
  std::int64_t elements = 0;

  std::string source{};  // where a structure or class is defined: "/src/queue.h:12"; empty: unknown

  // For structures and classes: whether C++ runs code when one of them is destroyed.
  bool has_destructor = false;

  [[nodiscard]] bool has_members() const { return !members.empty() && !is_union; }
};

class Types {
 public:
  // The type that DW_AT_type names for a variable, member or parameter, without qualifiers and typedefs. nullptr if there is
  // none, or if it is incomplete.
  const Type* of(Dwarf_Die& die);
  // The type of a C expression: a variable, then steps. kElement steps to a pointer's target or an array's element. Any other
  // step is a member's name, of a structure or of a pointer's target. nullptr if the expression has no type.
  static constexpr const char* kElement = "*";
  const Type* reached(const Dwarf_Die& variable, const std::vector<std::string>& steps);
  // The type with this entry.
  const Type* read(Dwarf_Die& type);

  // A complete structure, class or typedef of that name; nullptr if none has been read. note_types_of() notes all types of a
  // unit.
  const Type* named(const std::string& name);
  // The names of the complete structures and classes, sorted.
  [[nodiscard]] std::vector<std::string> structure_names() const;
  void note_types_of(Dwarf_Die& unit);

 private:
  void read_structure(Dwarf_Die& die, Type& type);
  void read_array(Dwarf_Die& die, Type& type);

  std::unordered_map<const void*, std::unique_ptr<Type>> types_;  // by the entry's address
  // Typedefs by name, over all units. They are apart from structures_, because one unit may have a typedef with the name of a
  // structure that the unit only declares.
  std::unordered_map<std::string, Dwarf_Die> structures_;  // complete ones
  std::unordered_map<std::string, Dwarf_Die> other_names_;
};

// Where it is declared: "/src/queue.c:40"; empty: unknown.
std::string declared_at(Dwarf_Die& die);

// The type's fields for a trace. Nested structures and short arrays are expanded ("list.next", "lock[3]") unless there are
// too many. A scalar or a long array of scalars has no fields. In a layout, an array of bytes is one field, and a nameless
// union has only its largest member.
enum class FieldsFor : std::uint8_t { trace, layout };
std::vector<trace::Field> fields_of(const Type& type, FieldsFor use = FieldsFor::trace);

// How the source names the part that begins at this offset: "[33]", ".locks[3].mutex"; "+5" if the type has no name for it. The
// inside of the C and C++ libraries' types is not named. REQUIRES: 0 <= offset.
std::string path_in(const Type& type, std::int64_t offset);

}  // namespace linebounce::record
