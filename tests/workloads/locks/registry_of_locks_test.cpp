// The registry has every lock once, in either language, with the traits that its own file declares.
#include <gmock/gmock.h>

#include <set>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/lua/lua_file.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

TEST(LockRegistry, HasEachLockOnceInWhateverLanguage) {
  std::set<std::string> names;
  for (const LockEntry& lock : all_locks()) EXPECT_TRUE(names.insert(lock.name).second) << lock.name;
  EXPECT_THAT(names, testing::IsSupersetOf({"cna", "mutex", "ticket"}));
}

TEST(LockRegistry, TakesTitleAndTraitsFromTheLocksFile) {
  const LockEntry& cohort = find_lock("cohort");
  EXPECT_EQ(cohort.title, "Cohort lock: hands over within a node, and to other nodes after some hand-offs");
  EXPECT_TRUE(cohort.traits.numa_aware);
  EXPECT_FALSE(cohort.traits.tries);
  EXPECT_TRUE(find_lock("ticket").traits.fifo);
  EXPECT_TRUE(find_lock("mutex").traits.sleeps);
  EXPECT_EQ(find_lock("peterson").traits.most_cpus, 2);
  EXPECT_EQ(find_lock("ticket").library, "ConcurrencyKit (ck_spinlock_ticket)");
  EXPECT_EQ(find_lock("hbo").library, "");
}

TEST(LockRegistry, FindsALockThatIsAFileOfProgramsLocks) {
  for (const SourceFile& file : lua_lock_files()) {
    const std::string name = file.name();
    const LockEntry& found = find_lock(name.substr(0, name.rfind('.')));
    EXPECT_EQ(found.file, file.path);
    const LockEntry whole = lock_entry_of(file);
    EXPECT_EQ(found.title, whole.title) << "of the head alone";
    EXPECT_EQ(found.traits, whole.traits) << name;
    EXPECT_EQ(found.library, whole.library) << name;
  }
}

TEST(LockRegistry, NamesTheLegalOnesForOneThatIsNotThere) {
  try {
    find_lock("tickets");
    FAIL() << "there is none";
  } catch (const std::invalid_argument& unknown) {
    EXPECT_THAT(unknown.what(), testing::AllOf(testing::HasSubstr("no lock is called tickets"), testing::HasSubstr("cna")));
  }
}

}  // namespace
}  // namespace linebounce::test
