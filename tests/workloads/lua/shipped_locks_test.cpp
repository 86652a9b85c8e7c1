// The locks of programs/ keep the properties that those in C++ keep, on every kind of machine.
#include <gtest/gtest.h>

#include "tests/workloads/locks/lock_support.hpp"
#include "tests/workloads/lua/lua_support.hpp"

namespace linebounce::test {

namespace {

using LockAndMachine = std::tuple<std::string, std::string>;

std::vector<std::string> kinds_of_machines() {
  std::vector<std::string> names;
  for (const auto& [name, make] : machines()) names.push_back(name);
  return names;
}

class ALockInLua : public testing::TestWithParam<LockAndMachine> {
 protected:
  LockEntry entry = lock_entry_of(shipped_file(std::get<0>(GetParam())));
  MachineSpec spec = machines().at(std::get<1>(GetParam()))();
};
INSTANTIATE_TEST_SUITE_P(, ALockInLua,
                         testing::Combine(testing::Values("bakery", "bravo", "clh", "cna", "cohort", "hbo", "mcs",
                                                          "mcs_parking", "percpu_rwsem", "rwlock", "rwsem", "seqlock", "tas",
                                                          "tight_ttas", "ticket", "ttas"),
                                          testing::ValuesIn(kinds_of_machines())),
                         [](const auto& tested) { return std::get<0>(tested.param) + "_" + std::get<1>(tested.param); });

TEST_P(ALockInLua, LetsOneWriterInAtATimeAndEverybodyInTheEnd) {
  EXPECT_EQ(broken_property(entry.create, spec), "");
}

TEST_P(ALockInLua, ReadersSeeWhatAWriterHasLeft) {
  std::string broken = broken_property(entry.create, spec, 6);
  if (entry.traits.readers == Readers::read_again && broken == "a reader and a writer were inside together") broken.clear();
  EXPECT_EQ(broken, "");
}

}  // namespace
}  // namespace linebounce::test
