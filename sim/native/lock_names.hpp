// Finds the names of a compiled lock's memory: fields of its type, and variables of its file.
#pragma once

#include <string>

namespace linebounce::sim {

// Takes the output of `objdump --dwarf=info` and `objdump -t` for the shared object. Returns a line for each LockObject with
// its location, offset or address, size and name: "lock 4 4 serving", "data 16416 8 nodes[1].next", "thread_local 0 8
// mine.next". Skips entries that it does not understand.
std::string lock_names(const std::string& debug_information, const std::string& symbols);

}  // namespace linebounce::sim
