// The recorded program's files: which function an address is in, where in the source, and the debug information.
#pragma once

#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace linebounce::record {

// A place in the source: of an address, and of each call that was inlined there, the innermost first.
struct SourcePlace {
  std::string function{};  // without parameters: "Table::insert"
  std::string file{};
  int line = 0, column = 0;  // the first is 1; 0: not known
  Dwarf_Die scope{};         // of the function
  Dwarf_Die unit{};
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
  // How the end of a function's frame follows from its registers at that address; empty: that is not told.
  std::vector<Dwarf_Op> frame_end_rule(std::uint64_t return_address);
  // The code from that address to the end of its section; empty: not in a file.
  std::span<const std::uint8_t> code(std::uint64_t address);
  // That the address is in; of no bytes: none.
  NamedMemory symbol(std::uint64_t address);
  // The name of the file that is mapped there, without folder; empty: none.
  std::string file_name(std::uint64_t address);

  // The files that are mapped.
  [[nodiscard]] std::vector<Dwfl_Module*> modules() const;

  // Compilation units with debug information, of all files; look_again adds to the end.
  struct Unit {
    Dwarf_Die entry{};
    std::uint64_t bias = 0;  // of its addresses
  };
  [[nodiscard]] const std::vector<Unit>& units() const { return units_; }

 private:
  struct Close {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  // dwfl_addrmodule knows only what is mapped from the file, not variables that begin as zeros.
  void find_segments();
  [[nodiscard]] Dwfl_Module* module_at(std::uint64_t address) const;
  void find_units();
  void add_unit(const Dwarf_Die& entry, std::uint64_t bias);
  const Unit* unit_at(std::uint64_t address) const;

  pid_t process_;
  std::unique_ptr<Dwfl, Close> session_;
  std::unordered_map<std::uint64_t, std::string> functions_;
  struct Segment {
    std::uint64_t end = 0;
    Dwfl_Module* module = nullptr;
  };
  std::map<std::uint64_t, Segment> segments_;  // by where they begin
  std::vector<Unit> units_;
  std::set<std::uint64_t> biases_;  // of the files whose units are known
  struct Range {
    std::uint64_t end = 0;
    std::size_t unit = 0;
  };
  std::map<std::uint64_t, Range> ranges_;  // by where they begin
};

// Of a function's entry, also of one that was inlined: "Table::insert".
std::string function_of_scope(Dwarf_Die& scope);

// A file's whole path: compilers name those that they were given below the folder where they ran.
std::string whole_path(Dwarf_Die& unit, const char* file);

// DW_AT_name, also of what a declaration elsewhere names; empty: none.
std::string name_of(Dwarf_Die& die);

}  // namespace linebounce::record
