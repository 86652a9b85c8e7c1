// Copies one trace to another file, possibly in the other form.
#pragma once

#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {

// Copies all symbols, then stream after stream, then the summary, and finishes `to`. Adds what `from` recovered from to the
// summary's `missing`. Errors: TraceError, WriteError.
void copy(const Reader& from, Writer& to);

// The steps of copy(), for copies that change something. A symbol follows those that it refers to, symbols that take memory
// keep their order, and numbers stay.
void define_all(const Symbols& symbols, Writer& to);
Summary summary_of_copy(const Reader& from);

}  // namespace linebounce::trace
