// One trace into another file, which may be of the other form.
#pragma once

#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {

// All symbols, then stream after stream, then the summary; `to` is finished. What `from` recovered from is added to what is
// missing. Errors: TraceError, WriteError.
void copy(const Reader& from, Writer& to);

// The parts of it, for copies that change something. What a symbol refers to comes before it, and what takes memory in its old
// order; numbers stay.
void define_all(const Symbols& symbols, Writer& to);
Summary summary_of_copy(const Reader& from);

}  // namespace linebounce::trace
