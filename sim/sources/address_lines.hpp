// Traces that are texts of one access a line: what differs between them is the line's grammar, and the rest is here.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/sources/forms.hpp"

namespace linebounce::sim {

struct AddressLine {
  enum class What : std::uint8_t {
    nothing,  // a comment, an escape
    load,
    store,
    modify,  // a load and a store
    fetch,   // of an instruction
    compute,
    other  // an access that is neither a load nor a store
  };
  What what = What::nothing;
  std::uint64_t address = 0;  // of compute: cycles
  std::uint64_t bytes = 0;    // 0: not told
  int cpu = 0;                // where the grammar tells CPUs apart
};

struct AddressGrammar {
  std::string_view source;    // the name of what writes it: "Dinero"
  std::string_view expected;  // what a line is, for messages: "a label and a hexadecimal address"
  // None: it is no line of this form. The line has no blanks at its ends, and is not empty.
  std::optional<AddressLine> (*parse)(std::string_view line) = nullptr;
  std::uint64_t word_bytes = 8;  // of an access, where lines don't tell; it is aligned to them
  bool has_sizes = false;
  bool has_cpus = false;     // lines name their CPU, and their order is that of all CPUs' accesses
  bool has_times = false;    // which are left out
  bool below_cache = false;  // what an accesses' cache served is not in it
};

// Several files are one CPU's each. With CPUs in the lines, and of one file, the order is kept: a CPU sleeps until the one
// before it in that order wakes it.
ConvertTrace convert_lines_of(const AddressGrammar& grammar);
std::function<Likeness(const Excerpt&)> likeness_of(const AddressGrammar& grammar);

// "r", "w" and what else stands for them; none: neither.
std::optional<AddressLine::What> read_or_write(std::string_view word);

// Its number at the end of the name's stem: 3 of "core_3.data"; none: it has none.
std::optional<int> number_in_name(const std::filesystem::path& file);

}  // namespace linebounce::sim
