// The search leaves out orders that nobody can tell apart: it must find whatever a search of all orders finds.
#include "sim/interleavings/lock_search.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include "sim/interleavings/lock_cases.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::sim {
namespace {

using workloads::Lock;
using workloads::LockEntry;
using workloads::LockPlace;

constexpr int kCpusOfRandomLock = 3, kOwnWords = 2, kSharedWords = 2;

// An operation on one of the words that all CPUs share, or on a word of this CPU or of the next one. It is skipped unless the
// CPU's latest value is `only_after`.
struct RandomStep {
  enum class Kind : std::uint8_t { load, store, exchange, fetch_add, fence } kind;
  enum class Whose : std::uint8_t { all, own, next } whose;
  int word;
  Value value;
  std::optional<Value> only_after;
};

// Before and after it takes a word by exchange, which it may leave out after certain values, this lock does random steps.
struct RandomProgram {
  std::vector<RandomStep> before, after, leaving;
  std::optional<Value> takes_nothing_after;
  bool spins_on_own_word = false;
};

// A word that is taken by exchange, and the words of the random steps.
class RandomWords {
 public:
  explicit RandomWords(const LockPlace& place)
      : words_(place.memory.place({.name = "words", .size = 1024, .fields = {}}, "words", 64)) {}

  bool try_acquire(Cpu& cpu) const { return cpu.exchange(words_, 1, 8) == 0; }
  void give_back(Cpu& cpu) const { cpu.store_release(words_, 0, 8); }
  Value shared(Cpu& cpu) const { return cpu.load(words_ + 8, 8); }
  Value own(Cpu& cpu) const { return cpu.load(place_of(cpu, {{}, RandomStep::Whose::own, 0, 0, {}}), 8); }

  Value run(Cpu& cpu, const std::vector<RandomStep>& steps, Value seen) const {
    for (const RandomStep& step : steps) {
      if (step.only_after && *step.only_after != seen) continue;
      const Address at = place_of(cpu, step);
      switch (step.kind) {
        case RandomStep::Kind::load: seen = cpu.load(at, 8); break;
        case RandomStep::Kind::store: cpu.store(at, step.value, 8); break;
        case RandomStep::Kind::exchange: seen = cpu.exchange(at, step.value, 8); break;
        case RandomStep::Kind::fetch_add: seen = cpu.fetch_add(at, 1, 8); break;
        case RandomStep::Kind::fence: cpu.fence(); break;
      }
    }
    return seen;
  }

 private:
  Address place_of(const Cpu& cpu, const RandomStep& step) const {
    if (step.whose == RandomStep::Whose::all) return words_ + 8 * static_cast<Address>(1 + step.word);
    const int owner = (cpu.id().value + (step.whose == RandomStep::Whose::next ? 1 : 0)) % kCpusOfRandomLock;
    return words_ + 64 * static_cast<Address>(1 + owner) + 8 * static_cast<Address>(step.word);
  }

  Address words_;
};

class RandomLock final : public Lock {
 public:
  RandomLock(const RandomProgram& program, const LockPlace& place) : program_(&program), words_(place) {}

  bool acquire(Cpu& cpu) override {
    Value seen = words_.run(cpu, program_->before, 0);
    if (seen == program_->takes_nothing_after) return false;
    while (!words_.try_acquire(cpu)) {
      if (program_->spins_on_own_word) words_.own(cpu);
    }
    words_.run(cpu, program_->after, seen);
    return false;
  }
  bool try_acquire(Cpu& cpu) override { return words_.try_acquire(cpu); }
  void release(Cpu& cpu) override {
    words_.run(cpu, program_->leaving, 0);
    words_.give_back(cpu);
  }

 private:
  const RandomProgram* program_;
  RandomWords words_;
};

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  std::vector<RandomStep> steps(int most) {
    std::vector<RandomStep> drawn(below(most + 1));
    for (RandomStep& step : drawn) {
      step.kind = static_cast<RandomStep::Kind>(below(5));
      const int whose = below(6);  // mostly the CPU's own words, which stay private if nobody draws the next one's
      step.whose = whose < 4 ? RandomStep::Whose::own : whose == 4 ? RandomStep::Whose::next : RandomStep::Whose::all;
      step.word = below(step.whose == RandomStep::Whose::all ? kSharedWords : kOwnWords);
      step.value = below(2);
      if (below(2) == 0) step.only_after = below(2);
    }
    return drawn;
  }
  std::vector<RandomStep> loads(int most) {
    std::vector<RandomStep> drawn = steps(most);
    for (RandomStep& step : drawn) step.kind = RandomStep::Kind::load;
    return drawn;
  }
  RandomProgram program() {
    RandomProgram drawn;
    drawn.before = steps(5);
    drawn.after = steps(3);
    drawn.leaving = steps(3);
    if (below(2) == 0) drawn.takes_nothing_after = 1 + below(2);
    drawn.spins_on_own_word = below(2) == 0;
    return drawn;
  }

