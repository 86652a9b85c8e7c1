// Asynchronous I/O: each request that a process submits completes exactly once, and leaves nothing behind.
#include "workloads/linux26/aio/aio.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/failure.hpp"
#include "tests/workloads/linux26/block/block_machine.hpp"
#include "tests/workloads/task_machine.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

constexpr int kRing = 124;  // events of 32 bytes that fit in a page besides its header

// A process that submits `total` requests, never more than its context allows, and waits for some of them in between.
struct Submitter {
  Submitter(AioContext& its_context, int most_of_context, int requests, std::uint64_t number)
      : context(&its_context), most(most_of_context), total(requests), random(1, number, 0) {}

  AioContext* context;
  int most, total;
  Random random;
  int submitted = 0;
  int wanted = 0;        // events that the current get_events() wants; 0 if none is under way
  int waits = 0;         // how often it slept
  bool at_once = false;  // submits all, and reaps events only when all must be complete
  bool over = false;
  std::map<std::string, Value> left = {};  // its structures' values at the end
};

class AioMachine : public TaskMachine {
 public:
  AioMachine(const MachineSpec& spec, double run_us, int objects_per_node)
      : TaskMachine(spec, run_us),
        timers_(*kernel, {.jiffy_us = 100}),
        slab_(*kernel, {}),
        aio(*kernel, scheduler, timers_, slab_, objects_per_node) {
    BlockOptions options = two_adapters(small.machine.layout(), kDisks / 2);
    options.done = [this](Cpu& cpu, Io& io) {
      ++done;
      aio.complete(cpu, io);
    };
    block_ = make_block_layer(*kernel, timers_, slab_, options);
    aio.use(*block_);
    jiffy_ = kernel->interrupts().add_handler([this](Cpu& cpu, FunctionId) {
      cpu.set_timer(100000, jiffy_);
      timers_.tick(cpu);
    });
  }

  Submitter& add_submitter(int cpu, int most, int total) {
    const std::size_t number = submitters_.size();
    const Task& task = add_task(cpu, [this, number](Cpu& own, const Task& self) { go_on(own, self, number); });
    AioContext& context = aio.create_context(task, "kioctx[" + std::to_string(number) + "]", kernel->node_of(cpu), most);
    by_cpu_[cpu].push_back(&task);
    return submitters_.emplace_back(context, most, total, static_cast<std::uint64_t>(number));
  }

  void run_all() {
    run([this](Cpu& cpu) {
      cpu.set_timer(100000, jiffy_);
      for (const Task* task : by_cpu_[cpu.id().value]) scheduler.try_to_wake_up(cpu, *task);
      run_tasks(cpu);
    });
  }

 private:
  static constexpr int kDisks = 4;

  // Runs until it has to wait.
  void go_on(Cpu& cpu, const Task& self, std::size_t number) {
    Submitter& one = submitters_[number];
    while (!one.over) {
      if (one.wanted == 0) {
        submit(cpu, one);
        if (one.at_once) cpu.compute(20'000'000);
        const int in_flight = one.context->in_flight();
        one.wanted = one.submitted == one.total ? in_flight
                                                : static_cast<int>(one.random.below(static_cast<std::uint64_t>(in_flight))) + 1;
      }
      if (!aio.get_events(cpu, *one.context, one.wanted)) {
        ++one.waits;
        return;
      }
      one.wanted = 0;
      one.over = one.submitted == one.total && one.context->in_flight() == 0;
    }
    // Its last requests may still be leaving the kernel.
    cpu.compute(100000);
    const std::string name = "kioctx[" + std::to_string(number) + "]";
    look(cpu, one, name, "kioctx", {"reqs_active", "users", "ctx_lock"});
    look(cpu, one, name + ".ring_info", "ring_info", {"tail"});
    look(cpu, one, name + ".ring", "aio_ring", {"head", "tail"});
    sleep(cpu, self);
  }
  void submit(Cpu& cpu, Submitter& one) {
    const int room = std::min(one.most - one.context->in_flight(), one.total - one.submitted);
    if (room == 0) return;
    const std::uint64_t some = one.random.below(static_cast<std::uint64_t>(room)) + 1;
    std::vector<Aio::Transfer> transfers(one.at_once ? static_cast<std::size_t>(room) : some);
    for (Aio::Transfer& transfer : transfers) transfer.device = static_cast<int>(one.random.below(kDisks));
    aio.submit(cpu, *one.context, transfers);
    one.submitted += static_cast<int>(transfers.size());
  }
  void look(Cpu& cpu, Submitter& one, const std::string& object, const std::string& structure,
            const std::vector<std::string>& fields) {
    const Address begin = find_object(object);
    for (const std::string& field : fields) {
      const FieldPlace place = kernel->field(structure, field);
      one.left[structure + "." + field] = cpu.load(begin + static_cast<Address>(place.offset), place.size);
    }
  }

