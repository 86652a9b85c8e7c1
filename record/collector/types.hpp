// The layouts of C and C++ types, from debug information.
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
  // Of structures and classes: members, bases' first, each where it is.
  struct Member {
    std::string name;  // empty: a base, or a member without name
    std::int64_t offset = 0;
    const Type* type = nullptr;
    Dwarf_Die entry{};
  };
  std::vector<Member> members{};
  // Of arrays.
  const Type* element = nullptr;
  std::int64_t elements = 0;

  std::string source{};  // where a structure or class is defined: "/src/queue.h:12"; empty: not known

  // Of structures and classes: C++ runs something when one of them ends.
  bool has_destructor = false;

  [[nodiscard]] bool has_members() const { return !members.empty() && !is_union; }
};

class Types {
 public:
  // The type that the attribute DW_AT_type of a variable, member or parameter names, without qualifiers and typedefs; nullptr:
  // it has none, or it is not complete.
  const Type* of(Dwarf_Die& die);
  // What an expression of C that begins with a variable comes to; nullptr: nothing. A step is kElement, for what a pointer
  // points to or an array consists of, or the name of a member, of a structure or of what a pointer points to.
  static constexpr const char* kElement = "*";
  const Type* reached(const Dwarf_Die& variable, const std::vector<std::string>& steps);
  // A type's own entry.
  const Type* read(Dwarf_Die& type);

  // A complete structure, class or typedef of that name; nullptr: none has been read. Those of all units are noted.
  const Type* named(const std::string& name);
  void note_types_of(Dwarf_Die& unit);

 private:
  void read_structure(Dwarf_Die& die, Type& type);
  void read_array(Dwarf_Die& die, Type& type);

  std::unordered_map<const void*, std::unique_ptr<Type>> types_;  // by the entry's address
  // By name, of all units. Apart, because one unit's typedef may have the name of a structure that it only declares.
  std::unordered_map<std::string, Dwarf_Die> structures_;  // complete ones
  std::unordered_map<std::string, Dwarf_Die> other_names_;
};

// Where it is declared: "/src/queue.c:40"; empty: not known.
std::string declared_at(Dwarf_Die& die);

// Its fields as a trace has them: nested structures and short arrays are taken apart ("list.next", "lock[3]"), as long as there
// are not too many. Empty: a scalar, or a long array of scalars.
std::vector<trace::Field> fields_of(const Type& type);

// How the source reaches what begins at that byte of it: "[33]", ".locks[3].mutex"; "+5" where the type has no name for it.
// What is inside the C library's and the C++ library's types is not told. REQUIRES: 0 <= offset.
std::string path_in(const Type& type, std::int64_t offset);

}  // namespace linebounce::record
