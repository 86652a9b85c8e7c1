// A trial that a counter from a file must pass before a workload uses it, because a counter that loses updates looks fast.
//
// All CPUs use spare counters on a randomly perturbed schedule, because on some machines two CPUs in lockstep never meet.
// Operations that race are undone one after the other, so that no second loss hides the first.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "workloads/counters/counter.hpp"
#include "workloads/counters/counters.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class CounterTrial {
 public:
  // `place`: where the workload places its own counter; the spare counters get lines of their own.
  CounterTrial(const CounterEntry& entry, CounterPlace place, std::uint64_t seed, bool references);

  // Errors: ModelFailure, if events or references are lost.
  void run(Cpu& cpu);

 private:
  // The references are taken and dropped in four ways, with a spare count for each.
  enum Way : std::uint8_t { kTake, kDrop, kTakeAndDrop, kDie };
  static constexpr int kWays = 4;

  void count_events(Cpu& cpu, Random& random);
  void race_to_take(Cpu& cpu, Random& random);
  void race_to_drop(Cpu& cpu, Random& random);
  void race_to_take_and_drop(Cpu& cpu, Random& random);
  void race_to_drop_the_last(Cpu& cpu, Random& random);
  // Each of these does its operation `rounds_` times.
  void take_all(Cpu& cpu, Way way, Random* random);
  // Drops a reference that is not the last.
  void drop_all(Cpu& cpu, Way way, Random* random);
  void drop(Cpu& cpu, Way way);
  void let_owner_die(Cpu& cpu, Way way);
  void judge_last();
  template <class Work>
  void one_by_one(Cpu& cpu, Work work);
  void perturb(Cpu& cpu, Random* random) const;
  void expect_sum(Cpu& cpu, std::int64_t expected);
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  int cpus_;
  std::int64_t rounds_;  // rounds of each CPU
  std::uint64_t seed_;
  Barrier together_;
  Address turn_;  // the CPU whose turn it is in one_by_one()
  std::unique_ptr<Counter> counter_;
  std::array<std::unique_ptr<ReferenceCount>, kWays> counts_;  // by Way
  struct Drops {
    // `last`: the CPU that was told that it dropped the last reference; -1: no CPU.
    Tick latest_began = -1, last_ended = -1;
  };
  std::vector<Drops> drops_;  // by CPU, for kDie
};

// The trials of a workload's counters. Only counters from files are tried, not the built-in ones.
class CounterTrials {
 public:
  // Delays the start of a run with a counter from a file by this much simulated time, so that the trial is not part of its
  // results.
  static constexpr double kUs = 10'000;

  explicit CounterTrials(const WorkloadSetup& setting) : setting_(setting) {}
  // Arguments: as for CounterTrial.
  void add(const CounterEntry& entry, const CounterPlace& place, bool references);
  // Each CPU calls it once, at the start of its program.
  void run(Cpu& cpu);

 private:
  WorkloadSetup setting_;
  std::vector<std::unique_ptr<CounterTrial>> trials_;
};

}  // namespace linebounce::workloads
