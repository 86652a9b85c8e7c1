// Through which calls of inline functions each access came into a compiled lock's code.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace linebounce::sim {

// The numbers of accesses by the address of the call that makes them. `symbols`: the output of `objdump -t` for code from
// prepare_assembly().
std::map<std::uint64_t, int> site_addresses(const std::string& symbols);

// Takes the output of `addr2line -a -i -f` for these addresses. Returns for each access a line for each call, the innermost
// first: its number, the line, the function that the line is in, and the file: "call 4 12 acquire /home/me/lock.c".
std::string chain_lines(const std::string& addr2line, const std::map<std::uint64_t, int>& sites);

}  // namespace linebounce::sim