 private:
  std::mt19937 random_;
};

LockEntry entry_of(const RandomProgram& program, bool fifo) {
  LockEntry entry;
  entry.name = "random";
  entry.traits.fifo = fifo;
  entry.create = [&program](const LockPlace& place) { return std::make_unique<RandomLock>(program, place); };
  return entry;
}

TEST(LockSearch, FindsInOneOfSeveralEqualOrdersWhatItFindsInAll) {
  int broken = 0, fewer = 0, compared = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    Drawn drawn(seed);
    const RandomProgram program = drawn.program();
    const LockEntry entry = entry_of(program, drawn.below(3) == 0);
    const int cpus = 2 + drawn.below(2);
    const auto model = kAllModels[static_cast<std::size_t>(drawn.below(4))];
    const LockCase one = {.lock = &entry, .roles = std::vector(cpus, Role::writes), .acquisitions = 4 - cpus, .model = model};
    const SearchResult all = search(one, {.states = 1200, .one_of_equals = false});
    const SearchResult some = search(one, {.states = 1200});
    const auto met_the_limit = [](const SearchResult& result) { return !result.all_states && result.violation.empty(); };
    if (met_the_limit(all) || (!all.violation.empty() && met_the_limit(some))) continue;
    ++compared;
    EXPECT_EQ(all.violation.empty(), some.violation.empty()) << "seed " << seed << ": " << all.violation << some.violation;
    if (!all.violation.empty()) {
      ++broken;
      continue;
    }
    EXPECT_TRUE(some.all_states);
    EXPECT_LE(some.states, all.states) << "seed " << seed;
    EXPECT_EQ(some.most_passed, all.most_passed) << "seed " << seed;
    EXPECT_EQ(some.cut_off == 0, all.cut_off == 0) << "seed " << seed;
    fewer += some.states < all.states ? 1 : 0;
  }
  EXPECT_GT(broken, 20);
  EXPECT_GT(fewer, 3);
  EXPECT_GT(compared, 40);
}

// After some turns in vain a waiter looks at the clock. If time has passed, a shared word decides whether it goes in without
// the lock or waits anew.
struct TimedProgram {
  std::vector<RandomStep> before, each_turn, after, leaving;
  int turns_between_looks = 1;
  Value goes_in_if = 0;
};

class TimedLock final : public Lock {
 public:
  TimedLock(const TimedProgram& program, const LockPlace& place) : program_(&program), words_(place) {}

  bool acquire(Cpu& cpu) override {
    words_.run(cpu, program_->before, 0);
    Tick since = cpu.now();
    for (int turns = 1; !words_.try_acquire(cpu); ++turns) {
      words_.run(cpu, program_->each_turn, 0);
      if (turns % program_->turns_between_looks != 0 || cpu.now() == since) continue;
      if (words_.shared(cpu) == program_->goes_in_if) return true;
      since = cpu.now();
    }
    words_.run(cpu, program_->after, 0);
    return false;
  }
  bool try_acquire(Cpu& cpu) override { return words_.try_acquire(cpu); }
  void release(Cpu& cpu) override {
    words_.run(cpu, program_->leaving, 0);
    words_.give_back(cpu);
  }

 private:
  const TimedProgram* program_;
  RandomWords words_;
};

// The search takes the turns up to a time-out for one step. A search of each turn must find the same: that it takes as long as
// ever is no violation there.
TEST(LockSearch, FindsByTimeOutsWhatItFindsTurnByTurn) {
  int broken = 0, compared = 0, fewer = 0;
  for (unsigned seed = 0; seed < 75; ++seed) {
    Drawn drawn(seed);
    TimedProgram program{
        .before = drawn.steps(2), .each_turn = drawn.loads(2), .after = drawn.steps(3), .leaving = drawn.steps(2)};
    program.turns_between_looks = 1 + drawn.below(3);
    program.goes_in_if = static_cast<Value>(drawn.below(6));  // 3 and more: mostly never
    LockEntry entry;
    entry.name = "timed";
    entry.create = [&program](const LockPlace& place) { return std::make_unique<TimedLock>(program, place); };
    const LockCase one = {.lock = &entry, .model = kAllModels[static_cast<std::size_t>(drawn.below(4))]};
    const SearchResult turn_by_turn = search(one, {.states = 10000, .steps = 30, .loops_wait = false});
    const SearchResult by_time_outs = search(one, {.states = 10000, .steps = 30});
    if (!turn_by_turn.all_states && turn_by_turn.violation.empty()) continue;
    ++compared;
    broken += turn_by_turn.violation.empty() ? 0 : 1;
    fewer += by_time_outs.states < turn_by_turn.states ? 1 : 0;
    EXPECT_EQ(turn_by_turn.violation.empty(), by_time_outs.violation.empty())
        << "seed " << seed << ": " << turn_by_turn.violation << by_time_outs.violation;
  }
  EXPECT_GT(compared, 30);
  EXPECT_GT(broken, 10);
  EXPECT_GT(compared - broken, 10);
  EXPECT_GT(fewer, 10);
}

