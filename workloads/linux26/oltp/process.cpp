#include "workloads/linux26/oltp/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace linebounce::workloads {
namespace {

// How many of `transfers` go to context number `context` of `contexts`; the shares differ by at most one.
int share_of(int transfers, std::size_t context, std::size_t contexts) {
  const auto up_to = [&](std::size_t number) { return transfers * number / contexts; };
  return static_cast<int>(up_to(context + 1) - up_to(context));
}

// All lines of a stream map to a few sets of the outermost cache. There are far more of them than those sets hold.
constexpr std::uint64_t kSetsInStream = 16;
constexpr std::uint64_t kLinesOfSet = 64;

constexpr std::int64_t kSemopInstructions = 400;  // instructions to enter, copy the operations and find the semaphore set
constexpr Value kAsleep = 1;

}  // namespace

CommitGroup::Member::Member(Kernel& kernel, const Task& task, const std::string& name, int node)
    : object_(kernel.place("sem_queue", name, node)), task_(&task) {
  kernel.memory().preset(object_.at(kernel.field("sem_queue", "sleeper"), 0), task.object.address());
}

CommitGroup::CommitGroup(Kernel& kernel, Scheduler& scheduler, const std::string& name, int node, int size)
    : kernel_(kernel),
      scheduler_(scheduler),
      array_(kernel.place("sem_array", name, node)),
      lock_(&kernel.lock_in(array_, name, "sem_array", "sem_perm.lock")),
      size_(size),
      pending_(kernel.list_field("sem_array", "sem_pending")),
      semval_(kernel.field("sem_array", "semval")),
      ctime_(kernel.field("sem_array", "sem_ctime")),
      list_(kernel.list_field("sem_queue", "list")),
      sleeper_(kernel.field("sem_queue", "sleeper")),
      status_(kernel.field("sem_queue", "status")),
      semtimedop_(kernel.function("sys_semtimedop")),
      update_queue_(kernel.function("update_queue")) {
  list64::preset_empty(kernel.memory(), array_.at(pending_, 0));
}

bool CommitGroup::join(Cpu& cpu, const Member& member) {
  const FunctionScope scope(cpu, semtimedop_);
  kernel_.execute(cpu, kSemopInstructions);
  lock_->acquire(cpu);
  const Value waiting = array_.load(cpu, semval_);
  const bool last = static_cast<int>(waiting) == size_ - 1;
  array_.store(cpu, semval_, last ? 0 : waiting + 1);
  if (!last) {
    member.object_.store(cpu, status_, kAsleep);
    const Address entry = member.object_.at(list_, cpu);
    kernel_.list_add_tail(cpu, entry, array_.at(pending_, cpu));
  }
  lock_->release(cpu);
  return last;
}

bool CommitGroup::waits(Cpu& cpu, const Member& member) {
  const FunctionScope scope(cpu, semtimedop_);
  scheduler_.set_state(cpu, *member.task_, TaskState::interruptible);
  if (cpu.load_acquire(member.object_.at(status_, cpu), status_.size) == kAsleep) return true;
  scheduler_.set_state(cpu, *member.task_, TaskState::running);
  return false;
}

// Wakes the processes that the log covers. Processes that have joined behind them since then wait for the next log.
void CommitGroup::post(Cpu& cpu) {
  const FunctionScope scope(cpu, semtimedop_);
  kernel_.execute(cpu, kSemopInstructions);
  lock_->acquire(cpu);
  array_.add(cpu, ctime_, 1);
  {
    const FunctionScope update(cpu, update_queue_);
    const Address head = array_.at(pending_, cpu);
    for (int posted = 1; posted < size_; ++posted) {
      const Address entry = list64::next(cpu, head);
      const Address queue = entry - static_cast<Address>(list_.offset);
      const Value sleeper = cpu.load(queue + static_cast<Address>(sleeper_.offset));
      kernel_.list_del(cpu, entry);
      cpu.store_release(queue + static_cast<Address>(status_.offset), 0, status_.size);
      scheduler_.try_to_wake_up(cpu, scheduler_.task_at(sleeper));
    }
  }
  lock_->release(cpu);
}

