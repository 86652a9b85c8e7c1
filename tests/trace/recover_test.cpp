// Recovery: what is kept of traces that are damaged or make no sense.
#include "trace/recover.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/trace/sample.hpp"
#include "trace/check.hpp"
#include "trace/copy.hpp"

namespace linebounce::trace {
namespace {

struct Kept {
  std::vector<std::vector<Operation>> streams;
  std::string said;
};

// What recovery keeps of a text, which is given without its first line. It must pass every check as a trace of its own.
Kept kept_of(const std::string& text) {
  const ScratchFile file("trace.txt");
  const ScratchFile kept("kept.lbt");
  file.write("linebounce trace 1\n" + text);
  Reader reader(file.path(), {.recover = true});
  keep_what_makes_sense(reader);
  {
    Writer writer(kept.path());
    copy(reader, writer);
  }
  const Reader again(kept.path());
  check(again);
  return {operations_of(again), reader.damage()};
}

std::vector<std::size_t> lengths(const Kept& kept) {
  std::vector<std::size_t> all;
  for (const auto& stream : kept.streams) all.push_back(stream.size());
  return all;
}

using Lengths = std::vector<std::size_t>;

TEST(WhatIsKept, OfASoundTraceIsAllOfIt) {
  const ScratchFile file("trace.lbt");
  write(large_sample(), file.path());
  Reader reader(file.path(), {.recover = true});
  keep_what_makes_sense(reader);
  EXPECT_EQ(operations_of(reader), large_sample().streams);
  EXPECT_EQ(reader.damage(), "");
}

TEST(WhatIsKept, OfAStreamWhoseCreationIsLostIsAllOfIt) {
  const Kept kept = kept_of("stream main\nstream worker created=yes\nworker clock\nworker clock\nmain clock\n");
  EXPECT_EQ(lengths(kept), (Lengths{1, 2}));
  EXPECT_NE(kept.said.find("stream 1 (worker) begins with the trace: nothing creates it"), std::string::npos) << kept.said;
}

TEST(WhatIsKept, SaysNothingOfALostStreamWithoutOperations) {
  const Kept kept = kept_of("stream main\nstream worker created=yes\nmain clock\nend\n");
  EXPECT_EQ(lengths(kept), (Lengths{1, 0}));
  EXPECT_EQ(kept.said, "");
}

TEST(WhatIsKept, BeginsAStreamWhoseCreatorIsEndedBefore) {
  const std::string text = "event e\nstream main\nstream worker created=yes\nmain clock\nmain wait e 1\nmain create worker\n";
  EXPECT_EQ(lengths(kept_of(text + "worker clock\nend\n")), (Lengths{1, 1}));
}

TEST(WhatIsKept, EndsBeforeAWaitForMoreThanIsLeft) {
  const Kept kept = kept_of("event e\nstream a\nstream b\na signal e\nb wait e 1\nb clock\nb wait e 2\nb clock\nend\n");
  EXPECT_EQ(lengths(kept), (Lengths{1, 2}));
  EXPECT_NE(kept.said.find("line 8: stream 1 (b), operation 2: wait for 2 signals of e; what is left has 1"), std::string::npos)
      << kept.said;
}

TEST(WhatIsKept, EndsWhereStreamsWaitForEachOther) {
  const Kept kept =
      kept_of("event e\nevent f\nstream a\nstream b\na clock\na wait e 1\na signal f\nb wait f 1\nb signal e\nend\n");
  EXPECT_EQ(lengths(kept), (Lengths{1, 0}));
  EXPECT_NE(kept.said.find("wait for 1 signals of e, which come only behind what waits itself"), std::string::npos)
      << kept.said;
}

TEST(WhatIsKept, GoesOnBehindAJoinOfAStreamThatIsEnded) {
  const std::string text =
      "event e\nstream main\nstream worker created=yes\nmain create worker\nmain join worker\nmain clock\n";
  EXPECT_EQ(lengths(kept_of(text + "worker clock\nworker wait e 1\nworker clock\nend\n")), (Lengths{3, 1}));
}

TEST(WhatIsKept, DoesNotEndAThreadThatWaitsBehindSuchAJoin) {
  const std::string text =
      "event e\nevent never\nstream main\nstream worker created=yes\nstream logger\n"
      "main create worker\nmain join worker\nmain signal e\nlogger wait e 1\nlogger clock\n";
  EXPECT_EQ(lengths(kept_of(text + "worker wait never 1\nend\n")), (Lengths{3, 0, 2}));
}

TEST(WhatIsKept, EndsBeforeABarrierToWhichNotAllCome) {
  const Kept kept = kept_of("barrier b parties=2\nstream a\nstream b\na barrier b\na barrier b\na clock\nb barrier b\nend\n");
  EXPECT_EQ(lengths(kept), (Lengths{1, 1}));
  EXPECT_NE(kept.said.find("barrier for 4 streams at b; what is left has 3"), std::string::npos) << kept.said;
}

TEST(WhatIsKept, GivesBackTheLocksOfAStreamThatIsCutOff) {
  const Kept kept = kept_of("lock l\nlock m\nstream a\na acquire l\na acquire_shared m\na clock\nend\n");
  ASSERT_EQ(lengths(kept), Lengths{5});
  EXPECT_EQ(kept.streams[0][3], (Operation{Kind::release_shared, 0, 0, 1, 0}));
  EXPECT_EQ(kept.streams[0][4], (Operation{Kind::release, 0, 0, 0, 0}));
  EXPECT_EQ(kept.said, "stream 0 (a) ends with operation 2 and holds m, which it gives back");
}

TEST(WhatIsKept, EndsTheHandlerWithinWhichAStreamIsCutOff) {
  const std::string text = "lock l\nlock m\nstream a cpu=0\nstream h cpu=0 vector=3\na timer 3 1000\n";
  const Kept kept = kept_of(text + "h handler\nh acquire l\nh acquire m\nh release l\n");
  ASSERT_EQ(lengths(kept), (Lengths{1, 6}));
  EXPECT_EQ(kept.streams[1][4], (Operation{Kind::release, 0, 0, 1, 0}));
  EXPECT_EQ(kept.streams[1][5], (Operation{Kind::handler_end, 0, 0, 0, 0}));
  EXPECT_NE(kept_of(text + "h handler\nh clock\n").said.find("ends with operation 1 and is in a handler, which it ends"),
            std::string::npos);
}

TEST(WhatIsKept, HasNoStreamsThatCreateEachOther) {
  const std::string text = "stream main\nstream a created=yes\nstream b created=yes\nmain clock\n";
  const Kept kept = kept_of(text + "a create b\nb create a\nend\n");
  EXPECT_EQ(lengths(kept), (Lengths{1, 0, 0}));
  EXPECT_NE(kept.said.find("line 6: stream 1 (a), operation 0: the stream is created only by what it creates itself"),
            std::string::npos)
      << kept.said;
}

// Each stream of the chain wakes the one before it. Without the last stream's signal all streams stop, one after the other.
TEST(WhatIsKept, OfALongChainOfWaitsIsFoundAtOnce) {
  constexpr std::size_t kStreams = 2000;
  std::string symbols;
  std::string operations;
  for (std::size_t i = 0; i < kStreams; ++i) {
    symbols += fmt::format("event e{0}\nstream s{0}\n", i);
    operations += fmt::format("s{0} clock\ns{0} wait e{0} 1\n", i);
    if (i > 0) operations += fmt::format("s{} signal e{}\n", i, i - 1);
  }
  EXPECT_EQ(lengths(kept_of(symbols + operations)), Lengths(kStreams, 1));
}

TEST(WhatIsKept, DoesNotCountAnEndedThreadAtABarrier) {
  const std::string text = "barrier b parties=2\nevent e\nstream a\nstream c\nstream d\n";
  EXPECT_EQ(lengths(kept_of(text + "a wait e 1\na barrier b\nc barrier b\nc barrier b\nd barrier b\nd clock\n")),
            (Lengths{0, 1, 2}));
}

TEST(WhatIsKept, EndsHandlersForWhichNoInterruptIsAskedAnyMore) {
  const std::string text = "stream a cpu=0\nstream h cpu=0 vector=3\na timer 3 1000\n";
  const std::string handler = "h handler\nh clock\nh handler_end\n";
  EXPECT_EQ(lengths(kept_of(text + handler + handler + "end\n")), (Lengths{1, 3}));
}

TEST(WhatIsKept, LooksAtSeveralWordsWithoutWaitingForAll) {
  const std::string text = "object o size=16\nword object=o offset=0\nword object=o offset=8\nstream a\nstream b\n";
  EXPECT_EQ(lengths(kept_of(text + "a await o+0 1 paired\na await o+8 2\na clock\nb store o+0 8 counted\nend\n")),
            (Lengths{3, 1}));
  EXPECT_EQ(lengths(kept_of(text + "a await o+0 1 paired\na await o+8 2\na clock\nb store o+8 8 counted\nend\n")),
            (Lengths{1, 1}));
}

}  // namespace
}  // namespace linebounce::trace
