// Finds words that behave like locks, and copies traces with locks in their place.
#include "trace/word_locks.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <string>

#include "tests/trace/sample.hpp"
#include "trace/check.hpp"

namespace linebounce::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kSections = 30;

// Two threads that repeat a section, one operation per line; "T" stands for the thread.
std::string trace_of(const std::string& section, int times = kSections) {
  std::string text =
      "linebounce trace 1\nstructure pool size=64 fields=lock:0:4,serving:4:4,data:8:8\nobject p structure=pool size=64\n"
      "function f\nstream a\nstream b\n";
  for (const char* stream : {"a", "b"}) {
    for (int i = 0; i < times; ++i) {
      for (std::size_t begin = 0; begin < section.size();) {
        const std::size_t end = section.find('\n', begin);
        text += fmt::format("{} {}\n", stream, section.substr(begin, end - begin));
        begin = end + 1;
      }
    }
  }
  return text + "end\n";
}

std::vector<WordLock> found_in(const std::string& text) {
  const ScratchFile file("trace.txt");
  file.write(text);
  return word_locks(Reader(file.path()));
}

// The operations of stream a in the copy, as names. Every copy must make sense.
std::vector<std::string> copied(const std::string& text) {
  const ScratchFile file("trace.txt");
  const ScratchFile copy("copy.lbt");
  file.write(text);
  const Reader reader(file.path());
  {
    Writer writer(copy.path());
    copy_with_locks(reader, word_locks(reader), writer);
  }
  const Reader again(copy.path());
  check(again);
  std::vector<std::string> names;
  const auto streams = operations_of(again);
  for (const Operation& operation : streams[0]) names.emplace_back(facts_of(operation.kind).name);
  return names;
}

constexpr const char* kTestAndSet = "exchange p.lock 4\nstore p.data 8\nstore p.lock 4\n";
constexpr const char* kTestAndTestAndSet =
    "load p.lock 4\nexecute 3\nload p.lock 4\nexchange p.lock 4\nstore p.data 8\nexchange p.lock 4 release\n";
constexpr const char* kCompareExchange =
    "compare_exchange p.lock 4 failed\nexecute 9\ncompare_exchange p.lock 4\nstore p.data 8\nstore p.lock 4 release\n";
constexpr const char* kTicket =
    "fetch_add p.lock 4\nload p.serving 4\nexecute 5\nload p.serving 4\nload p.data 8\nstore p.data 8\nload p.serving 4\n"
    "store p.serving 4 release\n";

TEST(WordLocks, AnExchangeAndAStoreAreATestAndSetLock) {
  const std::vector<WordLock> locks = found_in(trace_of(kTestAndSet));
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].lock.name, "p.lock");
  EXPECT_EQ(locks[0].lock.algorithm, kUncontended) << "nobody waited, so how is not known";
  EXPECT_EQ(locks[0].acquisitions, 2U * kSections);
  EXPECT_EQ(locks[0].streams, 2U);
  EXPECT_EQ(locks[0].retries, 0U);
}

TEST(WordLocks, AThreadThatRetriesWithoutReadingTestsAndSets) {
  const std::vector<WordLock> locks = found_in(trace_of("exchange p.lock 4\nexecute 2\nexchange p.lock 4\nstore p.lock 4\n"));
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].lock.algorithm, "tas");
  EXPECT_EQ(locks[0].retries, 2U * kSections);
}

// Programs usually try first, and then look until the lock seems free.
TEST(WordLocks, AThreadThatReadsBetweenTwoExchangesTestsAndTestsAndSets) {
  const std::vector<WordLock> locks =
      found_in(trace_of("exchange p.lock 4\nload p.lock 4\nload p.lock 4\nexchange p.lock 4\nstore p.lock 4\n"));
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].lock.algorithm, "ttas");
}

// A futex mutex: acquired by a compare-exchange, released by an exchange.
TEST(WordLocks, AnExchangeGivesBackWhatAComparisonHasTaken) {
  const std::vector<WordLock> locks = found_in(trace_of("compare_exchange p.lock 4\nstore p.data 8\nexchange p.lock 4\n"));
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].acquisitions, 2U * kSections);
}

// seq_cst stores are exchanges on x86; the recorder marks them.
TEST(WordLocks, AThreadThatReadsBeforeItsExchangeTestsAndTestsAndSets) {
  const std::vector<WordLock> locks = found_in(trace_of(kTestAndTestAndSet));
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].lock.algorithm, "ttas");
}

TEST(WordLocks, FailedAttemptsAreRetries) {
  const std::vector<WordLock> locks = found_in(trace_of(kCompareExchange));
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].retries, 2U * kSections);
}

TEST(WordLocks, ATicketAndTheWordItWaitsForAreOneLock) {
  const std::vector<WordLock> locks = found_in(trace_of(kTicket));
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].lock.algorithm, "ticket");
  EXPECT_EQ(locks[0].lock.name, "p.lock");
  EXPECT_EQ(locks[0].acquisitions, 2U * kSections);
}

