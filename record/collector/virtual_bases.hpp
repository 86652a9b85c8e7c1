// Places of virtual bases in complete objects, read from the vtables of a program (Itanium C++ ABI, section 2.5).
//
// Debug information only tells where in a vtable the offset of a virtual base is found: each class that is derived further
// places it anew.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace linebounce::record {

class VirtualBases {
 public:
  // REQUIRES: both files outlive this object; either may be nullptr. `program` has the vtables' bytes; the symbols are in
  // either.
  VirtualBases(Elf* program, Elf* symbols) : program_(program), symbols_(symbols) {}

  // The offset that the vtable of complete objects of `structure` ("db::Node") holds `entry` bytes before the address point of
  // the part at `part` bytes. None if the program has no such vtable, or has it without RTTI.
  std::optional<std::int64_t> offset(const std::string& structure, std::int64_t part, std::int64_t entry);

 private:
  struct Place {
    std::uint64_t address = 0, bytes = 0;
  };
  struct Words {
    std::vector<std::uint64_t> values;  // those of the vtable, as the loader leaves them if the program lies at address 0
    std::uint64_t type_info = 0;        // address; 0: none
  };

  void find_symbols();
  void find_symbols_of(Elf* elf);
  void find_relocations();
  [[nodiscard]] Words words_of(const std::string& structure);
  [[nodiscard]] std::vector<std::uint64_t> bytes_at(const Place& place) const;

  Elf* program_;
  Elf* symbols_;
  bool has_symbols_ = false;
  std::unordered_map<std::string, Place> vtables_, type_infos_;  // by the class's comparable name
  std::unordered_map<std::uint64_t, std::uint64_t> relocated_;   // by address: what the loader stores there
};

// The name without what compilers and demanglers spell differently: blanks, const, parameters of functions, unnamed namespaces,
// and suffixes of numbers.
std::string comparable_name(const std::string& name);

}  // namespace linebounce::record
