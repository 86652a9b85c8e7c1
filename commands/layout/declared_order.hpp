// Writes a layout that was found as a C declaration, and as the kernel's macros that assert it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "commands/layout/arranged_layout.hpp"
#include "commands/layout/structure_accesses.hpp"

namespace linebounce::sim {

// Members that share a line, for __cacheline_group_begin() and CACHELINE_ASSERT_GROUP_*.
struct CachelineGroup {
  std::string name;                  // "tcp_sock_write_rx"
  std::vector<std::size_t> members;  // units, by offset
  int begin = 0, end = 0;            // bytes of the structure
};

// A group for each line with touched members, sorted by offset. A group's name tells whether it is written, and by which
// functions.
std::vector<CachelineGroup> cacheline_groups(const StructureAccesses& accesses, const Layout& layout, int line_bytes);

// `struct NAME { ... }` with the members in the layout's order, one per line, each with a comment on the functions that use
// it. `types`: by member, its declaration from the user's table or source; a member without one becomes an array of bytes.
std::string declaration_text(const StructureAccesses& accesses, const Layout& layout, int line_bytes,
                             const std::map<std::string, std::string>& types, const std::vector<CachelineGroup>& groups);

// CACHELINE_ASSERT_GROUP_MEMBER(struct NAME, GROUP, MEMBER); and CACHELINE_ASSERT_GROUP_SIZE(struct NAME, GROUP, BYTES); Bit
// fields get no assertion, because they have no offsetof. `types`: as above.
std::string assertions_text(const StructureAccesses& accesses, const Layout& layout,
                            const std::map<std::string, std::string>& types, const std::vector<CachelineGroup>& groups);

}  // namespace linebounce::sim
