// Text traces with one access per line. Each format supplies the grammar of a line; the rest is shared here.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/sources/forms.hpp"

namespace linebounce::sim {

struct AddressLine {
  enum class What : std::uint8_t {
    nothing,  // a comment or an escape
    load,
    store,
    modify,  // a load followed by a store
    fetch,   // an instruction fetch
    compute,
    other  // neither a load nor a store
  };
  What what = What::nothing;
  std::uint64_t address = 0;  // for `compute`: the number of cycles
  std::uint64_t bytes = 0;    // 0: not stated
  int cpu = 0;                // only if the grammar has CPUs
};

struct AddressGrammar {
  std::string_view source;    // name of the tool that writes it: "Dinero"
  std::string_view expected;  // what a line consists of, for messages: "a label and a hexadecimal address"
  // Returns nothing if the line does not have this form. The line is not empty, and has no blanks at its ends.
  std::optional<AddressLine> (*parse)(std::string_view line) = nullptr;
  std::uint64_t word_bytes = 8;  // size of an access if lines don't state one; addresses are aligned to it
  bool has_sizes = false;
  bool has_cpus = false;     // lines name their CPU, and are in the order of all CPUs' accesses
  bool has_times = false;    // lines have times, which are left out
  bool below_cache = false;  // the trace lacks accesses that a cache served
};

// Several files: each is one CPU's. One file whose lines name CPUs: their order is kept, because each CPU sleeps until the
// CPU of the previous line wakes it.
ConvertTrace convert_lines_of(const AddressGrammar& grammar);
std::function<Likeness(const Excerpt&)> likeness_of(const AddressGrammar& grammar);

// Understands "r", "w" and their variants; returns nothing for other words.
std::optional<AddressLine::What> read_or_write(std::string_view word);

// The number at the end of the file's stem: 3 for "core_3.data". Returns nothing if there is none.
std::optional<int> number_in_name(const std::filesystem::path& file);

}  // namespace linebounce::sim
