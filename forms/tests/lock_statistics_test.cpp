#include "forms/lock_statistics.hpp"

#include <gmock/gmock.h>

#include "forms/tests/converted.hpp"

namespace linebounce::sim {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::StartsWith;

std::optional<LockStatisticsFile> statistics(const std::string& content) {
  const TemporaryFolder folder;
  std::ofstream(folder / "in", std::ios::binary) << content;
  for (const FormCandidate& one : recognise(excerpt_of(folder / "in")).candidates) {
    if (one.form->kind == FormKind::locks) return one.form->read_locks(folder / "in");
  }
  return std::nullopt;
}

std::string refused_statistics(const std::string& content) {
  try {
    statistics(content);
  } catch (const trace::TraceError& error) {
    const std::string text = error.what();
    return text.substr(text.find("/in: ") + 5);
  }
  return "accepted";
}

const std::string kLockStatHead =
    "lock_stat version 0.4\n"
    "-----------------------------------\n"
    "     class name    con-bounces    contentions   waittime-min   waittime-max waittime-total   waittime-avg    acq-bounces  "
    " "
    "acquisitions   holdtime-min   holdtime-max holdtime-total   holdtime-avg\n"
    "-----------------------------------\n\n";

// In the format of Documentation/locking/lockstat.rst.
const std::string kTwoClasses =
    kLockStatHead +
    "   unix_table_lock:   110   112   0.21    49.24   163.91   1.46   21094   66312   0.12   624.42   31589.81   0.48\n"
    "   ---------------\n"
    "   unix_table_lock     45          [<ffffffff8150ad8e>] unix_create1+0x16e/0x1b0\n"
    "   unix_table_lock     47          [<ffffffff8150b111>] unix_release_sock+0x31/0x250\n"
    "   ---------------\n"
    "   unix_table_lock     39          [<ffffffff8150b111>] unix_release_sock+0x31/0x250\n"
    "\n.....................................\n\n"
    "   &mm->mmap_sem-W:    46    84   0.26   939.10   16371.53   194.90   47291   2922365   0.16   2220301.69   "
    "17464026916.32   5975.99\n"
    "   &mm->mmap_sem-R:    37   100   1.31   299502.61   325629.52   3256.30   212344   34316685   0.10   7744.91   "
    "95016910.20 "
    "  2.77\n";

TEST(LockStat, ClassesComeWithFiguresAndPlacesTheMostWaitedForFirst) {
  const auto file = statistics(kTwoClasses);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tool, "lock_stat");
  ASSERT_EQ(file->locks.size(), 3U);
  EXPECT_EQ(shown_name(file->locks[0]), "&mm->mmap_sem (readers)");
  EXPECT_EQ(shown_name(file->locks[1]), "&mm->mmap_sem (writers)");
  EXPECT_THAT(file->locks[1].hold->total_us, DoubleEq(17464026916.32));
  const LockStatistics& lock = file->locks[2];
  EXPECT_EQ(shown_name(lock), "unix_table_lock");
  EXPECT_FALSE(lock.has_readers);
  EXPECT_EQ(lock.waits, 112U);
  EXPECT_THAT(lock.acquisitions, Optional(66312U));
  EXPECT_THAT(lock.wait.total_us, DoubleEq(163.91));
  EXPECT_THAT(lock.wait.longest_us, Optional(DoubleEq(49.24)));
  EXPECT_THAT(lock.hold->longest_us, Optional(DoubleEq(624.42)));
  EXPECT_THAT(lock.waited_in,
              ElementsAre(Field(&LockSite::function, "unix_create1+0x16e/0x1b0"), Field(&LockSite::waits, 47U)));
  EXPECT_THAT(lock.held_in, ElementsAre(Field(&LockSite::waits, 39U)));
}

// Names are right-aligned in 40 characters, and may contain blanks and colons.
TEST(LockStat, ANameEndsAtTheLastColon) {
  const auto file = statistics(kLockStatHead + "(work_completion)(a: b):1 1 1.00 1.00 1.00 1.00 1 9 1.00 1.00 9.00 1.00\n");
  ASSERT_EQ(file->locks.size(), 1U);
  EXPECT_EQ(file->locks[0].name, "(work_completion)(a: b)");
}

