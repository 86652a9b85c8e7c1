#include "workloads/linux26/oltp/process.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace linebounce::workloads {

void Process::compute(Cpu& cpu, std::int64_t mean_instructions) {
  const FunctionScope scope(cpu, system_.user);
  const auto mean = static_cast<std::uint64_t>(mean_instructions);
  const auto instructions = static_cast<std::int64_t>(mean / 2 + random_.below(mean + 1));
  system_.user_memory.visit(cpu, random_, instructions);
}

namespace {

// Of so many transfers those of one context.
int share_of(int transfers, std::size_t context, std::size_t contexts) {
  const auto up_to = [&](std::size_t number) { return transfers * number / contexts; };
  return static_cast<int>(up_to(context + 1) - up_to(context));
}

}  // namespace

void Process::submit(Cpu& cpu, std::span<AioContext* const> contexts, int transfers, bool write) {
  {
    // With memory for as long as it takes, as system calls need it for names, messages and lists of buffers.
    const FunctionScope scope(cpu, system_.other_kernel);
    const Object memory = system_.aio.size_1024().alloc(cpu);
    memory.store(cpu, system_.buffer, 0);
    system_.kernel_memory.visit(cpu, random_, system_.kernel_instructions);
    system_.aio.size_1024().free(cpu, memory);
  }
  {
    const FunctionScope scope(cpu, system_.mark_inode_dirty);
    system_.inode.load(cpu, system_.inode_global);
    system_.inode_lock->acquire(cpu);
    system_.inode_lock->release(cpu);
  }
  for (std::size_t number = 0; number < contexts.size(); ++number) {
    std::vector<Aio::Transfer> wanted;
    for (int i = 0; i < share_of(transfers, number, contexts.size()); ++i) {
      wanted.push_back({static_cast<int>(random_.below(static_cast<std::uint64_t>(system_.devices))), write});
    }
    system_.aio.submit(cpu, *contexts[number], wanted);
  }
  cpu.tally(write ? kWrites : kReads, transfers);
}

namespace {

class Foreground final : public Process {
 public:
  Foreground(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int reads, CommitGroup& group)
      : Process(system, task, seed, static_cast<std::uint64_t>(task.number)),
        context_(&system.aio.create_context(task, fmt::format("kioctx[{}]", task.number), node, 2)),
        group_(group),
        member_(system.kernel, task, fmt::format("sem_queue[{}]", task.number), node),
        reads_(reads) {}

  void run(Cpu& cpu) override {
    while (step(cpu)) {
    }
  }

 private:
  enum class Stage { computing, reading, writing_log, waiting_for_log };

  // False: it waits.
  bool step(Cpu& cpu) {
    switch (stage_) {
      case Stage::computing:
        compute(cpu, system_.user_instructions);
        if (done_ < reads_) {
          submit(cpu, {&context_, 1}, 1, false);
          stage_ = Stage::reading;
        } else if (group_.join(cpu, member_)) {
          submit(cpu, {&context_, 1}, 1, true);
          stage_ = Stage::writing_log;
        } else {
          stage_ = Stage::waiting_for_log;
        }
        return true;
      case Stage::reading:
        if (!system_.aio.get_events(cpu, *context_, 1)) return false;
        ++done_;
        stage_ = Stage::computing;
        return true;
      case Stage::writing_log:
        if (!system_.aio.get_events(cpu, *context_, 1)) return false;
        group_.post(cpu);
        committed(cpu);
        return true;
      case Stage::waiting_for_log:
        if (group_.waits(cpu, member_)) return false;
        committed(cpu);
        return true;
    }
    return true;
  }

  void committed(Cpu& cpu) {
    cpu.tally(kTransactions);
    done_ = 0;
    stage_ = Stage::computing;
  }

  AioContext* context_;
  CommitGroup& group_;
  CommitGroup::Member member_;
  int reads_;
  int done_ = 0;
  Stage stage_ = Stage::computing;
};

class Writer final : public Process {
 public:
  Writer(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int contexts, int depth, int batch)
      : Process(system, task, seed, static_cast<std::uint64_t>(task.number)), depth_(depth), batch_(batch) {
    if (const int room = system.aio.most_in_flight(); depth + batch > room) {
      throw std::invalid_argument(fmt::format(
          "workload.writer_depth: {} and writer_batch {} may be under way together, and a context's ring has room for "
          "{}; legal: both together 2 to {}",
          depth, batch, room, room));
    }
    if (contexts > batch) {
      throw std::invalid_argument(fmt::format(
          "workload.writer_contexts: a batch of {} writes is divided over the contexts; legal: 1 to {}", batch, batch));
    }
    for (int i = 0; i < contexts; ++i) {
      contexts_.push_back(&system.aio.create_context(task, fmt::format("kioctx[{}.{}]", task.number, i), node, depth + batch));
    }
  }

  void run(Cpu& cpu) override {
    for (;;) {
      if (!waits_) {
        compute(cpu, system_.writer_instructions);
        submit(cpu, contexts_, batch_, true);
        waits_ = in_flight() >= depth_;
      }
      if (waits_ && !reap(cpu)) return;
      waits_ = false;
    }
  }

 private:
  [[nodiscard]] int in_flight() const {
    int sum = 0;
    for (const AioContext* context : contexts_) sum += context->in_flight();
    return sum;
  }

  // As many as a batch has, of each context its share: in the meantime events that were read have made room already. False: it
  // waits.
  bool reap(Cpu& cpu) {
    for (; reaped_ < contexts_.size(); ++reaped_) {
      if (!system_.aio.get_events(cpu, *contexts_[reaped_], share_of(batch_, reaped_, contexts_.size()))) return false;
    }
    reaped_ = 0;
    return true;
  }

  std::vector<AioContext*> contexts_;
  int depth_, batch_;
  std::size_t reaped_ = 0;  // contexts whose share of the batch has come
  bool waits_ = false;
};

}  // namespace

std::unique_ptr<Process> make_foreground(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int reads,
                                         CommitGroup& group) {
  return std::make_unique<Foreground>(system, task, seed, node, reads, group);
}

std::unique_ptr<Process> make_writer(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int contexts,
                                     int depth, int batch) {
  return std::make_unique<Writer>(system, task, seed, node, contexts, depth, batch);
}

}  // namespace linebounce::workloads