class NoLock : public testing::TestWithParam<const char*> {};
TEST_P(NoLock, IsFound) {
  EXPECT_THAT(found_in(trace_of(GetParam())), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Uses, NoLock,
    testing::Values("fetch_add p.lock 4\n",                                                          // a counter
                    "load p.lock 4\ncompare_exchange p.lock 4 failed\ncompare_exchange p.lock 4\n",  // a loop that adds
                    "store p.lock 4\nload p.lock 4\n",                                               // a flag
                    "fetch_add p.lock 4\nload p.serving 4\n",                 // a counter, beside another word that is read
                    "exchange p.lock 4\n",                                    // a mailbox
                    "store p.lock 4\nexchange p.lock 4\nstore p.lock 4\n"));  // stored without being held

TEST(WordLocks, AWordWithFewSectionsIsNotALock) {
  EXPECT_THAT(found_in(trace_of(kTestAndSet, 9)), IsEmpty());
}

TEST(WordLocks, AWordThatOneThreadUsesIsNotALock) {
  std::string text = trace_of(kTestAndSet);
  for (std::size_t at = text.find("\nb exch"); at != std::string::npos; at = text.find("\nb exch"))
    text.erase(at, text.find('\n', at + 1) - at);
  EXPECT_THAT(found_in(text), IsEmpty());
}

// Writers acquire it by a compare-exchange; readers count themselves in and out.
TEST(WordLocks, AWordThatCountsReadersIsNotALock) {
  std::string text = trace_of("compare_exchange p.lock 4\nstore p.lock 4\n");
  std::string readers;
  for (int i = 0; i < kSections; ++i) readers += "c fetch_add p.lock 4\nc load p.data 8\nc fetch_add p.lock 4\n";
  text.replace(text.find("stream b\n"), 9, "stream b\nstream c\n");
  text.replace(text.rfind("end\n"), 4, readers + "end\n");
  EXPECT_THAT(found_in(text), IsEmpty());
}

std::vector<std::string> repeated(const std::vector<std::string>& once) {
  std::vector<std::string> all;
  for (int i = 0; i < kSections; ++i) all.insert(all.end(), once.begin(), once.end());
  return all;
}

TEST(CopyWithLocks, AttemptsAndLooksBecomeOneAcquisition) {
  EXPECT_EQ(copied(trace_of(kTestAndSet)), repeated({"acquire", "store", "release"}));
  EXPECT_EQ(copied(trace_of(kCompareExchange)), repeated({"acquire", "store", "release"}));
  EXPECT_EQ(copied(trace_of(kTestAndTestAndSet)), repeated({"acquire", "store", "release"}));
}

// The section is between the wait's last look and the release's look.
TEST(CopyWithLocks, AccessesUnderATicketLockStay) {
  EXPECT_EQ(copied(trace_of(kTicket)), repeated({"acquire", "load", "store", "release"}));
}

TEST(CopyWithLocks, WhatAThreadDoesBetweenItsTriesStays) {
  const std::string section = "compare_exchange p.lock 4 failed\nfetch_add p+16 8\ncompare_exchange p.lock 4\nstore p.lock 4\n";
  EXPECT_EQ(copied(trace_of(section)), repeated({"fetch_add", "acquire", "release"}));
  const std::string enters = "compare_exchange p.lock 4 failed\nenter f\ncompare_exchange p.lock 4\nstore p.lock 4\nleave\n";
  EXPECT_EQ(copied(trace_of(enters)), repeated({"enter", "acquire", "release", "leave"}));
}

TEST(CopyWithLocks, LooksThatLeadToNoAcquisitionLeaveWhatIsBetweenThem) {
  const std::string reads = "load p.lock 4\nload p.data 8\nload p.lock 4\nfetch_add p+16 8\n";
  EXPECT_EQ(copied(trace_of(reads + kTestAndSet)), repeated({"load", "fetch_add", "acquire", "store", "release"}));
}

TEST(CopyWithLocks, LongWorkBetweenTwoTriesStays) {
  const std::string section = "compare_exchange p.lock 4 failed\nexecute 5000\ncompare_exchange p.lock 4\nstore p.lock 4\n";
  EXPECT_EQ(copied(trace_of(section)), repeated({"execute", "acquire", "release"}));
}

TEST(CopyWithLocks, WithoutLocksIsTheSameTrace) {
  EXPECT_EQ(copied(trace_of("fetch_add p.lock 4\n")), repeated({"fetch_add"}));
}

// Which sentences about the program's own locks a trace has in `missing` after its words have been examined.
std::vector<std::string> missing_of(const std::string& operations) {
  const ScratchFile file("trace.txt");
  std::string text = trace_of(operations);
  text.insert(text.rfind("end\n"), fmt::format("missing \"libraries\"\nmissing \"{}: they are plain\"\n", kOwnLocks));
  file.write(text);
  const Reader reader(file.path());
  return missing_beside(reader, word_locks(reader));
}

TEST(WordLocks, NoOwnLockIsMissingIfEachWordThatCouldBeOneIsRecognised) {
  EXPECT_THAT(missing_of(kTestAndSet), ElementsAre("libraries"));
  EXPECT_THAT(missing_of("fetch_add p.data 8\nload p.data 8\n"), ElementsAre("libraries")) << "a counter is not a lock";
  EXPECT_THAT(missing_of(kTicket), ElementsAre("libraries"));
}

TEST(WordLocks, AWordThatThreadsExchangeAndThatIsNotRecognisedMayBeALock) {
  EXPECT_THAT(
      missing_of("compare_exchange p.data 8\n"),
      ElementsAre("libraries", testing::StartsWith(std::string(kOwnLocks) +
                                                   " in another way than those that are recognised, if p.data is one: ")));
}

}  // namespace
}  // namespace linebounce::trace
