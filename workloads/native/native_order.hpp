// The memory order of an atomic operation or fence in a lock's code.
#pragma once

#include <string>
#include <vector>

namespace linebounce::workloads {

struct NativeOrder {
  // As compilers number them.
  static constexpr int kRelaxed = 0, kConsume = 1, kAcquire = 2, kRelease = 3, kBoth = 4, kSequential = 5;

  int site = 0;  // the number of the place in the code
  int line = 0;
  std::vector<std::string> chain = {};  // as NativeSite::chain; never empty
  enum class Kind : unsigned char { store, fence, load, update } kind = Kind::store;
  int order = kRelaxed;
};

}  // namespace linebounce::workloads