TEST(LockStat, DamageIsRefusedByItsLine) {
  EXPECT_THAT(refused_statistics("lock_stat version 0.3\n"), StartsWith("line 1: expected the titles"));
  EXPECT_THAT(refused_statistics("lock_stat version 0.4\nx: 1 2 3\n"), StartsWith("line 2: expected the titles"));
  EXPECT_THAT(refused_statistics(kLockStatHead + "a_lock: 1 2 3.00\n"), StartsWith("line 6: expected 12 numbers"));
  EXPECT_THAT(refused_statistics(kLockStatHead + "a_lock: 1 2 3.0 4.0 5.0 6.0 7 18446744073709551616 9.0 10.0 11.0 12.0\n"),
              StartsWith("line 6: contentions or acquisitions are more than 64 bits can count"));
  EXPECT_THAT(refused_statistics(kLockStatHead + "a_lock: 1 1 1 1 1 1 1 1 1 1 1 1 1\n"), StartsWith("line 6: more than"));
  EXPECT_THAT(refused_statistics(kLockStatHead + "a_lock: 1 1 1 x\n"), StartsWith("line 6: expected a class"));
}

TEST(PerfLock, TimesOfAllUnitsAreReadAndWhatTheCommandPrintedIsPassedOver) {
  const auto file = statistics(
      "# Running 'sched/pipe' benchmark:\n     Total time: 9.313 [sec]\n"
      " contended   total wait     max wait     avg wait         type   caller\n\n"
      "         1       143 ns       143 ns       143 ns      rwsem:R   do_user_addr_fault+0x1\n"
      "                        0xffffffff9a23f4b5  _raw_read_lock_irqsave+0x45\n"
      "       176      1.65 ms     19.43 us      9.38 us        mutex   pipe_read+0x57\n"
      "         6      6.03 s       6.03 s       1.00 s      spinlock   tick+0xc0\n"
      "         6      2.00 m       1.00 h       1.00 s      spinlock   tock+0xc0\n\n"
      "=== output for debug===\n\nbad: 0, total: 202\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tool, "perf lock contention");
  EXPECT_EQ(file->what, "caller");
  ASSERT_EQ(file->locks.size(), 4U);
  EXPECT_EQ(shown_name(file->locks[0]), "tock+0xc0 (spinlock)");
  EXPECT_THAT(file->locks[0].wait.total_us, DoubleEq(120e6));
  EXPECT_THAT(file->locks[0].wait.longest_us, Optional(DoubleEq(3600e6)));
  EXPECT_THAT(file->locks[1].wait.total_us, DoubleEq(6.03e6));
  EXPECT_THAT(file->locks[2].wait.total_us, DoubleEq(1650));
  EXPECT_EQ(file->locks[2].waits, 176U);
  EXPECT_THAT(file->locks[3].wait.total_us, DoubleNear(0.143, 1e-9));
  EXPECT_FALSE(file->locks[3].acquisitions);
  EXPECT_FALSE(file->locks[3].hold);
}

TEST(PerfLock, ThreadsAddressesAndOtherColumnsAreReadByTheirTitles) {
  const auto threads =
      statistics(" contended     avg wait          pid   comm\n\n   3    101.83 ms      1884   nvidia-modeset/\n");
  EXPECT_EQ(threads->what, "comm");
  EXPECT_EQ(shown_name(threads->locks[0]), "nvidia-modeset//1884");
  EXPECT_THAT(threads->locks[0].wait.total_us, DoubleEq(305490)) << "the mean, three times";
  const auto addresses = statistics(
      " contended   total wait     max wait     avg wait            address   symbol\n\n"
      "   3     14.99 us     14.44 us      5.00 us   ffffffff851c0940   pack_mutex (mutex)\n"
      "   1     14.00 us     14.00 us     14.00 us   ffffffff851c0941   \n");
  EXPECT_EQ(addresses->locks[0].name, "pack_mutex (mutex)");
  EXPECT_EQ(addresses->locks[1].name, "ffffffff851c0941");
}

TEST(PerfLock, ReportsHaveTheNameFirstWhichMayBeEmpty) {
  const auto file = statistics(
      "                Name   acquired  contended     avg wait   total wait     max wait     min wait \n\n"
      "                       15042346   15042346      3.82 us     57.40 s       4.00 ms       316 ns \n"
      "        jiffies_lock        433         32      2.78 us     88.91 us  5124095.50 h       692 ns \n");
  EXPECT_EQ(file->tool, "perf lock report");
  ASSERT_EQ(file->locks.size(), 2U);
  EXPECT_EQ(file->locks[0].name, "(no name)");
  EXPECT_EQ(file->locks[1].name, "jiffies_lock");
  EXPECT_THAT(file->locks[1].acquisitions, Optional(433U));
  EXPECT_EQ(file->locks[1].waits, 32U);
  EXPECT_THAT(file->locks[1].wait.total_us, DoubleEq(88.91));
  EXPECT_FALSE(file->locks[1].wait.longest_us) << "2^64 ns is not a wait";
}

TEST(PerfLock, BeforeLinux518TimesAreNanosecondsWithoutAUnit) {
  const auto file = statistics(
      "                Name   acquired  contended   avg wait (ns) total wait (ns)   max wait (ns)   min wait (ns)\n\n"
      "        jiffies_lock        433         32            2778           88908           13570             692\n");
  EXPECT_THAT(file->locks[0].wait.total_us, DoubleNear(88.908, 1e-9));
}

TEST(PerfLock, RowsOfOneNameAreOne) {
  const auto file = statistics(
      " contended   total wait     max wait     avg wait         type   caller\n\n"
      "   3     15 us      9 us      5 us   spinlock   f+0x1\n"
      "   1     14 us     14 us     14 us   spinlock   f+0x1\n"
      "   1     20 us     20 us     20 us      mutex   f+0x1\n");
  ASSERT_EQ(file->locks.size(), 2U);
  EXPECT_EQ(shown_name(file->locks[0]), "f+0x1 (spinlock)");
  EXPECT_EQ(file->locks[0].waits, 4U);
  EXPECT_THAT(file->locks[0].wait.total_us, DoubleEq(29));
  EXPECT_THAT(file->locks[0].wait.longest_us, Optional(DoubleEq(14)));
}

TEST(PerfLock, DamageIsRefusedByItsLine) {
  const std::string titles = " contended   total wait     max wait     avg wait         type   caller\n\n";
  EXPECT_THAT(refused_statistics(titles + " 1   1.65 parsecs  1 us  1 us  mutex  f\n"),
              StartsWith("line 3: expected a time in ns"));
  EXPECT_THAT(refused_statistics(titles + " some   1.65 us  1 us  1 us  mutex  f\n"), StartsWith("line 3: expected a count"));
  EXPECT_THAT(refused_statistics(titles + " 1   1.65 us  1 us  1 us\n"), StartsWith("line 3: expected a name"));
}

TEST(LockStatisticsOf, OtherTextsAreNone) {
  EXPECT_FALSE(statistics(""));
  EXPECT_FALSE(statistics("contended locks are a problem\nName your price\n"));
  EXPECT_FALSE(statistics(std::string(300, '\n') + " contended   total wait     max wait   avg wait   type   caller\n"));
}

// The mean wait is of the acquisitions that waited, so 1,000 acquisitions of which a fifth waited 40 us waited for 8 ms.
TEST(Lockmeter, RowsAreLocksAndIndentedRowsTheirCallSites) {
  const auto file = statistics(
      "SPINLOCKS         HOLD            WAIT\n"
      "  UTIL  CON    MEAN(  MAX )   MEAN(  MAX )(% CPU)     TOTAL NOWAIT SPIN RJECT  NAME\n"
      "        4.1%  1.2us(  15ms)   30us(8100us)( 7.1%)     11000 95.9%  4.1%    0%  *TOTAL*\n\n"
      " 10.2% 20.0%  8.0us( 170us)   40us(1700us)( 3.2%)      1000 80.0% 20.0%    0%  journal_lock\n"
      "  1.1% 10.0%  2.0us(  90us)   20us( 900us)( 0.2%)       300 90.0% 10.0%    0%    start_this_handle+0x70\n"
      "  9.1% 24.3%   10us( 170us)   44us(1700us)( 3.0%)       700 75.7% 24.3%    0%    journal_stop+0xcc\n"
      " 0.02%    0%  0.5us(  1.5us)    0us                   10000  100%    0%    0%  0xf88a1240\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tool, "lockmeter");
  ASSERT_EQ(file->locks.size(), 2U);
  const LockStatistics& journal = file->locks[0];
  EXPECT_EQ(journal.name, "journal_lock");
  EXPECT_EQ(journal.kind, "spinlock");
  EXPECT_EQ(journal.acquisitions, 1000U);
  EXPECT_EQ(journal.waits, 200U);
  EXPECT_THAT(journal.wait.total_us, DoubleEq(8000));
  EXPECT_THAT(journal.wait.longest_us, Optional(DoubleEq(1700)));
  ASSERT_TRUE(journal.hold);
  EXPECT_THAT(journal.hold->total_us, DoubleEq(8000));
  EXPECT_THAT(journal.waited_in, ElementsAre(Field(&LockSite::function, "start_this_handle+0x70"),
                                             Field(&LockSite::function, "journal_stop+0xcc")));
  EXPECT_EQ(file->locks[1].name, "0xf88a1240");
  EXPECT_EQ(file->locks[1].waits, 0U);
  EXPECT_EQ(file->why_no_trace, "");
}

TEST(Lockmeter, ReadersAndWritersOfALockAreTwoRows) {
  const auto file = statistics(
      "RWLOCK READS   HOLD    MAX  RDR BUSY PERIOD      WAIT\n"
      "  UTIL  CON    MEAN   RDRS   MEAN(  MAX )   MEAN(  MAX )( %CPU)     TOTAL NOWAIT SPIN  NAME\n"
      " 12.0%  1.0%  4.0us      3  5.0us(  90us)   10us(  60us)(0.01%)      2000 99.0%  1.0%  tasklist_lock\n\n"
      "RWLOCK WRITES     HOLD           WAIT (ALL)           WAIT (WW)\n"
      "  UTIL  CON    MEAN(  MAX )   MEAN(  MAX )( %CPU)   MEAN(  MAX )     TOTAL NOWAIT SPIN(  WW )  NAME\n"
      "  1.0%  5.0%  2.0us(  40us)   30us(  70us)(0.02%)  1.0us( 3.0us)       100 95.0%  5.0%( 1.0%)  tasklist_lock\n");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->locks.size(), 2U);
  EXPECT_EQ(file->locks[0].kind, "rwlock:R");
  EXPECT_EQ(file->locks[0].waits, 20U);
  EXPECT_THAT(file->locks[0].wait.total_us, DoubleEq(200));
  EXPECT_EQ(file->locks[1].kind, "rwlock:W");
  EXPECT_EQ(file->locks[1].acquisitions, 100U);
  EXPECT_NE(file->why_no_trace, "");
}

TEST(Mutrace, CountsWaitsAndTimesHolds) {
  const auto file = statistics(
      "mutrace: Showing 2 most contended mutexes:\n\n"
      " Mutex #   Locked  Changed    Cont. tot.Time[ms] avg.Time[ms] max.Time[ms]  Flags\n"
      "       7     4000       90       12       20.500        0.005        0.750 M-.--.\n"
      "       2      900      300      150        1.250        0.001        0.100 M-.--.\n"
      "                                                                           ||||||\n"
      "                                                                           /|||||\n"
      "          Object:                                     M = Mutex, W = RWLock /||||\n");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->locks.size(), 2U);
  EXPECT_EQ(file->locks[0].name, "mutex 2");
  EXPECT_EQ(file->locks[0].waits, 150U);
  EXPECT_EQ(file->locks[0].acquisitions, 900U);
  EXPECT_THAT(file->locks[0].hold->total_us, DoubleEq(1250));
  EXPECT_THAT(file->losses.sentences(), ElementsAre(HasSubstr("does not time them")));
}

