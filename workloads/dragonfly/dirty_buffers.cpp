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
