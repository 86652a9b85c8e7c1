#include "trace/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/sample.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

// A recording of `threads` threads, of which the first `at_work` each write a word.
class Recorded {
 public:
  Recorded(std::size_t threads, std::size_t at_work, std::vector<std::string> missing,
           const std::string& recorder = kProgramRecorder)
      : file_("limits.lbt") {
    Writer writer(file_.path());
    const std::uint32_t word = writer.define(Object{.name = "word", .size = 8});
    for (std::size_t i = 0; i < threads; ++i) writer.define(Stream{.name = "worker[" + std::to_string(i) + "]"});
    for (std::uint32_t i = 0; i < at_work; ++i) writer.append(i, {.kind = Kind::store, .bytes = 8, .id = word});
    writer.finish({.program = "./p",
                   .recorder = recorder,
                   .machine = "",
                   .misses = {},
                   .configuration = "",
                   .missing = std::move(missing)});
  }

  [[nodiscard]] Limits limits() const { return limits_of(Reader(file_.path())); }

 private:
  ScratchFile file_;
};

auto a_limit(const std::string& name, const std::string& sentence) {
  return AllOf(Field(&Limit::name, name), Field(&Limit::sentence, sentence));
}

TEST(Limits, AreNoneForWhatEveryRecordingLacks) {
  const std::vector<std::string> usual = {facts_text(Loss::libraries_not_compiled, ""),
                                          facts_text(Loss::instructions_assumed, ""), facts_text(Loss::own_locks, ""),
                                          facts_text(Loss::threads_apart, "", "2 of 4")};
  EXPECT_THAT(Recorded(2, 2, usual).limits().all(), IsEmpty());
}

TEST(Limits, SayHowTheProgramDied) {
  const Limits limits = Recorded(2, 2, {facts_text(Loss::killed, "", "was killed by signal 6 (Aborted)")}).limits();
  EXPECT_THAT(limits.all(), ElementsAre(a_limit("killed",
                                                "The program was killed by signal 6 (Aborted): what it would have done "
                                                "next was not recorded.")));
  EXPECT_TRUE(limits.may_add());
  EXPECT_FALSE(limits.may_reverse());
}

TEST(Limits, BeginWithTheMostSerious) {
  const Limits limits = Recorded(2, 2,
                                 {facts_text(Loss::part_of_run, "", "--window 0:10"), facts_text(Loss::forks, "", "1"),
                                  facts_text(Loss::shared_memory, "", "`queue`")})
                            .limits();
  EXPECT_EQ(
      limits.text(),
      "Another process shares `queue`: what that process does to it was not recorded. The program made 1 child process(es) "
      "by fork, which were not recorded. Only a part of the run was recorded: --window 0:10.");
  EXPECT_TRUE(limits.may_reverse());
}

TEST(Limits, OfAWindowLeaveTheVerdict) {
  const Limits limits = Recorded(2, 2, {facts_text(Loss::part_of_run, "", "--for 1")}).limits();
  EXPECT_FALSE(limits.empty());
  EXPECT_FALSE(limits.may_add());
}

TEST(Limits, SayIfNoMoreThanOneThreadWasSeenAtWork) {
  const auto says = [](const std::string& sentence) { return ElementsAre(a_limit("one_thread_seen", sentence)); };
  EXPECT_THAT(Recorded(1, 1, {}).limits().all(),
              says("Only one thread was recorded, so what it shares with threads or processes that the recorder can't see is "
                   "unknown."));
  EXPECT_THAT(Recorded(3, 1, {}).limits().all(),
              says("Of 3 recorded threads only worker[0] was seen to touch memory, so nothing that they share could be seen."));
  EXPECT_THAT(Recorded(3, 0, {}).limits().all(),
              says("Of 3 recorded threads none was seen to touch memory, so nothing that they share could be seen."));
  EXPECT_THAT(Recorded(3, 2, {}).limits().all(), IsEmpty());
}

// A simulated run or a synthetic trace has all its threads.
TEST(Limits, OfThreadsAreOfRecordedProgramsAlone) {
  EXPECT_THAT(Recorded(1, 1, {}, "linebounce trace synth").limits().all(), IsEmpty());
}

TEST(Limits, SurviveACopyAndLeaveTheOtherSentencesForLater) {
  const std::vector<std::string> missing = {facts_text(Loss::instructions_assumed, ""),
                                            facts_text(Loss::damaged, "", "one\ntwo")};
  EXPECT_THAT(missing_beside_limits(missing), ElementsAre(missing.front()));
  EXPECT_THAT(Recorded(2, 2, missing).limits().all(),
              ElementsAre(a_limit("damaged", "The recording was damaged, and this is what could be read: one two")));
}

TEST(Limits, OfSeveralRecordingsAreListedOnce) {
  Limits limits = Recorded(2, 2, {facts_text(Loss::forks, "", "1")}).limits();
  limits.add(Recorded(2, 2, {facts_text(Loss::forks, "", "1"), facts_text(Loss::cloned, "", "1")}).limits());
  EXPECT_THAT(limits.all(), ElementsAre(Field(&Limit::name, "cloned"), Field(&Limit::name, "forks")));
}

}  // namespace
}  // namespace linebounce::trace
