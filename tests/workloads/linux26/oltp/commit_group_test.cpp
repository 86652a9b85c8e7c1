// Sessions that commit in groups: all of a group commit, and none stays asleep.
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "tests/workloads/task_machine.hpp"
#include "workloads/linux26/oltp/process.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

struct Session {
  CommitGroup::Member member;
  Random random;
  bool waits = false;
  int commits = 0;
};

// Sessions on all CPUs that compute and commit, forever or `most` times.
class CommitMachine : public TaskMachine {
 public:
  CommitMachine(const MachineSpec& spec, double run_us, int size, int count, int most)
      : TaskMachine(spec, run_us), group_(*kernel, scheduler, "sem_array", 0, size), most_(most) {
    for (int i = 0; i < count; ++i) {
      const auto number = static_cast<std::size_t>(i);
      const Task& task =
          add_task(i % spec.cpus, [this, number](Cpu& cpu, const Task& self) { go_on(cpu, self, sessions[number]); });
      tasks_.push_back(&task);
      const std::string name = "sem_queue[" + std::to_string(i) + "]";
      sessions.push_back({CommitGroup::Member(*kernel, task, name, kernel->node_of(i % spec.cpus)),
                          Random(1, static_cast<std::uint64_t>(i), 0)});
    }
  }

  void run_all() {
    run([this](Cpu& cpu) {
      for (std::size_t i = 0; cpu.id().value == 0 && i < tasks_.size(); ++i) scheduler.try_to_wake_up(cpu, *tasks_[i]);
      run_tasks(cpu);
    });
  }

 private:
  void go_on(Cpu& cpu, const Task& self, Session& session) {
    for (;;) {
      if (!session.waits) {
        if (session.commits == most_) return sleep(cpu, self);
        cpu.compute(static_cast<std::int64_t>(session.random.below(20000)));
        if (group_.join(cpu, session.member)) {
          cpu.compute(10000);  // writes the log while others join
          group_.post(cpu);
        } else {
          session.waits = true;
        }
      }
      if (session.waits && group_.waits(cpu, session.member)) return;
      session.waits = false;
      ++session.commits;
    }
  }

  CommitGroup group_;
  int most_;
  std::vector<const Task*> tasks_;

 public:
  std::deque<Session> sessions;
};

class OnAnyMachine : public testing::TestWithParam<std::string> {
 protected:
  static MachineSpec spec() { return GetParam() == "itanium" ? small_itanium(4) : small_machine(4); }
};
INSTANTIATE_TEST_SUITE_P(, OnAnyMachine, testing::Values("sc", "itanium"), [](const auto& tested) { return tested.param; });

// A group has as many sessions as exist: none can continue before all others have joined.
TEST_P(OnAnyMachine, AGroupOfAllCommitsInStep) {
  CommitMachine four(spec(), 20000, 6, 6, 50);
  four.run_all();
  for (const Session& session : four.sessions) EXPECT_EQ(session.commits, 50);
}

TEST_P(OnAnyMachine, NoSessionIsLeftAsleepWhenOthersJoinWhileTheLogIsWritten) {
  constexpr int kForEver = -1;
  CommitMachine four(spec(), 20000, 3, 12, kForEver);
  four.run_all();
  int least = four.sessions.front().commits;
  int most = least;
  for (const Session& session : four.sessions) {
    least = std::min(least, session.commits);
    most = std::max(most, session.commits);
  }
  EXPECT_GT(least, 50);
  EXPECT_LT(most, 2 * least);
}

TEST_P(OnAnyMachine, ASessionThatCommitsAloneNeverWaits) {
  CommitMachine four(spec(), 20000, 1, 4, 50);
  four.run_all();
  for (const Session& session : four.sessions) {
    EXPECT_EQ(session.commits, 50);
    EXPECT_FALSE(session.waits);
  }
}

}  // namespace
}  // namespace linebounce::test
