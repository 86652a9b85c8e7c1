// The recorded program's files: the function at an address, its place in the source, and the debug information.
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

// The place in the source of an address and of each call that was inlined there, the innermost first.
struct SourcePlace {
  std::string function{};  // without parameters: "Table::insert"
  std::string file{};
  int line = 0, column = 0;  // counted from 1; 0: unknown
  Dwarf_Die scope{};         // of the function
  Dwarf_Die unit{};
};

// An object that only the symbol table knows, of a library without debug information.
struct NamedMemory {
  std::string name;
  std::uint64_t address = 0, bytes = 0;
};

class ProgramImage {
 public:
  // The process's mappings are read now; a file is read when it is first needed.
  explicit ProgramImage(pid_t process);
  // Adds what the process has loaded since then.
  void look_again();

  // "insert"; for an address in no known function, "libfoo.so.1" or "?".
  std::string function(std::uint64_t address);
  // For a return address: where in the source its call is. Empty without debug information.
  std::vector<SourcePlace> source_places(std::uint64_t return_address);
  // The rule by which the end of a function's frame follows from its registers at that address; empty if there is none.
  std::vector<Dwarf_Op> frame_end_rule(std::uint64_t return_address);
  // The code from that address to the end of its section; empty if it is in no file.
  std::span<const std::uint8_t> code(std::uint64_t address);
  // The symbol that contains the address; without bytes if there is none.
  NamedMemory symbol(std::uint64_t address);
  // The name of the file that is mapped there, without folder; empty if there is none.
  std::string file_name(std::uint64_t address);

  // The mapped files.
  [[nodiscard]] std::vector<Dwfl_Module*> modules() const;

  // The compilation units with debug information, of all files; look_again() appends.
  struct Unit {
    Dwarf_Die entry{};
    std::uint64_t bias = 0;  // offset of its addresses
  };
  [[nodiscard]] const std::vector<Unit>& units() const { return units_; }

 private:
  struct Close {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  // Needed because dwfl_addrmodule knows only what is mapped from the file, not zero-initialised variables.
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
  std::set<std::uint64_t> biases_;  // those of the files whose units are known
  struct Range {
    std::uint64_t end = 0;
    std::size_t unit = 0;
  };
  std::map<std::uint64_t, Range> ranges_;  // by start address
};

// The name for a function's entry, including inlined ones: "Table::insert".
std::string function_of_scope(Dwarf_Die& scope);

// A file's full path: compilers name their arguments relative to the folder in which they ran.
std::string whole_path(Dwarf_Die& unit, const char* file);

// DW_AT_name, also of the declaration that the entry refers to; empty if there is none.
std::string name_of(Dwarf_Die& die);

}  // namespace linebounce::record
