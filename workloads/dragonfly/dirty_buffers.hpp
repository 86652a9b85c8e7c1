// The dirty buffers of a flush group, in simulated memory: a list in the order in which they became dirty, or a red-black tree
// by their place on the disk. One lock guards those of all groups.
#pragma once

#include "workloads/dragonfly/red_black_tree.hpp"
#include "workloads/locks/metered_lock.hpp"

namespace linebounce::workloads {

class DirtyBuffers {
 public:
  // Of a buffer, hammer_io: a tree's node, whose left link is a list's next, and whose key is its place on the disk.
  static constexpr Address kDirty = 40;
  static constexpr Address kIoBytes = 64;
  // Of a group: the tree's root or the list's first, and the list's last.
  static constexpr Address kFirst = 0;
  static constexpr Address kLast = 8;

  DirtyBuffers(MeteredLock& lock, bool sorted) : lock_(&lock), sorted_(sorted) {}

  // False: it is dirty already, and stays where it is.
  bool add(Cpu& cpu, Address group, Address io);
  // The next to be written, which is clean then; 0: there is none.
  [[nodiscard]] Address take(Cpu& cpu, Address group);

 private:
  MeteredLock* lock_;
  bool sorted_;
};

}  // namespace linebounce::workloads
