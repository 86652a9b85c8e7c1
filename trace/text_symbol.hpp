// Lines of the text form that define a symbol, and those of one operation, without what they begin with.
#pragma once

#include <string_view>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"
#include "trace/text_names.hpp"
#include "trace/text_token.hpp"

namespace linebounce::trace {

// NAME member=value ... of a symbol, which obeys symbol_rules.hpp. Errors: FormatError. REQUIRES: `kind` is one of
// kSymbolKinds.
Symbol read_symbol(std::string_view kind, const Symbols& symbols, const TextNames& names, Scanner& line);

// KIND and what follows it. Errors: FormatError.
Operation read_operation(const Symbols& symbols, const TextNames& names, Scanner& line);

}  // namespace linebounce::trace