// Later versions time waits, and print readers in a second line, and condition variables in a second table.
TEST(Mutrace, OfLaterVersionsTimesWaitsByTheTitles) {
  const auto file = statistics(
      " Mutex #   Locked  Changed    Cont. cont.Time[ms] tot.Time[ms] avg.Time[ms] Flags\n"
      "      14     3000     2000     1000         1.500        0.900        0.003 M-.--.\n"
      "      19     8000     7000      600        20.500        9.250        0.001 W-...r\n"
      "             5000               400         7.250        2.125        0.000\n"
      "                                                                            ||||||\n"
      "\n  Cond #    Waits  Signals    Cont. tot.Time[ms] cont.Time[ms] avg.Time[ms] Flags\n"
      "      33      101        1       99        0.476         0.000        0.000     -.\n");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->locks.size(), 3U);
  EXPECT_EQ(shown_name(file->locks[0]), "mutex 19 (rwlock)");
  EXPECT_THAT(file->locks[0].wait.total_us, DoubleEq(20500));
  EXPECT_THAT(file->locks[0].hold->total_us, DoubleEq(9250));
  EXPECT_EQ(file->locks[0].hold->longest_us, std::nullopt);
  EXPECT_EQ(file->locks[1].kind, "rwlock:R");
  EXPECT_EQ(file->locks[1].acquisitions, 5000U);
  EXPECT_EQ(file->locks[1].waits, 400U);
  EXPECT_THAT(file->losses.sentences(), IsEmpty());
  EXPECT_THAT(file->why_no_trace, HasSubstr("reader-writer"));
}