OtherMemory::OtherMemory(Kernel& kernel, const std::string& name, const OtherMemoryShape& shape, const Pace& pace)
    : kernel_(kernel), shape_(shape), pace_(pace), node_shared_(kernel.nodes()) {
  AddressSpace& memory = kernel.memory();
  const int line = memory.line_bytes();
  const auto lines = [&](const std::string& array, int count, int node) {
    std::vector<Address> addresses;
    const Address begin = memory.place_array(array, std::int64_t{count} * line, Home::on_os_node(node));
    for (int i = 0; i < count; ++i) addresses.push_back(begin + static_cast<Address>(i) * static_cast<Address>(line));
    return addresses;
  };
  const int nodes = kernel.nodes();
  for (int node = 0; node < nodes; ++node) {
    const int share = (shape.shared_lines + node) / nodes;
    const std::vector<Address> here = lines(fmt::format("{}_shared[{}]", name, node), std::max(1, share), node);
    shared_.insert(shared_.end(), here.begin(), here.end());
    node_shared_[node] = lines(fmt::format("{}_of_node[{}]", name, node), shape.node_lines, node);
  }
  const CacheSpec& outermost = kernel.machine().caches.back();
  set_stride_ = static_cast<std::uint64_t>(outermost.size_kib) * 1024 / static_cast<std::uint64_t>(outermost.ways);
  const auto bytes = static_cast<std::int64_t>(set_stride_ * kLinesOfSet);
  for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
    const int node = kernel.node_of(cpu);
    local_.push_back({memory.place_array(fmt::format("{}_memory[{}]", name, cpu), bytes, Home::on_os_node(node))});
    remote_.push_back(
        {memory.place_array(fmt::format("{}_far_memory[{}]", name, cpu), bytes, Home::on_os_node((node + 1) % nodes))});
  }
}

void OtherMemory::visit(Cpu& cpu, Random& random, std::int64_t instructions) {
  const std::array<double, kKinds> means = {shape_.shared, shape_.node_shared, shape_.local_memory, shape_.remote_memory};
  // The mean number of misses may have a fractional part: it is the probability of one more miss.
  std::vector<Kind> order;
  for (int kind = 0; kind < kKinds; ++kind) {
    const auto milli = static_cast<std::uint64_t>(std::llround(means[kind] * 1000));
    const std::uint64_t count = milli / 1000 + (random.below(1000) < milli % 1000 ? 1 : 0);
    order.insert(order.end(), count, static_cast<Kind>(kind));
  }
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  const std::int64_t part = instructions / (static_cast<std::int64_t>(order.size()) + 1);
  for (const Kind kind : order) {
    pace_.pass(cpu, part);
    miss(cpu, random, kind);
  }
  pace_.pass(cpu, instructions - part * static_cast<std::int64_t>(order.size()));
}

void OtherMemory::miss(Cpu& cpu, Random& random, Kind kind) {
  const std::size_t self = cpu.id().value;
  const auto draw = [&random](const std::vector<Address>& lines) { return lines[random.below(lines.size())]; };
  switch (kind) {
    case kShared: cpu.fetch_add(draw(shared_), 1); break;
    case kNodeShared: cpu.fetch_add(draw(node_shared_[kernel_.node_of(cpu.id().value)]), 1); break;
    case kLocalMemory: cpu.load(next_line(local_[self])); break;
    case kRemoteMemory: cpu.load(next_line(remote_[self])); break;
    case kKinds: break;
  }
}

Address OtherMemory::next_line(Stream& stream) const {
  const std::uint64_t number = stream.next++ % (kSetsInStream * kLinesOfSet);
  const auto line = static_cast<std::uint64_t>(kernel_.memory().line_bytes());
  return stream.begin + number / kSetsInStream * set_stride_ + number % kSetsInStream * line;
}

void Process::compute(Cpu& cpu, std::int64_t mean_instructions) {
  const FunctionScope scope(cpu, system_.user);
  const auto mean = static_cast<std::uint64_t>(mean_instructions);
  const auto instructions = static_cast<std::int64_t>(mean / 2 + random_.below(mean + 1));
  system_.user_memory.visit(cpu, random_, instructions);
}

void Process::submit(Cpu& cpu, std::span<AioContext* const> contexts, int transfers, bool write) {
  {
    // Allocates memory and frees it when the work is done, as system calls do for names, messages and buffer lists.
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

  // Returns false if the process must wait.
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

  // Reaps each context's share of a batch. Reading events makes room for new ones. Returns false if the process must wait.
  bool reap(Cpu& cpu) {
    for (; reaped_ < contexts_.size(); ++reaped_) {
      if (!system_.aio.get_events(cpu, *contexts_[reaped_], share_of(batch_, reaped_, contexts_.size()))) return false;
    }
    reaped_ = 0;
    return true;
  }

  std::vector<AioContext*> contexts_;
  int depth_, batch_;
  std::size_t reaped_ = 0;  // contexts whose share of the batch has been reaped
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
