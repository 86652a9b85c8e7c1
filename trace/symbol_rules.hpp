// What symbols have to be, in whichever form they come.
#pragma once

#include <string>

#include "trace/symbols.hpp"

namespace linebounce::trace {

// What is wrong with a symbol that would be defined next, with the legal values; empty: nothing. Not seen here: whether
// Object::of_lock is a lock, which may come later.
std::string complaint(const Symbols& before, const Symbol& symbol);

}  // namespace linebounce::trace
