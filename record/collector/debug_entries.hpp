// Attributes of debug information's entries that describe types.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

namespace linebounce::record {

// Where the entry is declared: "/src/queue.c:40"; empty: unknown.
std::string declared_at(Dwarf_Die& die);

// The entry that its DW_AT_type names. Returns false if it has none.
bool type_entry(Dwarf_Die& die, Dwarf_Die& type);

// The entry that another attribute names, such as DW_AT_specification.
bool entry_of(Dwarf_Die& die, unsigned attribute, Dwarf_Die& other);

// Goes on to the entry's next sibling. Returns false if it has none, or if damaged information puts it in front of this one: a
// loop over the siblings would not end.
bool next_sibling(Dwarf_Die& entry);

// A constant; none if the entry lacks the attribute, or has an expression or a value beyond 2^40.
std::optional<std::int64_t> constant_of(Dwarf_Die& die, unsigned attribute);

bool is_structure(int tag);  // of a structure, class or union

// A type without typedefs and qualifiers.
struct PeeledType {
  Dwarf_Die entry{};
  Dwarf_Die alias{};           // the outermost typedef; its addr is nullptr if there is none
  std::int64_t alignment = 0;  // that a typedef demands, in bytes; 0: none
};
// None if a typedef has no type (void), or refers to itself.
std::optional<PeeledType> peeled(const Dwarf_Die& type);

}  // namespace linebounce::record
