#include "workloads/linux24/dcache/dentry_slab.hpp"

#include <fmt/format.h>

#include "models/failure.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kLength = 8;  // behind the head's pointer

}  // namespace

DentrySlab::DentrySlab(AddressSpace& memory, LockSet& locks, const Layout& layout, int objects, int cpus, FunctionId function)
    : link_(offset_of(layout, "d_vfsmnt")), lock_(&locks.create("ttas", "dentry_cache")), function_(function) {
  const int line = memory.line_bytes();
  const Layout head{.name = "slab_list", .size = line, .alignment = line, .fields = {{"first", 0}, {"length", kLength}}};
  shared_ = memory.place(head, "dentry_cache", line);
  for (int cpu = 0; cpu < cpus; ++cpu) by_cpu_.push_back(memory.place(head, fmt::format("dentry_cpucache[{}]", cpu), line));
  Address before = 0;
  for (int i = 0; i < objects; ++i) {
    const Address object = memory.place(layout, fmt::format("dentry[{}]", i));
    memory.preset(object + link_, before);
    before = object;
    objects_.push_back(object);
  }
  stride_ = objects_[1] - objects_[0];
  memory.preset(shared_, before);
  memory.preset(shared_ + kLength, static_cast<Value>(objects));
}

void DentrySlab::push(Cpu& cpu, Address head, Address object) const {
  const Value first = cpu.load(head);
  cpu.store(object + link_, first);
  cpu.store(head, object);
  const Value length = cpu.load(head + kLength);
  cpu.store(head + kLength, length + 1);
}

Address DentrySlab::pop(Cpu& cpu, Address head) const {
  const Address object = cpu.load(head);
  if (object == 0) return 0;
  const Value rest = cpu.load(object + link_);
  cpu.store(head, rest);
  const Value length = cpu.load(head + kLength);
  cpu.store(head + kLength, length - 1);
  return object;
}

void DentrySlab::refill(Cpu& cpu, Address own) {
  lock_->acquire(cpu);
  for (Value i = 0; i < kBatch; ++i) {
    const Address object = pop(cpu, shared_);
    if (object == 0) break;
    push(cpu, own, object);
  }
  lock_->release(cpu);
}

void DentrySlab::flush(Cpu& cpu, Address own) {
  lock_->acquire(cpu);
  for (Value i = 0; i < kBatch; ++i) {
    const Address object = pop(cpu, own);
    push(cpu, shared_, object);
  }
  lock_->release(cpu);
}

Address DentrySlab::allocate(Cpu& cpu) {
  const FunctionScope scope(cpu, function_);
  const Address own = by_cpu_[cpu.id().value];
  cpu.disable_interrupts();  // otherwise a softirq could free an entry in between
  if (cpu.load(own) == 0) refill(cpu, own);
  const Address object = pop(cpu, own);
  cpu.enable_interrupts();
  if (object == 0) throw ModelFailure("all dentries are in use: workload.dentries is too small for the tree");
  return object;
}

void DentrySlab::free(Cpu& cpu, Address object) {
  const FunctionScope scope(cpu, function_);
  const Address own = by_cpu_[cpu.id().value];
  cpu.disable_interrupts();
  push(cpu, own, object);
  if (cpu.load(own + kLength) > 2 * kBatch) flush(cpu, own);
  cpu.enable_interrupts();
}

}  // namespace linebounce::workloads
