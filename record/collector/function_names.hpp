// Turns linker symbols into readable names.
#pragma once

#include <string>

namespace linebounce::record {

// The full C++ or Rust name; any other name is returned unchanged.
std::string demangled_name(const std::string& linker_name);

// "Table::insert(int) const" -> "Table::insert"; "walk.isra.0" -> "walk". In Rust "<app::Table as app::Insert>::insert"; in Go
// "main.(*Table).insert".
std::string short_function_name(const std::string& linker_name);

}  // namespace linebounce::record
