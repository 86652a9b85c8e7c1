// The names of a compiled lock's memory: the fields of its type, and the variables of its file.
#pragma once

#include <string>

namespace linebounce::sim {

// Reads the output of `objdump --dwarf=info` and `objdump -t` for the shared object. Returns lines for LockObject with where,
// address or offset, size and name: "lock 4 4 serving", "data 16416 8 nodes[1].next", "thread_local 0 8 mine.next". Entries
// that it does not understand get no name.
std::string lock_names(const std::string& debug_information, const std::string& symbols);

}  // namespace linebounce::sim
