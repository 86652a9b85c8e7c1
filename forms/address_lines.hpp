// Converts text traces with one access per line. A format supplies the grammar of its lines; all else is shared.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "forms/forms.hpp"

namespace linebounce::sim {

struct AddressLine {
  enum class What : std::uint8_t {
    nothing,  // the line is a comment or an escape
    load,
    store,
    modify,  // loads, then stores
    fetch,   // an instruction fetch
    compute,
    other  // a word that is neither a load nor a store
  };
  What what = What::nothing;
  std::uint64_t address = 0;  // in bytes; for `compute`: a number of cycles
  std::uint64_t bytes = 0;    // 0: not stated
  // Instructions up to this access, including its own; 0: the format does not count them.
  std::uint64_t instructions = 0;
  std::optional<std::uint64_t> written_back = {};  // the address of a line that left a cache because of this access
  int cpu = 0;                                     // only in formats whose lines name their CPU
  bool in_digits = false;                          // the address has neither 0x nor a digit above 9, so it may be decimal
  bool has_time = false, has_figure = false;       // the line also states a time, or a number behind the address
  bool below_cache = false;                        // the access missed in a cache, whose hits the trace lacks
};

struct AddressGrammar {
  std::string_view source;         // the tool or format, for messages: "Dinero"
  std::string_view expected = {};  // the form of a line, for messages: "a label and a hexadecimal address"
  // Parses a line; returns nothing if it does not have this form. The line is not empty and has no blanks at its ends.
  std::optional<AddressLine> (*parse)(std::string_view line) = nullptr;
  // Size in bytes of an access whose line states none. It is smaller if some address is not a multiple of it: the trace then
  // counts in smaller units.
  std::uint64_t word_bytes = 8;
  bool has_sizes = false;
  bool has_cpus = false;     // lines name their CPU
  int cpus = 0;              // CPUs 0, 1, ... that the trace has in any case, even if they do nothing
  bool keeps_order = true;   // if lines name their CPU: the file has the global order of all CPUs' accesses
  bool below_cache = false;  // the trace lacks accesses that hit in a cache
  bool is_virtual = false;   // the addresses are virtual ones of a real program
  // Comments: lines that begin with #, //, ; or --, and the rest of a line behind such a mark and a blank.
  bool has_comments = false;
};

// Converts accesses that a function makes, one a call, until it returns nothing. Errors: as for ConvertTrace.
Losses convert_accesses(const AddressGrammar& grammar, trace::Writer& out,
                        const std::function<std::optional<AddressLine>()>& next);

// Several files are the traces of one CPU each. In one file whose lines name CPUs, each CPU sleeps until the CPU of the
// previous line wakes it, which preserves the file's order.
ConvertTrace convert_lines_of(const AddressGrammar& grammar);
std::function<Likeness(const Excerpt&)> likeness_of(const AddressGrammar& grammar);

// True if the text of an address may also be decimal: it has digits up to 9 alone, and no 0x.
bool is_in_digits(std::string_view address);

// The number at the end of a file's name without its extension: 3 for "core_3.data". Returns nothing if there is none.
std::optional<int> number_in_name(const std::filesystem::path& file);

}  // namespace linebounce::sim
