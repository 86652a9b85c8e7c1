// Statistics of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/reader.hpp"

namespace linebounce::trace {

struct Profile {
  // Operations by kind. A repeated load or store counts as one operation here; elsewhere all its accesses count.
  std::array<std::uint64_t, kKinds> kinds = {};
  struct OfStream {
    std::uint64_t operations = 0, accesses = 0, acquisitions = 0;
  };
  struct OfObject {
    std::uint64_t loads = 0, writes = 0, atomics = 0;
    std::uint32_t streams = 0, writers = 0;  // number of streams that access the object, and that write it
  };
  struct OfLock {
    std::uint64_t acquisitions = 0, shared = 0, failed = 0;
    std::uint32_t streams = 0;
  };
  std::vector<OfStream> streams;
  std::vector<OfObject> objects;
  std::vector<OfLock> locks;
  std::vector<std::uint64_t> entries;  // by function
};

// Reads all operations once. Skips operations that refer to undefined symbols, which check.hpp reports. Errors: TraceError.
Profile profile(const Reader& reader);

}  // namespace linebounce::trace
