// Looks up addresses in the recorded program's files: function, source position and debug information.
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

// A source position. Inlining gives an address several: its own and that of each inlined call around it.
struct SourcePlace {
  std::string function{};  // without parameters: "Table::insert"
  std::string file{};
  int line = 0, column = 0;  // counted from 1; 0: unknown
  Dwarf_Die scope{};         // of the function
  Dwarf_Die unit{};
};

// An object known only from a symbol table, because its library has no debug information.
struct NamedMemory {
  std::string name;
  std::uint64_t address = 0, bytes = 0;
};

class ProgramImage {
 public:
  // Reads the process's mappings at once, and each file on first use.
  explicit ProgramImage(pid_t process);
  // Adds files that the process has loaded since the last call.
  void look_again();

  // "insert". For an address in no known function: the file's name, "libfoo.so.1", or "?".
  std::string function(std::uint64_t address);
  // Positions of the call that returns to this address, the innermost inlined function first. Empty without debug information.
  std::vector<SourcePlace> source_places(std::uint64_t return_address);
  // The expression that computes the end of a function's frame from the registers at this address; empty if unknown.
  std::vector<Dwarf_Op> frame_end_rule(std::uint64_t return_address);
  // The code from this address to the end of its section; empty if no file is mapped there.
  std::span<const std::uint8_t> code(std::uint64_t address);
  // The symbol that contains the address; `bytes` is 0 if there is none.
  NamedMemory symbol(std::uint64_t address);
  // The name, without folder, of the file that is mapped at the address; empty if there is none.
  std::string file_name(std::uint64_t address);

  // The mapped files.
  [[nodiscard]] std::vector<Dwfl_Module*> modules() const;

  // All compilation units with debug information, of all files. look_again() appends new ones.
  struct Unit {
    Dwarf_Die entry{};
    Dwarf_Die tree{};        // the same, or the split unit that has the entries below it
    std::uint64_t bias = 0;  // offset of its addresses
  };
  [[nodiscard]] const std::vector<Unit>& units() const { return units_; }

 private:
  struct Close {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  // dwfl_addrmodule knows only memory that is mapped from a file. These segments also contain zero-initialised variables.
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
  std::map<std::uint64_t, Segment> segments_;  // by start address
  std::vector<Unit> units_;
  std::set<std::uint64_t> biases_;  // load biases of the files whose units are in units_
  struct Range {
    std::uint64_t end = 0;
    std::size_t unit = 0;
  };
  std::map<std::uint64_t, Range> ranges_;  // by start address
};

// The name of a function's entry, which may be an inlined instance: "Table::insert".
std::string function_of_scope(Dwarf_Die& scope);

// A file's absolute path. Compilers record paths relative to the folder in which they ran.
std::string whole_path(Dwarf_Die& unit, const char* file);

// The entry's DW_AT_name, or that of the declaration that it refers to; empty if it has none.
std::string name_of(Dwarf_Die& die);

}  // namespace linebounce::record
