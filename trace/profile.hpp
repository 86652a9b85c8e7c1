// What a trace is made of, in numbers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/reader.hpp"

namespace linebounce::trace {

struct Profile {
  // Operations; repeated loads and stores count as the one operation that they are, as accesses all count.
  std::array<std::uint64_t, kKinds> kinds = {};
  struct OfStream {
    std::uint64_t operations = 0, accesses = 0, acquisitions = 0;
  };
  struct OfObject {
    std::uint64_t loads = 0, writes = 0, atomics = 0;
    std::uint32_t streams = 0, writers = 0;  // how many touch it, how many write it
  };
  struct OfLock {
    std::uint64_t acquisitions = 0, shared = 0, failed = 0;
    std::uint32_t streams = 0;
  };
  std::vector<OfStream> streams;
  std::vector<OfObject> objects;
  std::vector<OfLock> locks;
  std::vector<std::uint64_t> entries;  // of each function
};

// One pass over all operations. What names nothing is not counted (check.hpp says that). Errors: TraceError.
Profile profile(const Reader& reader);

}  // namespace linebounce::trace
