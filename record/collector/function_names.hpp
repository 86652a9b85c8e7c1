// Readable names for linker symbols.
#pragma once

#include <string>

namespace linebounce::record {

// The full name in C++ or Rust; any other name is unchanged.
std::string demangled_name(const std::string& linker_name);

// "Table::insert(int) const" -> "Table::insert"; "walk.isra.0" -> "walk". In Rust "<app::Table as app::Insert>::insert"; in Go
// "main.(*Table).insert".
std::string short_function_name(const std::string& linker_name);

}  // namespace linebounce::record
