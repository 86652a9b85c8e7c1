#include "commands/advise/byte_use.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "commands/compare_locks/lock_choice.hpp"
#include "forms/tests/converted.hpp"

namespace linebounce::sim {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class TraceText {
 public:
  explicit TraceText(const std::string& lines) {
    std::ofstream(folder_ / "t.txt") << "linebounce trace 1\n" << lines << "end\n";
    reader_.emplace(folder_ / "t.txt");
  }
  [[nodiscard]] const trace::Reader& reader() const { return *reader_; }

 private:
  TemporaryFolder folder_;
  std::optional<trace::Reader> reader_;
};

std::vector<LineUsers> lines_at(const TraceText& trace, const ObjectPlaces& places) {
  return lines_of_several_threads(trace.reader(), {&places, 1}).front();
}

constexpr const char* kTwoThreads = "object counts size=64\nobject other size=64\nstream a\nstream b\n";

TEST(ByteUse, OnlyLinesOfSeveralThreadsThatSomebodyWritesAreKept) {
  const TraceText trace(std::string(kTwoThreads) +
                        "a store counts+0 8\nb load counts+8 8\n"  // kept
                        // One line contains only bytes of a, the other only bytes of b.
                        "a store counts+32 8\nb load other+0 8\n"
                        "a load other+32 8\nb load other+32 8\n");  // no thread writes
  const auto lines = lines_at(trace, {32, {0x1000, 0x2000}});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].line, 0x1000U / 32);
  ASSERT_THAT(lines[0].pieces, SizeIs(2));
  EXPECT_EQ(lines[0].pieces[1].offset, 8);
  EXPECT_EQ(lines[0].pieces[1].threads[0].reads, 1);
}

TEST(ByteUse, WhatNobodyTouchesOfAHugeObjectTakesNoMemory) {
  const TraceText trace(
      "object heap size=281474976710656\nstream a\nstream b\n"  // 2^48
      "a store heap+1099511627776 8\nb load heap+1099511627776 8\na store heap+0 8\nb load heap+0 8\n");
  const auto lines = lines_at(trace, {64, {0x1000}});
  ASSERT_THAT(lines, SizeIs(2)) << "by address, not by when they were touched";
  EXPECT_EQ(lines[0].line, 0x1000U / 64);
  EXPECT_EQ(lines[1].line, (0x1000U + 1099511627776U) / 64);
}

TEST(ByteUse, ObjectsThatThePlacementPutsIntoOneLineShareIt) {
  const TraceText trace("object x size=8\nobject y size=8\nstream a\nstream b\na store x+0 8\nb store y+0 8\n");
  EXPECT_THAT(lines_at(trace, {64, {0x1000, 0x1008}}), SizeIs(1));
  EXPECT_THAT(lines_at(trace, {64, {0x1000, 0x1040}}), IsEmpty());
}

TEST(ByteUse, EachPlacementHasItsOwnLinesWhereverObjectsBegin) {
  const TraceText trace(
      "object x size=24\nobject y size=24\nobject z size=24\nstream a\nstream b\n"
      "a store x+16 8\nb store y+0 8\na load z+8 8\nb load z+16 8\n");
  // In one line of 32 bytes, x ends and y begins.
  const std::array<ObjectPlaces, 4> placements = {{{32, {0x1000, 0x1018, 0x1048}},
                                                   {32, {0x1000, 0x1020, 0x1048}},    // no line is shared
                                                   {32, {0x1008, 0x1020, 0x1050}},    // x+16 is at 0x1018, y in the next line
                                                   {64, {0x1000, 0x1020, 0x1048}}}};  // x and y
  const auto lines = lines_of_several_threads(trace.reader(), placements);
  ASSERT_THAT(lines, SizeIs(4));
  ASSERT_THAT(lines[0], SizeIs(1));
  EXPECT_THAT(lines[0][0].pieces, SizeIs(2)) << "x+16 at 0x1010 and y at 0x1018";
  EXPECT_THAT(lines[1], IsEmpty());
  EXPECT_THAT(lines[2], IsEmpty());
  ASSERT_THAT(lines[3], SizeIs(1));
  EXPECT_THAT(lines[3][0].pieces, SizeIs(2));
}

