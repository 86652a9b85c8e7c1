#include "trace/check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/trace/sample.hpp"
#include "trace/operation.hpp"
#include "trace/recover.hpp"

namespace linebounce::trace {
namespace {

// The check's message about a trace, without file name and byte; empty if there is none.
std::string said_of(const Sample& sample, ReadOptions options = {}) {
  const ScratchFile file("trace.lbt");
  write(sample, file.path());
  try {
    check(Reader(file.path(), options));
    return "";
  } catch (const TraceError& error) {
    const std::string said = error.what();
    const std::string begin = file.path().string() + ": byte ";
    EXPECT_TRUE(said.starts_with(begin)) << said;
    return said.substr(said.find(": ", begin.size()) + 2);
  }
}

// The message for the sample with one more operation at the start of stream 0.
std::string said_of_first(const Operation& operation) {
  Sample sample = small_sample();
  sample.streams[0].insert(sample.streams[0].begin(), operation);
  return said_of(sample);
}

// The message for the sample's symbols with these operations.
std::string said_of(const std::vector<Operation>& main, const std::vector<Operation>& worker = {},
                    const std::vector<Operation>& handler = {}) {
  Sample sample = small_sample();
  sample.streams = {main, worker, handler};
  return said_of(sample);
}

const std::string kFirst = "stream 0 (main), operation 0: ";

Operation op(Kind kind, std::uint32_t id = 0, std::uint64_t argument = 0, std::uint16_t flags = 0) {
  return {kind, 0, flags, id, argument};
}

TEST(CheckOfATrace, FindsNothingInASoundOne) {
  EXPECT_EQ(said_of(small_sample()), "");
  EXPECT_EQ(said_of(large_sample()), "");
}

TEST(CheckOfATrace, RefusesAnAccessBehindTheEndOfItsObject) {
  EXPECT_EQ(said_of_first(Operation{Kind::load, 8, 0, 0, 128}), kFirst + "load of 8 bytes at 128 of rq[0], which has 128");
  EXPECT_EQ(said_of_first(Operation{Kind::store, 8, 1 << kRepeatShift, 0, 120}),
            kFirst + "store of 16 bytes at 120 of rq[0], which has 128");
  EXPECT_EQ(said_of_first(Operation{Kind::load, 8, 0, 0, ~std::uint64_t{7}}),
            kFirst + "load of 8 bytes at 18446744073709551608 of rq[0], which has 128");
}

TEST(CheckOfATrace, RefusesSizesThatNoAccessHas) {
  EXPECT_EQ(said_of_first(Operation{Kind::load, 3, 0, 0, 0}), kFirst + "load of 3 bytes; legal: 1, 2, 4, 8");
  EXPECT_EQ(said_of_first(Operation{Kind::exchange, 0, 0, 0, 0}), kFirst + "exchange of 0 bytes; legal: 1, 2, 4, 8");
}

TEST(CheckOfATrace, RefusesAnAccessThatIsNotNaturallyAligned) {
  EXPECT_EQ(said_of_first(Operation{Kind::load, 8, 0, 0, 4}),
            kFirst + "load of 8 bytes at 4 of rq[0] is not naturally aligned");
}

TEST(CheckOfATrace, RefusesFlagsThatAKindDoesNotHave) {
  EXPECT_EQ(said_of_first(Operation{Kind::load, 8, kCounted, 0, 0}), kFirst + "load has flags 0x1; legal: 0xfff2");
  EXPECT_EQ(said_of_first(op(Kind::fence, 0, 0, kFailed)), kFirst + "fence has flags 0x8; legal: 0x0");
}

TEST(CheckOfATrace, RefusesNumbersThatNameNothing) {
  EXPECT_EQ(said_of_first(Operation{Kind::load, 8, 0, 4, 0}), kFirst + "load names number 4 of 4 objects");
  EXPECT_EQ(said_of_first(op(Kind::enter, 2)), kFirst + "enter names number 2 of 2 functions");
  EXPECT_EQ(said_of_first(op(Kind::acquire, 3)), kFirst + "acquire names number 3 of 3 locks");
  EXPECT_EQ(said_of_first(op(Kind::barrier, 1)), kFirst + "barrier names number 1 of 1 barriers");
  EXPECT_EQ(said_of_first(op(Kind::await, 1)), kFirst + "await names number 1 of 1 words");
  EXPECT_EQ(said_of_first(op(Kind::wait, kNone)), kFirst + "wait names number 4294967295 of 1 events");
  EXPECT_EQ(said_of_first(op(Kind::create, 3)), kFirst + "create names number 3 of 3 streams");
  EXPECT_EQ(said_of_first(op(Kind::wake, 65536)), kFirst + "wake names number 65536 of 65536 CPUs");
  EXPECT_EQ(said_of_first(op(Kind::timer, 65536)), kFirst + "timer names number 65536 of 65536 vectors");
}

TEST(CheckOfATrace, RefusesToTakeALockTwice) {
  const std::string said = "stream 0 (main), operation 1: ";
  EXPECT_EQ(said_of({op(Kind::acquire, 1), op(Kind::acquire, 1)}), said + "acquire of files, which the stream holds");
  EXPECT_EQ(said_of({op(Kind::acquire_shared, 1), op(Kind::acquire, 1)}), said + "acquire of files, which the stream holds");
  EXPECT_EQ(said_of({op(Kind::acquire, 1), op(Kind::acquire_shared, 1)}),
            said + "acquire_shared of files, which the stream holds");
}

TEST(CheckOfATrace, LetsReadersNestAndTriesFail) {
  EXPECT_EQ(said_of({op(Kind::acquire_shared, 1), op(Kind::acquire_shared, 1), op(Kind::release_shared, 1),
                     op(Kind::release_shared, 1)}),
            "");
  EXPECT_EQ(said_of({op(Kind::acquire, 1), op(Kind::try_acquire, 1, 0, kFailed), op(Kind::release, 1)}), "");
}

TEST(CheckOfATrace, RefusesToReleaseWhatIsNotHeld) {
  EXPECT_EQ(said_of({op(Kind::release, 1)}), kFirst + "release of files, which the stream does not hold");
  EXPECT_EQ(said_of({op(Kind::acquire, 1), op(Kind::release_shared, 1)}),
            "stream 0 (main), operation 1: release_shared of files, which the stream does not hold shared");
}

TEST(CheckOfATrace, RefusesToEndWithALock) {
  EXPECT_EQ(said_of({op(Kind::clock), op(Kind::acquire, 1), op(Kind::clock)}),
            "stream 0 (main), operation 2: the stream ends here and holds files");
}

TEST(CheckOfATrace, RefusesArgumentsThatNoReplayCanCount) {
  const std::uint64_t all = ~std::uint64_t{0};
  EXPECT_EQ(said_of_first(op(Kind::compute, 0, all)),
            kFirst + "compute has the argument 18446744073709551615; legal: 0 to 1099511627776");
  for (const Kind kind : {Kind::execute, Kind::sleep, Kind::tally}) {
    EXPECT_TRUE(said_of_first(op(kind, 0, kMostCount + 1)).ends_with("1099511627777; legal: 0 to 1099511627776"));
  }
  EXPECT_EQ(said_of_first(op(Kind::timer, 239, kMostPicoseconds + 1)),
            kFirst + "timer has the argument 1125899906842625; legal: 0 to 1125899906842624");
  EXPECT_TRUE(said_of_first(op(Kind::interrupt, 3 << 16, all)).ends_with("legal: 0 to 1125899906842624"));
  EXPECT_EQ(said_of_first(op(Kind::compute, 0, kMostCount)), "");
  EXPECT_EQ(said_of_first(op(Kind::timer, 239, kMostPicoseconds)), "");
}

// A comparison of every hold with every other would need 20 thousand million comparisons.
TEST(CheckOfATrace, AcceptsDeeplyNestedReadersQuickly) {
  constexpr std::size_t kDeep = 200'000;
  std::vector<Operation> nest(kDeep, op(Kind::acquire_shared, 1));
  nest.resize(2 * kDeep, op(Kind::release_shared, 1));
  EXPECT_EQ(said_of(nest), "");
}

TEST(CheckOfATrace, RefusesToLeaveAFunctionThatWasNotEntered) {
  EXPECT_EQ(said_of({op(Kind::enter), op(Kind::leave), op(Kind::leave)}),
            "stream 0 (main), operation 2: leave: the stream is in no function");
}

TEST(CheckOfATrace, RefusesHandlersWhereThereAreNone) {
  EXPECT_EQ(said_of({op(Kind::handler)}), kFirst + "a handler in a stream that has no vector");
  EXPECT_EQ(said_of({}, {}, {op(Kind::handler_end)}), "stream 2 (cpu 3 timer), operation 0: handler_end: there is no handler");
  EXPECT_EQ(said_of({}, {}, {op(Kind::handler), op(Kind::handler)}),
            "stream 2 (cpu 3 timer), operation 1: handler: the last one has not ended");
}

TEST(CheckOfATrace, RefusesAWaitForMoreSignalsThanThereAre) {
  EXPECT_EQ(said_of({op(Kind::wait, 0, 1), op(Kind::wait, 0, 3)}, {}, {op(Kind::signal), op(Kind::signal)}),
            "stream 0 (main), operation 1: wait for 3 signals of work is there; the trace has 2");
}

TEST(CheckOfATrace, RefusesToAwaitMoreWritesThanThereAre) {
  const Operation write{Kind::store, 8, kCounted, 1, 64};
  EXPECT_EQ(said_of({write, op(Kind::await, 0, 1)}), "");
  EXPECT_EQ(said_of({write, op(Kind::await, 0, 2)}),
            "stream 0 (main), operation 1: await for 2 counted writes of rq[1].curr; the trace has 1");
  EXPECT_EQ(said_of_first(Operation{Kind::store, 8, kCounted, 1, 72}),
            kFirst + "counted write of rq[1]+72, which is not a word that is awaited");
}

TEST(CheckOfATrace, IsContentWithOneOfSeveralWordsThatAreAwaitedTogether) {
  EXPECT_EQ(said_of({op(Kind::await, 0, 9, kPaired), op(Kind::await, 0, 8)}), "");
}

TEST(CheckOfATrace, RefusesToSleepLongerThanAnybodyWakes) {
  EXPECT_EQ(said_of({op(Kind::sleep, 0, 2), op(Kind::wake, 0)}),
            "stream 0 (main), operation 0: sleep for 2 wake-ups of CPU 0; the trace has 1");
  EXPECT_EQ(said_of({op(Kind::create, 1)}, {op(Kind::sleep, 0, 1)}),
            "stream 1 (worker), operation 0: sleep in a stream that has no CPU");
}

TEST(CheckOfATrace, RefusesToWakeOrInterruptWhereNothingRan) {
  EXPECT_EQ(said_of({op(Kind::wake, 7)}), kFirst + "wake of CPU 7, on which no stream ran; legal: 0, 3");
  EXPECT_EQ(said_of({op(Kind::interrupt, (7 << 16) + 239)}),
            kFirst + "interrupt of CPU 7, on which no stream ran; legal: 0, 3");
}

// The message is repeated for each of many streams. When each text listed all CPUs, and each stream's rules searched all
// streams, a file of 800 KiB took tens of GiB and half an hour.
TEST(CheckOfATrace, OfManyStreamsTakesTimeAndTextInProportion) {
  constexpr std::size_t kStreams = 30000;
  std::string text = "linebounce trace 1\n";
  for (std::size_t i = 0; i < kStreams; ++i) text += fmt::format("stream t{} cpu={}\n", i, i);
  for (std::size_t i = 0; i < kStreams; ++i) text += fmt::format("t{} wake 60000\n", i);
  const ScratchFile file("many.txt");
  file.write(text + "end\n");
  Reader reader(file.path(), {.recover = true});
  keep_what_makes_sense(reader);
  EXPECT_NE(reader.damage().find("legal: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 and 29980 more"),
            std::string::npos);
  EXPECT_LT(reader.damage().size(), kStreams * 300);
}

// A lock with a name of a megabyte is held by every stream at its end.
TEST(CheckOfATrace, RepeatsALongNameInFewMessages) {
  constexpr std::size_t kStreams = 300, kName = 1 << 20;
  std::string text = "linebounce trace 1\nlock " + std::string(kName, 'x') + "\n";
  for (std::size_t i = 0; i < kStreams; ++i) text += fmt::format("stream t{}\n", i);
  for (std::size_t i = 0; i < kStreams; ++i) text += fmt::format("t{} acquire #0\n", i);
  const ScratchFile file("long.txt");
  file.write(text + "end\n");
  Reader reader(file.path(), {.recover = true});
  keep_what_makes_sense(reader);
  EXPECT_TRUE(reader.damage().starts_with("stream 0 (t0) ends with operation 0 and holds xxx"));
  EXPECT_TRUE(reader.damage().ends_with("\nand more"));
  EXPECT_LT(reader.damage().size(), 3 * kName);
}

TEST(CheckOfATrace, RefusesHandlersForWhichNoInterruptIsAsked) {
  EXPECT_EQ(said_of({op(Kind::interrupt, (3 << 16) + 239)}, {},
                    {op(Kind::handler), op(Kind::handler_end), op(Kind::handler), op(Kind::handler_end)}),
            "stream 2 (cpu 3 timer), operation 2: handler for 2 interrupts 239 of CPU 3; the trace has 1");
}

TEST(CheckOfATrace, RefusesABarrierThatSomebodyDoesNotReach) {
  EXPECT_EQ(said_of({op(Kind::barrier), op(Kind::barrier), op(Kind::barrier)}),
            "stream 0 (main), operation 2: the last to come to barrier start, to which streams come 3 times in all; legal: "
            "multiples of its 2 parties");
}

TEST(CheckOfATrace, RefusesStreamsThatAreCreatedNeverOrTwice) {
  EXPECT_EQ(said_of({op(Kind::create, 1), op(Kind::create, 1)}),
            "stream 0 (main), operation 1: create of stream 1 (worker), which has been created");
  EXPECT_EQ(said_of({op(Kind::create, 2)}), kFirst + "create of stream 2 (cpu 3 timer), which begins with the trace");
  EXPECT_EQ(said_of({op(Kind::join, 1)}), kFirst + "join of stream 1 (worker), which nobody creates");
  EXPECT_EQ(said_of({}, {op(Kind::clock)}),
            "stream 1 (worker), operation 0: the stream is one that is created, and nobody creates it");
  EXPECT_EQ(said_of({op(Kind::join, 0)}), kFirst + "join of the stream itself");
}

// Streams are checked in several threads, each of which counts what its own streams bring.
TEST(CheckOfATrace, FindsWhatStreamsOweEachOtherInEveryRun) {
  Sample sample = small_sample();
  const std::uint32_t workers = 20;
  sample.streams.resize(3);
  for (std::uint32_t i = 0; i < workers; ++i) {
    const Stream worker{.name = "extra", .created = true};
    sample.definitions.emplace_back(worker);
    sample.symbols.define(worker);
    sample.streams.push_back({op(Kind::signal), op(Kind::wait, 0, workers)});
  }
  sample.streams[0] = {op(Kind::create, 1)};
  sample.streams[1] = {op(Kind::wait, 0, workers)};
  sample.streams[2] = {};
  for (std::uint32_t i = 0; i < workers; ++i) sample.streams[0].push_back(op(Kind::create, 3 + i));
  for (int run = 0; run < 20; ++run) EXPECT_EQ(said_of(sample), "");

  sample.streams[22].push_back(op(Kind::create, 3));
  for (int run = 0; run < 20; ++run) {
    EXPECT_EQ(said_of(sample), "stream 22 (extra), operation 2: create of stream 3 (extra), which has been created");
  }
  sample.streams[22] = {};
  sample.streams[1] = {op(Kind::wait, 0, workers)};
  for (int run = 0; run < 20; ++run) {
    EXPECT_EQ(said_of(sample), fmt::format("stream 1 (worker), operation 0: wait for {} signals of {}; the trace has {}",
                                           workers, sample.symbols.events[0].name, workers - 1));
  }
}

TEST(CheckOfATrace, NamesTheLineOfATextInsteadOfTheByte) {
  const ScratchFile file("trace.txt");
  file.write("linebounce trace 1\nobject a size=8\n\n# too far:\nstream main\nmain load a+0 8\nmain load a+8 8\nend\n");
  const Reader reader(file.path());
  try {
    check(reader);
    FAIL();
  } catch (const TraceError& error) {
    EXPECT_EQ(error.what(),
              file.path().string() + ": line 7: stream 0 (main), operation 1: load of 8 bytes at 8 of a, which has 8");
  }
}

TEST(CheckOfATrace, DoesNotHoldACutOffTraceToWhatItsEndWouldHaveBrought) {
  const ScratchFile file("trace.txt");
  file.write("linebounce trace 1\nlock l\nevent e\nstream main\nmain acquire l\nmain wait e 7\n");
  check(Reader(file.path(), {.recover = true}));
}

}  // namespace
}  // namespace linebounce::trace
