#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {

Address LockPlace::place(Layout layout) const {
  if (word) return *word;
  layout.size = memory.line_bytes();
  return memory.place(layout, name, memory.line_bytes());
}

}  // namespace linebounce::workloads
