#include "workloads/oltp/process.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace linebounce {

void Process::compute(Cpu& cpu, std::int64_t mean_instructions) {
  const FunctionScope scope(cpu, system_.user);
  const auto mean = static_cast<std::uint64_t>(mean_instructions);
  const auto instructions = static_cast<std::int64_t>(mean / 2 + random_.below(mean + 1));
  system_.user_memory.visit(cpu, random_, instructions);
}

void Process::submit(Cpu& cpu, AioContext& context, int transfers, bool write) {
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
  std::vector<Aio::Transfer> wanted;
  for (int i = 0; i < transfers; ++i) {
    wanted.push_back({static_cast<int>(random_.below(static_cast<std::uint64_t>(system_.devices))), write});
  }
  system_.aio.submit(cpu, context, wanted);
  cpu.tally(write ? kWrites : kReads, transfers);
}

namespace {

class Foreground final : public Process {
 public:
  Foreground(OltpSystem& system, const Task& task, std::uint64_t seed, int node, int reads, CommitGroup& group)
      : Process(system, task, seed, static_cast<std::uint64_t>(task.number)),
        context_(system.aio.create_context(task, fmt::format("kioctx[{}]", task.number), node, 2)),
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
          submit(cpu, context_, 1, false);
          stage_ = Stage::reading;
        } else if (group_.join(cpu, member_)) {
          submit(cpu, context_, 1, true);
          stage_ = Stage::writing_log;
        } else {
          stage_ = Stage::waiting_for_log;
        }
        return true;
      case Stage::reading:
        if (!system_.aio.get_events(cpu, context_, 1)) return false;
        ++done_;
        stage_ = Stage::computing;
        return true;
      case Stage::writing_log:
        if (!system_.aio.get_events(cpu, context_, 1)) return false;
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

  AioContext& context_;
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
    for (int i = 0; i < contexts; ++i) {
      contexts_.push_back(&system.aio.create_context(task, fmt::format("kioctx[{}.{}]", task.number, i), node, depth + batch));
    }
  }

  void run(Cpu& cpu) override {
    for (;;) {
      AioContext& context = *contexts_[next_];
      if (!waits_) {
        compute(cpu, system_.writer_instructions);
        submit(cpu, context, batch_, true);
        waits_ = context.in_flight() >= depth_;
      }
      // Until the whole batch has come: in the meantime events that were read have made room already.
      if (waits_ && !system_.aio.get_events(cpu, context, batch_)) return;
      waits_ = false;
      next_ = (next_ + 1) % contexts_.size();
    }
  }

 private:
  std::vector<AioContext*> contexts_;
  int depth_, batch_;
  std::size_t next_ = 0;
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

}  // namespace linebounce
