// Parameters that name a lock: each accepts every lock, or gives a reason for refusing it.
#include <gmock/gmock.h>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

using testing::Contains;
using testing::Not;
using testing::UnorderedElementsAreArray;

std::vector<std::string> all_locks() {
  return lock_names([](const LockTraits&) { return true; });
}

ParameterDeclaration reader_sleeps() {
  ParameterBinder binder;
  std::string lock = "mutex";
  lock_parameter(binder, "lock", lock, "held while a reader sleeps", [](const LockTraits& traits) {
    return traits.sleeps ? std::string() : std::string("a reader sleeps inside");
  });
  return std::move(binder).declarations().front();
}

TEST(LockParameter, OffersTheLocksThatSuitAndGivesTheReasonForTheOthers) {
  const ParameterDeclaration parameter = reader_sleeps();
  EXPECT_EQ(parameter.choices, lock_names([](const LockTraits& traits) { return traits.sleeps; }));
  EXPECT_THAT(parameter.choices, Contains("mutex"));
  EXPECT_EQ(parameter.refusals.at("seqlock"), "a reader sleeps inside");
  EXPECT_EQ(parameter.refusals.size() + parameter.choices.size(), all_locks().size());
}

// Parameters that refuse some locks judge a new lock by its traits.
TEST(LockParameter, InEveryWorkloadKnowsEveryLockAndItsDefaultSuits) {
  int seen = 0;
  for (const WorkloadEntry& workload : all_workloads()) {
    for (const ParameterDeclaration& parameter : workload.parameters) {
      if (parameter.refusals.empty()) continue;
      ++seen;
      std::vector<std::string> known = parameter.choices;
      for (const auto& [lock, reason] : parameter.refusals) {
        EXPECT_FALSE(reason.empty()) << workload.name << " " << lock;
        EXPECT_THAT(parameter.choices, Not(Contains(lock))) << workload.name;
        known.push_back(lock);
      }
      EXPECT_THAT(known, UnorderedElementsAreArray(all_locks())) << workload.name << "." << parameter.name;
      EXPECT_THAT(parameter.choices, Contains(std::get<std::string>(parameter.default_value))) << workload.name;
    }
  }
  EXPECT_GE(seen, 5);
}

}  // namespace
}  // namespace linebounce::test
