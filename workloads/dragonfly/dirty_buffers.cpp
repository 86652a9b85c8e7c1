#include "workloads/dragonfly/dirty_buffers.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kListNext = RedBlackTree::kLeft;

void append(Cpu& cpu, Address group, Address io) {
  cpu.store(io + kListNext, 0);
  const Address last = cpu.load(group + DirtyBuffers::kLast);
  cpu.store(last == 0 ? group + DirtyBuffers::kFirst : last + kListNext, io);
  cpu.store(group + DirtyBuffers::kLast, io);
}

Address take_head(Cpu& cpu, Address group) {
  const Address first = cpu.load(group + DirtyBuffers::kFirst);
  if (first == 0) return 0;
  const Address next = cpu.load(first + kListNext);
  cpu.store(group + DirtyBuffers::kFirst, next);
  if (next == 0) cpu.store(group + DirtyBuffers::kLast, 0);
  return first;
}

}  // namespace

void RedBlackTree::insert(Cpu& cpu, Address node) const {
  const Value key = cpu.load(node + kKey);
  Address parent = 0;
  Side side = Side::left;
  for (Address next = cpu.load(root_); next != 0; next = cpu.load(parent + link(side))) {
    parent = next;
    side = key < cpu.load(parent + kKey) ? Side::left : Side::right;
  }
  cpu.store(node + kLeft, 0);
  cpu.store(node + kRight, 0);
  cpu.store(node + kParent, parent);
  cpu.store(node + kRed, 1);
  cpu.store(parent == 0 ? root_ : parent + link(side), node);
  mend_after_insertion(cpu, node);
}

Address RedBlackTree::take_first(Cpu& cpu) const {
  Address first = cpu.load(root_);
  if (first == 0) return 0;
  for (Address left = cpu.load(first + kLeft); left != 0; left = cpu.load(first + kLeft)) first = left;
  const Address child = cpu.load(first + kRight);
  const Address parent = cpu.load(first + kParent);
  replace_child(cpu, parent, first, child);
  if (child != 0) cpu.store(child + kParent, parent);
  if (!red(cpu, first)) mend_after_removal(cpu, child, parent);
  return first;
}

void RedBlackTree::replace_child(Cpu& cpu, Address parent, Address child, Address replacement) const {
  if (parent == 0) {
    cpu.store(root_, replacement);
  } else {
    cpu.store(parent + (cpu.load(parent + kLeft) == child ? kLeft : kRight), replacement);
  }
}

// Rotates the tree: the node moves down on the side `side`, and its child on the other side takes its place.
void RedBlackTree::rotate(Cpu& cpu, Address node, Side side) const {
  const Address child = cpu.load(node + link(other(side)));
  const Address inner = cpu.load(child + link(side));
  const Address parent = cpu.load(node + kParent);
  cpu.store(node + link(other(side)), inner);
  if (inner != 0) cpu.store(inner + kParent, node);
  cpu.store(child + kParent, parent);
  replace_child(cpu, parent, node, child);
  cpu.store(child + link(side), node);
  cpu.store(node + kParent, child);
}

// Restores the red-black rules. The node is red, and its parent may be red, too, which the rules forbid.
void RedBlackTree::mend_after_insertion(Cpu& cpu, Address node) const {
  for (;;) {
    Address parent = cpu.load(node + kParent);
    if (parent == 0) {
      cpu.store(node + kRed, 0);
      return;
    }
    if (!red(cpu, parent)) return;
    const Address grandparent = cpu.load(parent + kParent);
    const Side side = cpu.load(grandparent + kLeft) == parent ? Side::left : Side::right;
    const Address uncle = cpu.load(grandparent + link(other(side)));
    if (red(cpu, uncle)) {
      cpu.store(parent + kRed, 0);
      cpu.store(uncle + kRed, 0);
      cpu.store(grandparent + kRed, 1);
      node = grandparent;
      continue;
    }
    if (cpu.load(parent + link(other(side))) == node) {
      rotate(cpu, parent, side);
      parent = node;
    }
    cpu.store(parent + kRed, 0);
    cpu.store(grandparent + kRed, 1);
    rotate(cpu, grandparent, other(side));
    return;
  }
}

// Restores the balance: paths through `node` have one black node less than all others. `node` is a child of `parent`; 0: an
// empty child.
void RedBlackTree::mend_after_removal(Cpu& cpu, Address node, Address parent) const {
  while (parent != 0 && !red(cpu, node)) {
    const Side side = cpu.load(parent + kLeft) == node ? Side::left : Side::right;
    Address sibling = cpu.load(parent + link(other(side)));
    if (red(cpu, sibling)) {
      cpu.store(sibling + kRed, 0);
      cpu.store(parent + kRed, 1);
      rotate(cpu, parent, side);
      sibling = cpu.load(parent + link(other(side)));
    }
    const Address near = cpu.load(sibling + link(side));
    Address far = cpu.load(sibling + link(other(side)));
    const bool near_red = red(cpu, near);
    const bool far_red = red(cpu, far);
    if (!near_red && !far_red) {
      cpu.store(sibling + kRed, 1);
      node = parent;
      parent = cpu.load(node + kParent);
      continue;
    }
    if (!far_red) {
      cpu.store(near + kRed, 0);
      cpu.store(sibling + kRed, 1);
      rotate(cpu, sibling, other(side));
      far = sibling;
      sibling = near;
    }
    cpu.store(sibling + kRed, cpu.load(parent + kRed));
    cpu.store(parent + kRed, 0);
    cpu.store(far + kRed, 0);
    rotate(cpu, parent, side);
    return;
  }
  if (node != 0) cpu.store(node + kRed, 0);
}

bool DirtyBuffers::add(Cpu& cpu, Address group, Address io) {
  lock_->acquire(cpu);
  const bool clean = cpu.load(io + kDirty) == 0;
  if (clean) {
    cpu.store(io + kDirty, 1);
    if (sorted_) {
      RedBlackTree(group + kFirst).insert(cpu, io);
    } else {
      append(cpu, group, io);
    }
  }
  lock_->release(cpu);
  return clean;
}

Address DirtyBuffers::take(Cpu& cpu, Address group) {
  lock_->acquire(cpu);
  const Address io = sorted_ ? RedBlackTree(group + kFirst).take_first(cpu) : take_head(cpu, group);
  if (io != 0) cpu.store(io + kDirty, 0);
  lock_->release(cpu);
  return io;
}

}  // namespace linebounce::workloads