TEST(ByteUse, RepeatedAccessesTouchEachPlaceAndOverlappingOnesAreOnePiece) {
  const TraceText trace(std::string(kTwoThreads) + "a store counts+0 8 repeats=2\nb store counts+4 4\n");
  const auto lines = lines_at(trace, {64, {0x1000, 0x2000}});
  ASSERT_THAT(lines, SizeIs(1));
  ASSERT_THAT(lines[0].pieces, SizeIs(3));
  EXPECT_THAT(lines[0].pieces[0].threads, SizeIs(2)) << "bytes 0 to 7, of which b writes the second half";
}

TEST(ByteUse, TakingALockWritesItsWord) {
  const TraceText trace(
      "object table size=64\nlock l algorithm=ticket object=table offset=8\nstream a\nstream b\n"
      "a acquire l\na release l\nb load table+0 8\n");
  const auto lines = lines_at(trace, {64, {0x1000}});
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0].pieces[1].threads[0].writes, 2);
}

// "main" initialises the slots, two threads use them, and "main" adds them up.
TEST(ByteUse, WhatIsDoneWhileNoOtherThreadIsAliveIsLeftOut) {
  const std::string head = "object counts size=64\nstream main\nstream a created=yes\nstream b created=yes\n";
  const std::string work = "main create a\nmain create b\na store counts+0 8\nb store counts+8 8\n";
  const TraceText trace(head + "main store counts+0 8 repeats=7\n" + work +
                        "main join a\nmain load counts+16 8\nmain join b\nmain load counts+0 8 repeats=7\n");
  const auto lines = lines_at(trace, {64, {0x1000}});
  ASSERT_THAT(lines, SizeIs(1));
  ASSERT_THAT(lines[0].pieces, SizeIs(3)) << "each thread's count, and what was read before b had ended";
  for (const PieceUse& piece : lines[0].pieces) EXPECT_THAT(piece.threads, SizeIs(1));
  const TraceText unsure("object counts size=64\nstream main\nstream other\nmain store counts+0 8\nother load counts+8 8\n");
  EXPECT_THAT(lines_at(unsure, {64, {0x1000}}), SizeIs(1)) << "two begin with the trace";
}

TEST(LockChoice, OnlyLocksThatKeepThePromisesAreSuitable) {
  const TraceText trace(
      "lock plain algorithm=ticket\nlock readers algorithm=rwlock\nlock irq algorithm=ttas in_handlers=yes\n"
      "lock writing algorithm=rwlock readers_write=yes\nlock unused algorithm=mcs\nstream a\n"
      "a acquire plain\na release plain\na acquire_shared readers\na release_shared readers\na acquire irq\na release irq\n"
      "a acquire_shared writing\na release_shared writing\n");
  const std::vector<RecordedLock> locks = recorded_locks(trace.reader());
  ASSERT_THAT(locks, SizeIs(4));
  EXPECT_EQ(suitable_locks(locks[0]), workloads::lock_names([](const workloads::LockTraits& traits) {
              return traits.excludes && traits.readers == workloads::Readers::one_by_one && traits.most_cpus == 0;
            }));
  EXPECT_THAT(suitable_locks(locks[1]), testing::IsSupersetOf({"rwlock", "brlock", "seqlock", "mcs"}));
  EXPECT_THAT(suitable_locks(locks[2]),
              Not(testing::AnyOf(Contains("mutex"), Contains("glibc_mutex"), Contains("rust_mutex"))));
  EXPECT_THAT(suitable_locks(locks[3]), Not(Contains("seqlock")));
  for (const RecordedLock& lock : locks) {
    EXPECT_THAT(suitable_locks(lock), Not(Contains("none")));
  }
}

