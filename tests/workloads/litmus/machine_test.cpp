// The timed machine runs every litmus test: it shows every outcome that its kind of machine can, and no other.
#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>

#include "tests/workloads/litmus/litmus_support.hpp"
#include "tests/workloads/litmus/verdicts.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

// Chains of three or four threads are rarer, so they get more rounds.
std::int64_t rounds_for(const LitmusTest& test) {
  return test.threads.size() > 2 ? 4000 : 1500;
}

std::vector<std::string> test_names() {
  std::vector<std::string> names;
  for (const LitmusText& test : litmus_texts()) names.emplace_back(test.name);
  return names;
}

using Case = std::tuple<std::string, Consistency>;

class EachLitmusTest : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(, EachLitmusTest,
                         testing::Combine(testing::ValuesIn(test_names()),
                                          testing::Values(Consistency::sc, Consistency::tso, Consistency::ia64)),
                         [](const auto& tested) {
                           return identifier(std::get<0>(tested.param)) + "__" + name_of(std::get<1>(tested.param));
                         });

TEST_P(EachLitmusTest, EndsInEveryWayThatTheMachineCanProduceAndInNoOther) {
  const auto& [name, model] = GetParam();
  const LitmusTest test = find_litmus_test(name);
  const LitmusCounts counts = run_litmus(test, litmus_machine(model), {.rounds = rounds_for(test)});
  EXPECT_EQ(counts.rounds, rounds_for(test));
  EXPECT_EQ(counts.forbidden, 0);
  EXPECT_EQ(counts.asked > 0, verdict_on(name).under(model) == Seen::yes) << counts.asked;
  const auto can = model == Consistency::ia64 ? outcomes_with_store_buffers(test, false) : allowed_outcomes(test, model);
  EXPECT_EQ(counts.outcomes, names_of(test, can));
}

// Machines on which operations interleave differently. Any outcomes may appear, except forbidden ones.
struct Variant {
  std::string name;
  void (*change)(MachineSpec&);
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> kVariants = {
      {"hardware_threads", [](MachineSpec& spec) { spec.cpu.threads_per_core = 2; }},
      {"one_entry_buffers", [](MachineSpec& spec) { spec.cpu.store_buffer_entries = 1; }},
      {"many_misses_under_way", [](MachineSpec& spec) { spec.cpu.outstanding_misses = 8; }},
      {"tiny_caches",
       [](MachineSpec& spec) {
         for (CacheSpec& cache : spec.caches) cache.ways = 1;
         spec.caches.back().size_kib = 1;
       }},
      {"moesi", [](MachineSpec& spec) { spec.bus.protocol = "moesi_snoop"; }},
      {"eight_cpus",
       [](MachineSpec& spec) {
         spec.cpus = spec.cpus_present = 8;
         spec.cpu.threads_per_core = 2;
         spec.memory.latency_ns = 500;
       }},
  };
  return kVariants;
}

using VariantCase = std::tuple<std::size_t, std::string>;

std::string variant_name(const testing::TestParamInfo<VariantCase>& tested) {
  return variants()[std::get<0>(tested.param)].name + "__" + identifier(std::get<1>(tested.param));
}

class EachVariant : public testing::TestWithParam<VariantCase> {};
INSTANTIATE_TEST_SUITE_P(, EachVariant,
                         testing::Combine(testing::Range<std::size_t>(0, variants().size()),
                                          testing::Values("mp+rel+acq", "sb+fences", "2+2w", "isa2+rel+acq-rel+acq",
                                                          "iriw+rels+acqs")),
                         [](const auto& tested) { return variant_name(tested); });

TEST_P(EachVariant, EndsInNoWayThatIsForbidden) {
  const auto& [variant, name] = GetParam();
  MachineSpec spec = litmus_machine(Consistency::ia64);
  variants()[variant].change(spec);
  const LitmusCounts counts = run_litmus(find_litmus_test(name), spec, {.rounds = 1000});
  EXPECT_EQ(counts.rounds, 1000);
  EXPECT_EQ(counts.forbidden, 0);
}

// Broken on purpose: the tests above notice when an ordering that they rely on is missing.
LitmusTest without_releases(LitmusTest test) {
  for (auto& thread : test.threads) {
    for (LitmusStatement& statement : thread) {
      if (statement.kind == LitmusStatement::Kind::store) statement.ordered = false;
    }
  }
  return test;
}

TEST(BrokenLitmusTest, MessagePassingWithoutItsReleaseFailsUnderIa64) {
  const LitmusTest broken = without_releases(find_litmus_test("mp+rel+acq"));
  EXPECT_GT(run_litmus(broken, litmus_machine(Consistency::ia64), {.rounds = 2000}).asked, 0);
}
TEST(BrokenLitmusTest, UnderTsoTheMissingReleaseNeverShows) {
  const LitmusTest broken = without_releases(find_litmus_test("mp+rel+acq"));
  EXPECT_EQ(run_litmus(broken, litmus_machine(Consistency::tso), {.rounds = 2000}).asked, 0);
}
TEST(BrokenLitmusTest, IndirectMessagePassingWithoutItsReleasesFailsUnderIa64) {
  const LitmusTest broken = without_releases(find_litmus_test("isa2+rel+acq-rel+acq"));
  EXPECT_GT(run_litmus(broken, litmus_machine(Consistency::ia64), {.rounds = 4000}).asked, 0);
}
TEST(BrokenLitmusTest, AMachineThatDrainsOutOfOrderIsNotATsoMachine) {
  const LitmusTest test = find_litmus_test("mp");
  EXPECT_GT(run_litmus(test, litmus_machine(Consistency::ia64), {.rounds = 2000, .judged_by = Consistency::tso}).forbidden, 0);
}
TEST(BrokenLitmusTest, AMachineWithStoreBuffersIsNotSequentiallyConsistent) {
  const LitmusTest test = find_litmus_test("sb");
  EXPECT_GT(run_litmus(test, litmus_machine(Consistency::tso), {.rounds = 2000, .judged_by = Consistency::sc}).forbidden, 0);
}

TEST(LitmusWorkload, NeedsACpuForEachThread) {
  EXPECT_THROW(run_litmus(find_litmus_test("iriw"), litmus_machine(Consistency::sc, 3), {.rounds = 10}), std::invalid_argument);
}

// A round takes 12 us on 4 CPUs, so this run ends within the fifth.
TEST(LitmusWorkload, CountsWholeRoundsOnly) {
  const LitmusCounts counts =
      run_litmus(find_litmus_test("mp"), litmus_machine(Consistency::sc), {.rounds = 1000, .measure_us = 60});
  EXPECT_GE(counts.rounds, 3);
  EXPECT_LE(counts.rounds, 5);
}

}  // namespace
}  // namespace linebounce::test
