// Which of a trace's locks keep readers from what a writer writes.
#pragma once

#include <vector>

#include "trace/reader.hpp"

namespace linebounce::workloads {

// By lock: whether its readers must be kept out, as somebody holds it alone and there are writes under it, by whomever. False:
// nobody would notice if readers came in. One pass over the operations; handlers' writes are not those of whom they interrupt.
// Errors: trace::TraceError.
std::vector<bool> locks_with_writers(const trace::Reader& reader);

}  // namespace linebounce::workloads