TEST(LockChoice, RcuIsSuitableWhereNobodyWritesUnderTheLockOrNobodyHoldsItAlone) {
  const TraceText trace(
      "object x size=64\nlock read algorithm=rwlock\nlock checked algorithm=rwlock\nlock written algorithm=rwlock\n"
      "lock counted algorithm=rwlock\nlock both algorithm=rwlock\nlock alone algorithm=mcs\nstream a\nstream b\n"
      "a acquire_shared read\na load x 8\na release_shared read\na store x 8\n"
      "a acquire_shared checked\na release_shared checked\na acquire checked\na load x 8\na release checked\na store x 8\n"
      "a acquire_shared written\na release_shared written\nb acquire written\nb store x 8\nb release written\n"
      "a acquire_shared counted\na fetch_add x 8\na release_shared counted\n"
      "a acquire_shared both\na fetch_add x 8\na release_shared both\nb acquire both\nb load x 8\nb release both\n"
      "a acquire alone\na load x 8\na release alone\n");
  std::vector<std::string> with_rcu;
  for (const RecordedLock& lock : recorded_locks(trace.reader())) {
    const std::vector<std::string> suitable = suitable_locks(lock);
    if (std::find(suitable.begin(), suitable.end(), "rcu") != suitable.end()) with_rcu.push_back(lock.name);
  }
  EXPECT_THAT(with_rcu, ElementsAre("read", "checked", "counted"));
}

TEST(LockChoice, AForeignLockRunsAsItsNearestEquivalent) {
  const TraceText trace(
      "lock m algorithm=pthread_mutex\nlock rw algorithm=pthread_rwlock\nlock s algorithm=pthread_spin\n"
      "lock own algorithm=clh\nlock x algorithm=futex_of_its_own\nlock a algorithm=pthread_adaptive_mutex\n"
      "lock o algorithm=openmp_lock\nstream a\n"
      "a acquire m\na release m\na acquire_shared rw\na release_shared rw\na acquire s\na release s\n"
      "a acquire own\na release own\na acquire x\na release x\na acquire a\na release a\na acquire o\na release o\n");
  std::vector<std::string> algorithms;
  for (const RecordedLock& lock : recorded_locks(trace.reader())) algorithms.push_back(lock.replayed_as);
  EXPECT_THAT(algorithms,
              ElementsAre("glibc_mutex", "glibc_rwlock", "ttas", "clh", "mutex", "glibc_adaptive_mutex", "gomp_lock"));
}

TEST(LockChoice, FailedAttemptsAreNotAcquisitions) {
  const TraceText trace(
      "lock l algorithm=ticket\nlock never algorithm=ticket\nstream a\n"
      "a try_acquire l failed\na try_acquire l\na release l\na try_acquire never failed\n");
  const std::vector<RecordedLock> locks = recorded_locks(trace.reader());
  ASSERT_THAT(locks, SizeIs(1));
  EXPECT_EQ(locks[0].acquired, 1);
}

TEST(LockChoice, LocksThatAreCountedTogetherAreReplacedTogether) {
  const TraceText trace(
      "lock b[0] algorithm=pthread_mutex figures=t.bucket\nlock b[1] algorithm=pthread_mutex figures=t.bucket\nstream a\n"
      "a acquire b[0]\na release b[0]\na acquire b[1]\na release b[1]\n");
  const std::vector<RecordedLock> locks = recorded_locks(trace.reader());
  ASSERT_THAT(locks, SizeIs(1));
  EXPECT_EQ(locks[0].name, "t.bucket");
  EXPECT_EQ(locks[0].metrics, "locks.t_bucket.");
  EXPECT_EQ(locks[0].replayed_as, "glibc_mutex");
  EXPECT_EQ(locks[0].acquired, 2);
}

}  // namespace
}  // namespace linebounce::sim
