// A red-black tree in simulated memory, of nodes that lie in its owner's objects: a node's address is that of its first link.
// Who calls it has a lock for that.
#pragma once

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class RedBlackTree {
 public:
  // Of a node, in bytes. Words of 8 bytes; the key must be there before the node is inserted.
  static constexpr Address kLeft = 0;
  static constexpr Address kRight = 8;
  static constexpr Address kParent = 16;
  static constexpr Address kRed = 24;
  static constexpr Address kKey = 32;

  // `root`: the word with the root's address, 0 if there is none.
  explicit RedBlackTree(Address root) : root_(root) {}

  // Behind those with the same key.
  void insert(Cpu& cpu, Address node) const;
  // The one with the least key, which is in no tree then; 0: there is none.
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

}  // namespace linebounce::workloads
