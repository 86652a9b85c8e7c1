// The recorded program's files: which function an address is in, where in the source, and the debug information.
#pragma once

#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace linebounce::record {

// A place in the source: of an address, and of each call that was inlined there, the innermost first.
struct SourcePlace {
  std::string function;  // without parameters: "Table::insert"
  std::string file;
  int line = 0;
  Dwarf_Die scope{};  // of the function
};

// An object that only the symbol table knows: of a library without debug information.
struct NamedMemory {
  std::string name;
  std::uint64_t address = 0, bytes = 0;
};

class ProgramImage {
 public:
  // What the process has mapped now. Files are read when they are asked for.
  explicit ProgramImage(pid_t process);
  // What it has loaded since then.
  void look_again();

  // "insert"; for an address in no function that is known: "libfoo.so.1" or "?".
  std::string function(std::uint64_t address);
  // Of the instruction before a return address. Empty: no debug information.
  std::vector<SourcePlace> source_places(std::uint64_t return_address);
  // Of a compilation unit that holds the address; nullptr: none.
  NamedMemory symbol(std::uint64_t address);
  // The name of the file that is mapped there, without folder; empty: none.
  std::string file_name(std::uint64_t address);

  // Calls it once for each compilation unit of each file that has debug information, now or after look_again.
  void for_new_units(const std::function<void(Dwarf_Die& unit, std::uint64_t bias)>& visit);

 private:
  struct Close {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  pid_t process_;
  std::unique_ptr<Dwfl, Close> session_;
  std::unordered_map<std::uint64_t, std::string> functions_;
  std::vector<std::uint64_t> modules_seen_;  // where they start
};

// "Table::insert(int) const" -> "Table::insert"; "walk.isra.0" -> "walk".
std::string short_function_name(const std::string& linker_name);

// DW_AT_name, also of what a declaration elsewhere names; empty: none.
std::string name_of(Dwarf_Die& die);

}  // namespace linebounce::record