// CPU 0 stores two words and then has a full fence: of its own, or of an exchange of a word that nobody else accesses. CPU 1
// crashes if it sees the second store, and after a fence of its own not the first, which needs that its fence came first.
class FencedLock final : public Lock {
 public:
  FencedLock(const LockPlace& place, bool by_exchange)
      : words_(place.memory.place({.name = "words", .size = 512, .fields = {}}, "words", 64)), by_exchange_(by_exchange) {}

  bool acquire(Cpu& cpu) override {
    const Address first = words_ + 64, second = words_ + 128, own = words_ + 192;
    if (cpu.id().value == 0) {
      cpu.store(first, 1, 8);
      cpu.store(second, 1, 8);
      by_exchange_ ? static_cast<void>(cpu.exchange(own, 1, 8)) : cpu.fence();
    } else if (cpu.load(second, 8) == 1) {
      cpu.fence();
      if (cpu.load(first, 8) == 0) throw std::runtime_error("CPU 1's fence came first");
    }
    while (cpu.exchange(words_, 1, 8) != 0) {
    }
    return false;
  }
  bool try_acquire(Cpu&) override { return false; }
  void release(Cpu& cpu) override { cpu.store_release(words_, 0, 8); }

 private:
  Address words_;
  bool by_exchange_;
};

TEST(LockSearch, UnderC11FullFencesOfTwoCpusAreTriedInBothOrders) {
  for (const bool by_exchange : {false, true}) {
    LockEntry entry;
    entry.name = "fenced";
    entry.create = [by_exchange](const LockPlace& place) { return std::make_unique<FencedLock>(place, by_exchange); };
    const SearchResult found = search({.lock = &entry, .model = workloads::MemoryModel::c11}, {});
    EXPECT_NE(found.violation.find("CPU 1's fence came first"), std::string::npos) << by_exchange << found.violation;
  }
}

// A waiter counts its turns in a word of its own, and is told to go on by another word of its own. A releasing CPU that sees a
// waiter crashes.
class CountingLock final : public Lock {
 public:
  explicit CountingLock(const LockPlace& place)
      : words_(place.memory.place({.name = "words", .size = 256, .fields = {}}, "words", 64)) {}

  bool acquire(Cpu& cpu) override {
    if (cpu.exchange(words_, 1, 8) == 0) return false;
    cpu.store(words_ + 8, 1, 8);
    const Address own = words_ + 64 * static_cast<Address>(1 + cpu.id().value);
    Value turns = 0;
    do cpu.store(own, ++turns, 8);
    while (cpu.load(own + 8, 8) == 0);
    return true;
  }
  bool try_acquire(Cpu&) override { return false; }
  void release(Cpu& cpu) override {
    if (cpu.load(words_ + 8, 8) != 0) throw std::runtime_error("a waiter");
    cpu.store(words_, 0, 8);
  }

 private:
  Address words_;
};

TEST(LockSearch, ALoopOnWordsOfItsOwnKeepsNoOtherCpuFromGoingOn) {
  LockEntry entry;
  entry.name = "counting";
  entry.create = [](const LockPlace& place) { return std::make_unique<CountingLock>(place); };
  const SearchResult found = search({.lock = &entry}, {.states = 20'000});
  EXPECT_NE(found.violation.find("a waiter"), std::string::npos) << found.violation;
}

// CPU 1 writes a word of CPU 0 if it comes between two steps of CPU 0. CPU 0 crashes if it reads that word after that.
class MeddledLock final : public Lock {
 public:
  explicit MeddledLock(const LockPlace& place)
      : words_(place.memory.place({.name = "words", .size = 256, .fields = {}}, "words", 64)) {}

  bool acquire(Cpu& cpu) override {
    const Address announced = words_ + 8, own = words_ + 64;
    if (cpu.id().value == 0) {
      cpu.store(announced, 1, 8);
      if (cpu.load(own, 8) != 0) throw std::runtime_error("meddled");
      cpu.store(announced, 0, 8);
    } else if (cpu.load(announced, 8) != 0) {
      cpu.store(own, 1, 8);
    }
    while (cpu.exchange(words_, 1, 8) != 0) {
    }
    return false;
  }
  bool try_acquire(Cpu&) override { return false; }
  void release(Cpu& cpu) override { cpu.store_release(words_, 0, 8); }

 private:
  Address words_;
};

TEST(LockSearch, StartsAgainOnceASecondCpuAccessesBytesThatWereTakenForPrivate) {
  LockEntry entry;
  entry.name = "meddled";
  entry.create = [](const LockPlace& place) { return std::make_unique<MeddledLock>(place); };
  const SearchResult found = search({.lock = &entry}, {.states = 20'000});
  EXPECT_NE(found.violation.find("meddled"), std::string::npos) << found.violation;
}

}  // namespace
}  // namespace linebounce::sim
