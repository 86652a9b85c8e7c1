// Which lock algorithms could take the place of a trace's locks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/reader.hpp"

namespace linebounce {

// All locks of a trace that are counted together.
struct RecordedLock {
  std::string name;                                // as in locks.csv
  std::string algorithm;                           // as recorded; of several the first one's
  std::int64_t acquired = 0, acquired_shared = 0;  // attempts included
  bool in_handlers = false, readers_write = false;
};

// In the order of definition, by one pass over the operations; those that nobody takes are left out. Errors: trace::TraceError.
std::vector<RecordedLock> recorded_locks(const trace::Reader& reader);

// Names of `list locks` that keep this lock's promises: those that exclude, that do not sleep where handlers wait, and those
// for readers only if the lock has any.
std::vector<std::string> suitable_locks(const RecordedLock& lock);

}  // namespace linebounce
