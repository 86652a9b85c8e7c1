// Copies a trace to another file, which may have the other form.
#pragma once

#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {

// Copies all symbols, then all streams one after another, then the summary, and finishes `to`. If `from` was recovered, the
// summary's `missing` says so. Errors: TraceError, WriteError.
void copy(const Reader& from, Writer& to);

// Parts of copy(), for copies that change something. define_all() keeps all numbers and the order in which symbols take memory,
// and defines each symbol after those that it refers to.
void define_all(const Symbols& symbols, Writer& to);
Summary summary_of_copy(const Reader& from);

}  // namespace linebounce::trace
