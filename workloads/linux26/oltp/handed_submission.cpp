#include "workloads/linux26/oltp/handed_submission.hpp"

#include <fmt/format.h>

#include "models/failure.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kHandOff = 60;  // instructions to choose the CPU and queue the bio; assumed

}  // namespace

HandedSubmission::HandedSubmission(Kernel& kernel, BlockLayer& block, const IoTopology& topology)
    : kernel_(kernel),
      block_(block),
      topology_(topology),
      turns_(kernel.cpus()),
      head_(kernel.field("submit_queue", "head")),
      tail_(kernel.field("submit_queue", "tail")),
      next_(kernel.field("bio", "bi_next")),
      hand_off_(kernel.function("hand_over_bio")),
      submit_handed_(kernel.function("submit_handed_bios")) {
  for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
    const std::string name = fmt::format("submit_queue[{}]", cpu);
    const Object object = kernel.place("submit_queue", name, kernel.node_of(cpu));
    queues_.push_back({object, &kernel.lock_in(object, name, "submit_queue", "lock"), {}});
    turns_[cpu] = cpu;  // CPUs start at different turns, so that they don't all choose the same CPU
  }
  softirq_ = kernel.interrupts().add_softirq([this](Cpu& cpu) { submit_all(cpu); });
  vector_ = kernel.interrupts().add_handler([this](Cpu& cpu, FunctionId) { kernel_.interrupts().raise(cpu, softirq_); });
}

int HandedSubmission::target_of(const Cpu& cpu, int device) {
  const std::vector<int>& interrupted = topology_.adapters[topology_.devices[device].adapter].interrupt_cpus;
  return interrupted[turns_[cpu.id().value]++ % interrupted.size()];
}

void HandedSubmission::submit(Cpu& cpu, Io& io) {
  const FunctionScope scope(cpu, hand_off_);
  kernel_.execute(cpu, kHandOff);
  const int target = target_of(cpu, io.device);
  Queue& queue = queues_[target];
  io.bio.store(cpu, next_, 0);
  kernel_.lock_irq(cpu, *queue.lock);
  const bool was_empty = queue.object.load(cpu, tail_) == 0;
  if (was_empty) {
    queue.object.store(cpu, head_, io.bio.address());
  } else {
    queue.ios.back()->bio.store(cpu, next_, io.bio.address());
  }
  queue.object.store(cpu, tail_, io.bio.address());
  queue.ios.push_back(&io);
  kernel_.unlock_irq(cpu, *queue.lock);
  if (was_empty) cpu.send_ipi(CpuId{target}, vector_);
}

// Takes the first I/O off the CPU's list; null if the list is empty.
Io* HandedSubmission::take(Cpu& cpu, Queue& queue) {
  kernel_.lock_irq(cpu, *queue.lock);
  const Value first = queue.object.load(cpu, head_);
  Io* io = nullptr;
  if (first != 0) {
    io = queue.ios.front();
    queue.ios.pop_front();
    if (io->bio.address() != first) throw ModelFailure("a list of bios to submit has lost one");
    const Value next = io->bio.load(cpu, next_);
    queue.object.store(cpu, head_, next);
    if (next == 0) queue.object.store(cpu, tail_, 0);
  }
  kernel_.unlock_irq(cpu, *queue.lock);
  return io;
}

void HandedSubmission::submit_all(Cpu& cpu) {
  const FunctionScope scope(cpu, submit_handed_);
  Queue& queue = queues_[cpu.id().value];
  while (Io* io = take(cpu, queue)) {
    const int device = io->device;
    block_.submit(cpu, *io);  // the I/O may complete from here on
    block_.unplug(cpu, device);
  }
}

}  // namespace linebounce::workloads
