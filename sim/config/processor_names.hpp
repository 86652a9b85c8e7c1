// Finds a processor's contention family, memory order, size of lines and clock by its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace linebounce::sim {

struct KnownProcessor {
  std::string family;       // contention family; empty: none of them is known to fit
  std::string consistency;  // as machines name it; empty: unknown
  int line_bytes = 0;       // 0: unknown
  bool is_nearest = false;  // true: the family is the nearest, not the processor's own
};

// Finds the first known processor in a text, such as "AMD EPYC 7763 64-Core Processor" or a file's name. Returns nothing if
// the text names none.
std::optional<KnownProcessor> processor_in(std::string_view text);

// The clock in a name, "Xeon(R) CPU E5-2680 v3 @ 2.50GHz", in MHz.
std::optional<double> clock_in(std::string_view text);

// Returns the values that all processors of a contention family share. The family `ideal` stands for no processor and has none.
KnownProcessor usual_of(std::string_view family);

}  // namespace linebounce::sim
