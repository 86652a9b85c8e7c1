// What if a path walk wrote to none of the entries that it passes, and detected changes (OLS 2004, section 5.3; later Linux
// calls it an RCU walk)? Each entry has a sequence count that is odd while its name, parent or chain changes. Only the last
// entry gets a reference. A walk that meets a change starts again and takes a reference to each entry. Everything else is as
// in parallel_updates.
#include "workloads/linux24/dcache/designs.hpp"
#include "workloads/linux24/dcache/parallel_updates.hpp"

namespace linebounce::workloads {
namespace {

class SequenceWalk final : public ParallelUpdates {
 public:
  explicit SequenceWalk(const DcacheSetup& setup)
      : ParallelUpdates(setup, "dentry_seq"), d_seq_(offset_of(setup.layouts.find("dentry_seq"), "d_seq")) {}

  Address link_path_walk(Cpu& cpu, Address start, std::span<const Name> components, PathTimes& times) override {
    Address last = kNoDentry;
    {
      const FunctionScope scope(cpu, function_.link_path_walk);
      rcu_->read_lock(cpu);
      last = walk(cpu, start, components, times);
      rcu_->read_unlock(cpu);
    }
    return last != kNoDentry ? last : ParallelUpdates::link_path_walk(cpu, start, components, times);
  }

 protected:
  // The addition is also a fence: a CPU that sees any part of the change sees the odd count, too.
  void begin_change(Cpu& cpu, Address dentry) override { cpu.fetch_add(dentry + d_seq_, 1, kWordBytes); }
  void end_change(Cpu& cpu, Address dentry) override {
    const Value odd = sequence(cpu, dentry);
    cpu.store_release(dentry + d_seq_, odd + 1, kWordBytes);
  }

 private:
  Value sequence(Cpu& cpu, Address dentry) { return cpu.load_acquire(dentry + d_seq_, kWordBytes); }

  // Returns the last component's entry with a reference. Returns kNoDentry if the component is missing or the walk met a
  // change.
  Address walk(Cpu& cpu, Address start, std::span<const Name> components, PathTimes& times) {
    Address directory = start;
    Value directory_sequence = sequence(cpu, start);
    for (const Name& name : components) {
      times.before_lookup(cpu);
      const Address next = find(cpu, directory, name);
      if (next == kNoDentry) return kNoDentry;
      const Value next_sequence = sequence(cpu, next);
      if (next_sequence % 2 != 0 || !still_is(cpu, next, directory, name)) return kNoDentry;
      pass(cpu, next, times);
      if (sequence(cpu, directory) != directory_sequence) return kNoDentry;
      directory = next;
      directory_sequence = next_sequence;
    }
    return get_unless_changed(cpu, directory, directory_sequence);
  }

  Address get_unless_changed(Cpu& cpu, Address dentry, Value expected) {
    MeteredLock& own = lock_of(dentry);
    take(cpu, own);
    const bool same = sequence(cpu, dentry) == expected;
    if (same) {
      dget(cpu, dentry);
      mark_referenced(cpu, dentry);
    }
    own.release(cpu);
    return same ? dentry : kNoDentry;
  }

  Address d_seq_;
};

}  // namespace

DcacheDesign sequence_walk_dcache() {
  return {.name = "sequence_walk", .defers_freeing = true, .create = make_dcache<SequenceWalk>};
}

}  // namespace linebounce::workloads