TEST(FreeBsdLockProfiling, PlacesThatTakeOneLockAreItsFunctions) {
  const auto file = statistics(
      "debug.lock.prof.stats: \n"
      "     max  wait_max       total  wait_total       count    avg wait_avg cnt_hold cnt_lock name\n"
      "     100        50        9000        4000         600     15      6  0       40 /usr/src/sys/kern/kern_a.c:12 (rw:my "
      "table)\n"
      "      80        90        1000        6000         200      5     30  0       60 kern_b.c:34 (rw:my table)\n"
      "       7         0         700           0         100      7      0  0        0 kern_c.c:56 (sleep mutex:other)\n");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->locks.size(), 2U);
  const LockStatistics& table = file->locks[0];
  EXPECT_EQ(table.name, "my table");
  EXPECT_EQ(table.kind, "rw");
  EXPECT_EQ(table.waits, 100U);
  EXPECT_EQ(table.acquisitions, 800U);
  EXPECT_THAT(table.wait.total_us, DoubleEq(10000));
  EXPECT_THAT(table.wait.longest_us, Optional(DoubleEq(90)));
  EXPECT_THAT(table.hold->total_us, DoubleEq(10000));
  EXPECT_THAT(table.waited_in,
              ElementsAre(Field(&LockSite::function, "kern_a.c:12"), Field(&LockSite::function, "kern_b.c:34")));
}

TEST(LockStatistics, TablesWithoutARowAreRefusedWithTheirTitles) {
  EXPECT_THAT(refused_statistics("SPINLOCKS  HOLD  WAIT\nnothing\n"), HasSubstr("no line below the titles"));
  EXPECT_THAT(refused_statistics(" Mutex #   Locked  Changed    Cont. tot.Time[ms]\n\n"),
              HasSubstr("no line below the titles"));
  EXPECT_THAT(refused_statistics("max wait_max total wait_total count avg wait_avg cnt_hold cnt_lock name\n"),
              HasSubstr("no line below the titles"));
}

}  // namespace
}  // namespace linebounce::sim