  Timers timers_;
  SlabAllocator slab_;
  int jiffy_ = 0;
  std::unique_ptr<BlockLayer> block_;
  std::deque<Submitter> submitters_;
  std::map<int, std::vector<const Task*>> by_cpu_;

 public:
  Aio aio;
  int done = 0;  // completed requests
};

class OnAnyMachine : public testing::TestWithParam<std::string> {
 protected:
  static MachineSpec spec() { return GetParam() == "itanium" ? small_itanium(4) : small_nodes(2, 4); }
};
INSTANTIATE_TEST_SUITE_P(, OnAnyMachine, testing::Values("sc", "itanium"), [](const auto& tested) { return tested.param; });

// Two processes on every CPU. Each sends more requests than its ring has slots for events, and together they send more than
// there is memory for kiocbs.
TEST_P(OnAnyMachine, EveryRequestComesBackOnceAndLeavesNothingBehind) {
  constexpr int kRequests = 300;
  constexpr int kMemory = 600;
  AioMachine four(spec(), 120000, kMemory);
  std::vector<Submitter*> submitters;
  for (int i = 0; i < 8; ++i) submitters.push_back(&four.add_submitter(i % 4, 1 + 3 * i, kRequests));
  ASSERT_GT(8 * kRequests, 2 * kMemory);
  four.run_all();
  EXPECT_EQ(four.done, 8 * kRequests);
  for (const Submitter* one : submitters) {
    EXPECT_TRUE(one->over) << "waits for ever, with " << one->context->in_flight() << " in flight";
    EXPECT_EQ(one->context->in_flight(), 0);
    EXPECT_GT(one->waits, 3);
    const std::map<std::string, Value> nothing_left = {{"kioctx.reqs_active", 0},
                                                       {"kioctx.users", 0},
                                                       {"kioctx.ctx_lock", 0},
                                                       {"ring_info.tail", kRequests % kRing},
                                                       {"aio_ring.head", kRequests % kRing},
                                                       {"aio_ring.tail", kRequests % kRing}};
    EXPECT_EQ(one->left, nothing_left);
  }
}

// All are complete before the first is reaped.
TEST(AioContext, AFullRingLosesNoEvent) {
  AioMachine two(small_nodes(2, 2), 60000, 600);
  Submitter& one = two.add_submitter(0, kRing - 1, kRing - 1);
  one.at_once = true;
  two.run_all();
  EXPECT_EQ(two.done, kRing - 1);
  EXPECT_TRUE(one.over);
}

TEST(AioContext, HasNoMoreRequestsThanItsRingHasRoomFor) {
  AioMachine two(small_nodes(2, 2), 100, 600);
  EXPECT_THROW(two.add_submitter(0, kRing, 1), std::invalid_argument);
}

TEST(AioContext, MoreRequestsThanItMayHaveStopTheRun) {
  AioMachine two(small_nodes(2, 2), 10000, 600);
  AioContext* context = nullptr;
  const Task& task =
      two.add_task(0, [&](Cpu& cpu, const Task&) { two.aio.submit(cpu, *context, std::vector<Aio::Transfer>(5)); });
  context = &two.aio.create_context(task, "kioctx", 0, 4);
  const auto program = [&](Cpu& cpu) {
    if (cpu.id().value == 0) two.scheduler.try_to_wake_up(cpu, task);
    two.run_tasks(cpu);
  };
  EXPECT_THROW(two.run(program), ModelFailure);
}

}  // namespace
}  // namespace linebounce::test
