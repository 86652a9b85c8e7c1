// Whether a text is a listing of structures with the offset and size of each member, as pahole prints them.
#pragma once

#include <string_view>

namespace linebounce {

// True if one line opens a structure, and one has a comment of two figures behind a member: "/*    44    28 */".
bool is_structure_listing(std::string_view text);

// True for the output of gdb's `ptype /o`: "/* offset      |    size */  type = struct job {".
bool is_ptype_listing(std::string_view text);

// True for a listing of BTF types, as bpftool prints them: a line begins with "[7] STRUCT 'job' size=64".
bool is_btf_listing(std::string_view text);

}  // namespace linebounce
