// The dirty buffers of a flush group, in simulated memory: either a list in the order in which they became dirty, or a
// red-black tree ordered by place on the disk. A single lock protects the dirty buffers of all groups.
#pragma once

#include "models/core/cpu.hpp"
#include "workloads/locks/metered_lock.hpp"

namespace linebounce::workloads {

// A red-black tree in simulated memory. Its nodes are parts of the owner's objects; a node's address is that of its first link.
// REQUIRES: the caller holds a lock that protects the tree.
class RedBlackTree {
 public:
  // Offsets in a node, in bytes. Words have 8 bytes. The key must be stored before the node is inserted.
  static constexpr Address kLeft = 0;
  static constexpr Address kRight = 8;
  static constexpr Address kParent = 16;
  static constexpr Address kRed = 24;
  static constexpr Address kKey = 32;

  // `root`: the word that holds the root's address, 0 for an empty tree.
  explicit RedBlackTree(Address root) : root_(root) {}

  // Inserts the node behind those with the same key.
  void insert(Cpu& cpu, Address node) const;
  // Removes and returns the node with the least key; 0 if the tree is empty.
  [[nodiscard]] Address take_first(Cpu& cpu) const;

 private:
  enum class Side : std::uint8_t { left, right };
  static Address link(Side side) { return side == Side::left ? kLeft : kRight; }
  static Side other(Side side) { return side == Side::left ? Side::right : Side::left; }
  static bool red(Cpu& cpu, Address node) { return node != 0 && cpu.load(node + kRed) != 0; }

  void replace_child(Cpu& cpu, Address parent, Address child, Address replacement) const;
  void rotate(Cpu& cpu, Address node, Side side) const;
  void mend_after_insertion(Cpu& cpu, Address node) const;
  void mend_after_removal(Cpu& cpu, Address node, Address parent) const;

  Address root_;
};

class DirtyBuffers {
 public:
  // A buffer's hammer_io is a tree's node; its key is the buffer's place on the disk. In a list, the left link points to the
  // next buffer.
  static constexpr Address kDirty = 40;
  static constexpr Address kIoBytes = 64;
  // A group's words: the tree's root or the list's first buffer; the list's last buffer.
  static constexpr Address kFirst = 0;
  static constexpr Address kLast = 8;

  DirtyBuffers(MeteredLock& lock, bool sorted) : lock_(&lock), sorted_(sorted) {}

  // Returns false if the buffer is dirty already; it then stays where it is.
  bool add(Cpu& cpu, Address group, Address io);
  // Removes the next buffer to be written, and marks it clean. Returns 0 if the group has no dirty buffer.
  [[nodiscard]] Address take(Cpu& cpu, Address group);

 private:
  MeteredLock* lock_;
  bool sorted_;
};

}  // namespace linebounce::workloads
