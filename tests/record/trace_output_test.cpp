#include "record/collector/trace_output.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trace/check.hpp"
#include "trace/reader.hpp"

namespace linebounce::record {
namespace {

using trace::Kind;
using Kinds = std::vector<Kind>;

// Writes a trace and reads back its operations' kinds.
class Output {
 public:
  using Instructions = TraceOutput::Instructions;
  explicit Output(Window window, Instructions instructions = Instructions::measured)
      : output(writer_, std::move(window), instructions), thread(output.thread(0)) {
    thread.name = "main";
    lock_ = writer_.define(trace::Lock());
    trace::Object word;
    word.size = 8;
    word_ = writer_.define(word);
    output.begin(thread);
  }
  ~Output() { std::filesystem::remove(file_); }

  void acquire(Thread& by) {
    output.append(by, {.kind = Kind::acquire, .id = lock_});
    by.held.push_back({.lock = lock_, .depth = 1});
  }
  void release(Thread& by) {
    output.append(by, {.kind = Kind::release, .id = lock_});
    by.held.clear();
  }
  void store(Thread& by) { output.append(by, {.kind = Kind::store, .bytes = 8, .id = word_}); }

  Kinds kinds(std::uint32_t stream) {
    Kinds found;
    for (const trace::Operation& operation : operations(stream)) found.push_back(operation.kind);
    return found;
  }

  std::vector<trace::Operation> operations(std::uint32_t stream) {
    if (!finished_) {
      output.finish();
      writer_.finish({});
      finished_ = true;
    }
    const trace::Reader reader(file_);
    trace::check(reader);
    std::vector<trace::Operation> found;
    trace::Reader::Cursor cursor = reader.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame())
      found.insert(found.end(), frame.begin(), frame.end());
    return found;
  }

 private:
  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      (std::string("record_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".lbt");
  BackgroundWriter writer_{file_};
  std::uint32_t lock_ = 0, word_ = 0;
  bool finished_ = false;

 public:
  TraceOutput output;
  Thread& thread;
};

TEST(TraceOutput, InstructionsComeBeforeWhatSynchronises) {
  Output output({});
  output.store(output.thread);
  output.acquire(output.thread);
  output.release(output.thread);
  EXPECT_EQ(output.kinds(0), (Kinds{Kind::store, Kind::execute, Kind::acquire, Kind::release}));
}

std::uint64_t executed(Output& output) {
  std::uint64_t instructions = 0;
  for (const trace::Operation& operation : output.operations(0))
    instructions += operation.kind == Kind::execute ? operation.argument : 0;
  return instructions;
}

// A replay counts each access as an instruction: 60, then 39 beside the first store. The second one is owed at the end.
TEST(TraceOutput, CountedInstructionsIncludeTheAccesses) {
  Output output({}, TraceOutput::Instructions::counted);
  output.output.executed(output.thread, 60);
  output.store(output.thread);
  output.output.executed(output.thread, 40);
  output.store(output.thread);
  output.acquire(output.thread);
  output.release(output.thread);
  EXPECT_EQ(executed(output), 99);
}

// Where computation is measured, what is too short for it is two instructions for each access.
TEST(TraceOutput, MeasuredComputationIsAddedToTheAssumedInstructions) {
  Output output({});
  output.output.executed(output.thread, 5000);
  output.store(output.thread);
  output.acquire(output.thread);
  output.release(output.thread);
  EXPECT_EQ(executed(output), 5002);
}

TEST(TraceOutput, ALockHeldAtTheEndIsReleased) {
  Output output({});
  output.acquire(output.thread);
  EXPECT_EQ(output.kinds(0), (Kinds{Kind::acquire, Kind::release}));
}

TEST(TraceOutput, AWindowBeginsWithTheLocksThatAreHeldAndEndsWithoutAny) {
  Output output({.skip = 2, .count = 1});
  output.acquire(output.thread);
  output.store(output.thread);
  output.store(output.thread);  // opens the window
  output.store(output.thread);
  output.release(output.thread);
  EXPECT_EQ(output.kinds(0), (Kinds{Kind::acquire, Kind::store, Kind::execute, Kind::release}));
}

TEST(TraceOutput, AThreadFromBeforeTheWindowIsNotCreatedInIt) {
  Output output({.skip = 1, .count = 10});
  Thread& worker = output.output.thread(1);
  worker.name = "worker[0]";
  output.output.create(output.thread, worker);
  output.output.begin(worker);
  output.store(worker);
  output.output.join(output.thread, worker);
  EXPECT_EQ(output.kinds(0), (Kinds{Kind::join}));
  EXPECT_EQ(output.kinds(1), (Kinds{Kind::store}));
}

// The first thread's operation decides: here it is the window's last, or the last before the window.
TEST(TraceOutput, WhatSeveralThreadsDoTogetherIsInTheWindowForAllOrForNone) {
  for (const std::uint64_t skip : {0, 1}) {
    Output output({.skip = skip, .count = 1});
    Thread& worker = output.output.thread(1);
    output.output.begin(worker);
    const std::array<Thread*, 2> both = {&output.thread, &worker};
    output.output.append_to_all(both, {.kind = Kind::fence});
    const Kinds expected = skip == 0 ? Kinds{Kind::fence} : Kinds{};
    EXPECT_EQ(output.kinds(0), expected);
    EXPECT_EQ(output.kinds(1), expected);
  }
}

// `lives`: c0 creates thread 0, b0 begins it, e0 ends it.
std::pair<std::size_t, std::size_t> apart(const std::string& lives) {
  Output output({});
  for (std::size_t i = 0; i + 1 < lives.size(); i += 3) {
    Thread& thread = output.output.thread(1 + static_cast<std::uint64_t>(lives[i + 1] - '0'));
    thread.name = "worker";
    if (lives[i] == 'c') output.output.create(output.thread, thread);
    if (lives[i] == 'b') output.output.begin(thread);
    if (lives[i] == 'e') output.output.end(thread);
  }
  const auto found = output.output.threads_apart();
  output.kinds(0);
  return {found.threads, found.of};
}

TEST(TraceOutput, ThreadsThatHappenedToRunOneAfterAnotherAreCounted) {
  EXPECT_EQ(apart("c0 c1 b0 e0 b1 e1"), std::pair(std::size_t{2}, std::size_t{2}));
  EXPECT_EQ(apart("c0 b0 c1 e0 b1 e1"), std::pair(std::size_t{2}, std::size_t{2}));
  EXPECT_EQ(apart("c0 c1 c2 b1 e1 b0 b2 e2 e0"), std::pair(std::size_t{1}, std::size_t{3}));
  EXPECT_EQ(apart("c0 c1 b0 b1 e0 e1"), std::pair(std::size_t{0}, std::size_t{2}));
  EXPECT_EQ(apart("c0 c1 b0 b1"), std::pair(std::size_t{0}, std::size_t{2})) << "nobody has ended";
}

TEST(TraceOutput, ThreadsThatTheProgramKeepsApartAreApartInAReplay) {
  EXPECT_EQ(apart("c0 b0 e0 c1 b1 e1"), std::pair(std::size_t{0}, std::size_t{2})) << "created after the other's end";
  EXPECT_EQ(apart("c0 b0 e0"), std::pair(std::size_t{0}, std::size_t{1})) << "there is no other";
}

}  // namespace
}  // namespace linebounce::record
