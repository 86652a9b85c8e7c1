// Types from debug information: finds them by name, and resolves declarations. type_reader.hpp reads a single one.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "record/collector/virtual_bases.hpp"
#include "types/type.hpp"

namespace linebounce::record {

using types::Type;
using types::TypePtr;

class Types {
 public:
  // Makes the types of all units known: compilation units, type units, and the split units that libdw finds. `program`: the
  // file that has the vtables, which may differ from the one with the debug information. May be called again for the same file.
  void note_types_of(Dwarf* information, Elf* program);

  // The type of a variable, member or parameter (its DW_AT_type), without qualifiers and typedefs. nullptr if it has none or
  // the type is incomplete.
  const Type* of(Dwarf_Die& die) { return shared_of(die).get(); }
  TypePtr shared_of(Dwarf_Die& die);
  // The type of a C expression: a variable, followed by steps. kElement steps from a pointer to its target or from an array to
  // its element. Any other step is the name of a member of a structure, or of the structure that a pointer points to. nullptr
  // if the expression has no type.
  static constexpr const char* kElement = "*";
  const Type* reached(const Dwarf_Die& variable, const std::vector<std::string>& steps);

  // A complete structure, class, typedef or scalar by its name in a source, in a function of that name ("db::Table::insert"):
  // looked up in the namespaces and classes around the function, then, if only one type is called so, anywhere. nullptr if none
  // is found.
  const Type* named(const std::string& name, const std::string& function = "");

  // The complete structures of that name with its namespaces and classes ("ns::Job"), which differ in their layout; a typedef's
  // structure if there is none.
  std::vector<const Type*> qualified(const std::string& name);
  // The complete structures' qualified names that end with this name, sorted; for "", all.
  [[nodiscard]] std::vector<std::string> qualified_names(const std::string& name) const;
  // Whether the program's debug information leaves types out, as with -g1: main() has no type, in C or C++.
  [[nodiscard]] bool are_left_out() const { return are_left_out_; }
  // True if clang or rustc has compiled a part of the program.
  [[nodiscard]] bool has_code_of_llvm() const { return has_code_of_llvm_; }
  // Files of split units that could not be read.
  [[nodiscard]] const std::vector<std::string>& missing_files() const { return missing_files_; }

  // ---- for the reader of a structure ----
  // The type that this entry describes.
  TypePtr read(const Dwarf_Die& type);
  // The entry's name with its namespaces and classes.
  std::string qualified_name(Dwarf_Die& die) const;
  // The complete definition of a declaration. Returns false if there is none, or several that differ.
  bool complete(Dwarf_Die& die) const;
  VirtualBases& virtual_bases_of(Dwarf_Die& die);
  [[nodiscard]] bool is_variant(Dwarf_Die& die) const { return variants_.contains(die.addr); }

 private:
  void note_units_of(Dwarf* information, const std::shared_ptr<VirtualBases>& bases);
  void note_types_in(Dwarf_Die& scope, const std::string& before, int depth);  // `before`: the scope's name, "ns::"
  void note_type(Dwarf_Die& die, const std::string& before, int depth);
  [[nodiscard]] const std::string* only_name(const std::string& name) const;
  const Type* exactly(const std::string& name);

  std::unordered_map<const void*, TypePtr> types_;  // by the entry's address
  // Complete structures by qualified name, over all units; and typedefs and scalars. They are apart, because a unit may have a
  // typedef with the name of a structure that it only declares.
  std::unordered_map<std::string, std::vector<Dwarf_Die>> structures_;
  std::unordered_map<std::string, Dwarf_Die> other_names_;
  std::unordered_map<std::string, std::vector<std::string>> by_last_name_;  // qualified names, by "Job"
  std::unordered_map<const void*, std::string> scopes_;                     // "ns::", by the address of a type's entry
  std::unordered_set<const void*> variants_;                                // structures that are variants of the one around
  std::map<Dwarf*, std::shared_ptr<VirtualBases>> virtual_bases_;
  std::vector<std::string> missing_files_;
  bool are_left_out_ = false;
  const void* last_noted_ = nullptr;  // the last entry of a unit that note_types_in() has reached
  bool has_code_of_llvm_ = false;
  int depth_ = 0;  // of read()
};

}  // namespace linebounce::record
