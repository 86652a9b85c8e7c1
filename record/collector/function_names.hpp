// What people call what a linker's symbol names.
#pragma once

#include <string>

namespace linebounce::record {

// As C++ and Rust write it, with everything; what is neither stays as it is.
std::string demangled_name(const std::string& linker_name);

// "Table::insert(int) const" -> "Table::insert"; "walk.isra.0" -> "walk". Of Rust: "<app::Table as app::Insert>::insert"; of
// Go: "main.(*Table).insert".
std::string short_function_name(const std::string& linker_name);

}  // namespace linebounce::record
