#include "workloads/linux26/oltp/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace linebounce::workloads {
namespace {

// Of so many transfers those of one context.
int share_of(int transfers, std::size_t context, std::size_t contexts) {
  const auto up_to = [&](std::size_t number) { return transfers * number / contexts; };
  return static_cast<int>(up_to(context + 1) - up_to(context));
}

// A stream goes through a few sets of the outermost cache, with many more lines than these hold.
constexpr std::uint64_t kStreamSets = 16;
constexpr std::uint64_t kLinesOfSet = 64;

}  // namespace

OtherMemory::OtherMemory(Kernel& kernel, const std::string& name, const OtherMemoryShape& shape, const Pace& pace)
    : kernel_(kernel), shape_(shape), pace_(pace), node_shared_(static_cast<std::size_t>(kernel.nodes())) {
  AddressSpace& memory = kernel.memory();
  const int line = memory.line_bytes();
  const auto lines = [&](const std::string& array, int count, int node) {
    std::vector<Address> addresses;
    const Address begin = memory.place_array(array, std::int64_t{count} * line, Home::on(node));
    for (int i = 0; i < count; ++i) addresses.push_back(begin + static_cast<Address>(i) * static_cast<Address>(line));
    return addresses;
  };
  const int nodes = kernel.nodes();
  for (int node = 0; node < nodes; ++node) {
    const int share = (shape.shared_lines + node) / nodes;
    const std::vector<Address> here = lines(fmt::format("{}_shared[{}]", name, node), std::max(1, share), node);
    shared_.insert(shared_.end(), here.begin(), here.end());
    node_shared_[static_cast<std::size_t>(node)] = lines(fmt::format("{}_of_node[{}]", name, node), shape.node_lines, node);
  }
  const CacheSpec& outermost = kernel.machine().caches.back();
  set_stride_ = static_cast<std::uint64_t>(outermost.size_kib) * 1024 / static_cast<std::uint64_t>(outermost.ways);
  const auto bytes = static_cast<std::int64_t>(set_stride_ * kLinesOfSet);
  for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
    const int node = kernel.node_of(cpu);
    local_.push_back({memory.place_array(fmt::format("{}_memory[{}]", name, cpu), bytes, Home::on(node))});
    remote_.push_back({memory.place_array(fmt::format("{}_far_memory[{}]", name, cpu), bytes, Home::on((node + 1) % nodes))});
  }
}

void OtherMemory::visit(Cpu& cpu, Random& random, std::int64_t instructions) {
  const std::array<double, kKinds> means = {shape_.shared, shape_.node_shared, shape_.local_memory, shape_.remote_memory};
  // The fraction of a miss is drawn, so that the means are kept.
  std::vector<Kind> order;
  for (int kind = 0; kind < kKinds; ++kind) {
    const auto milli = static_cast<std::uint64_t>(std::llround(means[static_cast<std::size_t>(kind)] * 1000));
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
  const auto self = static_cast<std::size_t>(cpu.id().value);
  const auto draw = [&random](const std::vector<Address>& lines) { return lines[random.below(lines.size())]; };
  switch (kind) {
    case kShared: cpu.fetch_add(draw(shared_), 1); break;
    case kNodeShared: cpu.fetch_add(draw(node_shared_[static_cast<std::size_t>(kernel_.node_of(cpu.id().value))]), 1); break;
    case kLocalMemory: cpu.load(next_line(local_[self])); break;
    case kRemoteMemory: cpu.load(next_line(remote_[self])); break;
    case kKinds: break;
  }
}

Address OtherMemory::next_line(Stream& stream) const {
  const std::uint64_t number = stream.next++ % (kStreamSets * kLinesOfSet);
  const auto line = static_cast<std::uint64_t>(kernel_.memory().line_bytes());
  return stream.begin + number / kStreamSets * set_stride_ + number % kStreamSets * line;
}

void Process::compute(Cpu& cpu, std::int64_t mean_instructions) {
  const FunctionScope scope(cpu, system_.user);
  const auto mean = static_cast<std::uint64_t>(mean_instructions);
  const auto instructions = static_cast<std::int64_t>(mean / 2 + random_.below(mean + 1));
  system_.user_memory.visit(cpu, random_, instructions);
}

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
