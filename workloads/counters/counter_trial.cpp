#include "workloads/counters/counter_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/failure.hpp"
#include "workloads/program/times.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::uint64_t kTrialSeries = 0x747269616c;  // the stream of random numbers
// Operations of all CPUs together. Raised if a CPU would get fewer than kFewestRounds.
constexpr std::int64_t kRacingOperations = 128;
constexpr std::int64_t kFewestRounds = 4;  // rounds of each CPU

}  // namespace

CounterTrial::CounterTrial(const CounterEntry& entry, CounterPlace place, std::uint64_t seed, bool references)
    : name_(entry.name),
      cpus_(place.cpus),
      rounds_(std::max(kFewestRounds, kRacingOperations / place.cpus)),
      seed_(seed),
      together_(place.memory, place.name + "_trial_together", cpus_),
      turn_(place.memory.place_array(place.name + "_trial_turn", place.memory.line_bytes())),
      drops_(cpus_) {
  place.word.reset();
  const std::string name = place.name + "_trial";
  place.name = name;
  if (!references) {
    counter_ = entry.create_counter(place);
    return;
  }
  for (std::size_t way = 0; way < counts_.size(); ++way) {
    place.name = fmt::format("{}[{}]", name, way);
    counts_.at(way) = entry.create_reference_count(place);
  }
}

void CounterTrial::run(Cpu& cpu) {
  Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), kTrialSeries);
  if (counter_) return count_events(cpu, random);
  race_to_take(cpu, random);
  race_to_drop(cpu, random);
  race_to_take_and_drop(cpu, random);
  race_to_drop_the_last(cpu, random);
}

void CounterTrial::count_events(Cpu& cpu, Random& random) {
  for (const std::int64_t amount : {1, -1}) {
    for (std::int64_t i = 0; i < rounds_; ++i) {
      perturb(cpu, &random);
      counter_->add(cpu, amount);
    }
    together_.wait(cpu);
    if (cpu.id().value == 0) expect_sum(cpu, amount > 0 ? rounds_ * cpus_ : 0);
    together_.wait(cpu);
  }
}

void CounterTrial::expect_sum(Cpu& cpu, std::int64_t expected) {
  const std::int64_t sum = counter_->read(cpu);
  const std::int64_t all = rounds_ * cpus_;
  if (sum == expected) return;
  if (expected > 0) fail(fmt::format("{} of {} events are counted", sum, all));
  fail(fmt::format("after as many events were taken back as were counted, {}, the sum is {}", all, sum));
}

void CounterTrial::race_to_take(Cpu& cpu, Random& random) {
  take_all(cpu, kTake, &random);
  together_.wait(cpu);
  one_by_one(cpu, [&] { drop_all(cpu, kTake, nullptr); });
  let_owner_die(cpu, kTake);
}

void CounterTrial::race_to_drop(Cpu& cpu, Random& random) {
  one_by_one(cpu, [&] { take_all(cpu, kDrop, nullptr); });
  drop_all(cpu, kDrop, &random);
  together_.wait(cpu);
  let_owner_die(cpu, kDrop);
}

void CounterTrial::race_to_take_and_drop(Cpu& cpu, Random& random) {
  for (std::int64_t i = 0; i < rounds_; ++i) {
    perturb(cpu, &random);
    counts_[kTakeAndDrop]->get(cpu);
    perturb(cpu, &random);
    drop(cpu, kTakeAndDrop);
  }
  together_.wait(cpu);
  let_owner_die(cpu, kTakeAndDrop);
}

// The owner drops its own reference while the others drop theirs. Exactly one CPU must be told that its reference was the last.
void CounterTrial::race_to_drop_the_last(Cpu& cpu, Random& random) {
  take_all(cpu, kDie, &random);
  together_.wait(cpu);
  Drops& own = drops_[cpu.id().value];
  const auto drop_one = [&](bool dies) {
    perturb(cpu, &random);
    own.latest_began = cpu.local_time();
    if (dies ? counts_[kDie]->begin_dying(cpu) : counts_[kDie]->put(cpu)) own.last_ended = cpu.local_time();
  };
  if (cpu.id().value == 0) drop_one(true);
  for (std::int64_t i = 0; i < rounds_; ++i) drop_one(false);
  together_.wait(cpu);
  if (cpu.id().value == 0) judge_last();
}

void CounterTrial::judge_last() {
  const auto told = std::ranges::count_if(drops_, [](const Drops& drops) { return drops.last_ended >= 0; });
  if (told != 1) fail(fmt::format("{} CPUs are told that they have dropped the last reference", told));
  const Tick last = std::ranges::max_element(drops_, {}, &Drops::last_ended)->last_ended;
  const auto late = std::ranges::find_if(drops_, [last](const Drops& drops) { return drops.latest_began > last; });
  if (late != drops_.end()) fail(fmt::format("a last reference is dropped while CPU {} holds one", late - drops_.begin()));
}

void CounterTrial::take_all(Cpu& cpu, Way way, Random* random) {
  for (std::int64_t i = 0; i < rounds_; ++i) {
    perturb(cpu, random);
    counts_.at(way)->get(cpu);
  }
}

void CounterTrial::drop_all(Cpu& cpu, Way way, Random* random) {
  for (std::int64_t i = 0; i < rounds_; ++i) {
    perturb(cpu, random);
    drop(cpu, way);
  }
}

void CounterTrial::drop(Cpu& cpu, Way way) {
  if (counts_.at(way)->put(cpu)) fail("a last reference is dropped while the owner holds its own");
}

void CounterTrial::let_owner_die(Cpu& cpu, Way way) {
  if (cpu.id().value == 0 && !counts_.at(way)->begin_dying(cpu)) fail("the owner drops the last reference, and is not told so");
}

template <class Work>
void CounterTrial::one_by_one(Cpu& cpu, Work work) {
  const auto me = static_cast<Value>(cpu.id().value);
  cpu.spin_until_acquire(turn_, [me](Value turn) { return turn == me; });
  work();
  cpu.store_release(turn_, (me + 1) % static_cast<Value>(cpus_));
  together_.wait(cpu);
}

// Delays that are short, medium and long compared to a transfer of a line, so that some of them suit any machine.
void CounterTrial::perturb(Cpu& cpu, Random* random) const {
  if (random == nullptr) return;
  constexpr std::array<std::uint64_t, 3> kBelowCycles = {16, 128, 1024};
  const std::uint64_t below = kBelowCycles.at(random->below(kBelowCycles.size()));
  const auto cycles = static_cast<std::int64_t>(random->below(below));
  if (cycles > 0) cpu.compute(cycles);
}

void CounterTrial::fail(const std::string& what) const {
  throw ModelFailure(fmt::format("the counter {} is wrong: with {} CPUs, {}", name_, cpus_, what));
}

void CounterTrials::add(const CounterEntry& entry, const CounterPlace& place, bool references) {
  const auto is_this_one = [&entry](const CounterEntry& file) { return file.name == entry.name; };
  if (std::ranges::none_of(setting_.counters, is_this_one)) return;
  trials_.push_back(std::make_unique<CounterTrial>(entry, place, setting_.seed, references));
}

void CounterTrials::run(Cpu& cpu) {
  if (trials_.empty()) return;
  for (const auto& trial : trials_) trial->run(cpu);
  const double left_us = kUs - cpu.now_ns() / 1000;
  if (left_us > 0) cpu.compute(cycles(left_us, setting_.machine));
}

}  // namespace linebounce::workloads
