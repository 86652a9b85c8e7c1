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
  // For structures and classes: the members with their offsets. Those of base classes come first.
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

  // For structures and classes: whether destroying an object runs C++ code.
  bool has_destructor = false;

  [[nodiscard]] bool has_members() const { return !members.empty() && !is_union; }
};

class Types {
 public:
  // The type of a variable, member or parameter (its DW_AT_type), without qualifiers and typedefs. nullptr if it has none or
  // the type is incomplete.
  const Type* of(Dwarf_Die& die);
  // The type of a C expression: a variable, followed by steps. kElement steps from a pointer to its target or from an array to
  // its element. Any other step is the name of a member of a structure, or of the structure that a pointer points to. nullptr
  // if the expression has no type.
  static constexpr const char* kElement = "*";
  const Type* reached(const Dwarf_Die& variable, const std::vector<std::string>& steps);
  // The type that this entry describes.
  const Type* read(Dwarf_Die& type);

  // A complete structure, class or typedef of that name; nullptr if none has been read. note_types_of() makes all types of a
  // unit known.
  const Type* named(const std::string& name);
  // The names of the complete structures and classes, sorted.
  [[nodiscard]] std::vector<std::string> structure_names() const;
  // The same for a name with its namespaces and classes, "ns::Job".
  const Type* qualified(const std::string& name);
  // The complete structures that are called so, with their namespaces and classes, sorted.
  [[nodiscard]] std::vector<std::string> qualified_names(const std::string& name) const;
  void note_types_of(Dwarf_Die& unit) { note_types_of(unit, ""); }

 private:
  void note_types_of(Dwarf_Die& scope, const std::string& before);  // `before`: the scope's name, "ns::"
  void read_structure(Dwarf_Die& die, Type& type);
  void read_array(Dwarf_Die& die, Type& type);

  std::unordered_map<const void*, std::unique_ptr<Type>> types_;  // by the entry's address
  // Typedefs by name, over all units. Kept apart from structures_, because a unit may have a typedef with the same name as a
  // structure that it only declares.
  std::unordered_map<std::string, Dwarf_Die> structures_;  // complete ones
  std::unordered_map<std::string, Dwarf_Die> other_names_;
  std::unordered_map<std::string, Dwarf_Die> qualified_;  // complete structures, by "ns::Job"; by "Job" outside all namespaces
};

// Where the entry is declared: "/src/queue.c:40"; empty: unknown.
std::string declared_at(Dwarf_Die& die);

// The type's fields for a trace. Nested structures and short arrays are expanded ("list.next", "lock[3]") unless there are
// too many. A scalar or a long array of scalars has no fields. In a layout, an array of bytes is one field, and a nameless
// union has only its largest member.
enum class FieldsFor : std::uint8_t { trace, layout };
std::vector<trace::Field> fields_of(const Type& type, FieldsFor use = FieldsFor::trace);

// The name in source syntax of the part at this offset: "[33]", ".locks[3].mutex"; "+5" if the type has no name for it. Does
// not name the internals of C and C++ library types. REQUIRES: offset >= 0.
std::string path_in(const Type& type, std::int64_t offset);

}  // namespace linebounce::record
