// Synthetic kernel workloads have the statistics that their parameters ask for.
#include "forms/kernel_loads.hpp"

#include <gmock/gmock.h>

#include <map>

#include "forms/tests/converted.hpp"

namespace linebounce::sim {
namespace {

using trace::Kind;

template <class Load>
Converted made(const Load& load) {
  const TemporaryFolder folder;
  trace::Writer writer(folder / "out.trace");
  write_load(load, writer);
  writer.finish({});
  return read_all(folder / "out.trace");
}

TEST(KernelLoads, APathTakesTheLockAndCountsAReferenceForEachName) {
  auto all = counts(made(DentryLoad{.common = {.threads = 2, .operations = 500}, .components = 3, .updates_pct = 0}));
  EXPECT_EQ(all[Kind::acquire], 2 * 500 * 3);
  EXPECT_EQ(all[Kind::release], 2 * 500 * 3);
  EXPECT_EQ(all[Kind::fetch_add], 2 * 500 * 3 * 2) << "up and down";
  EXPECT_EQ(all[Kind::load], 2 * 500 * 3 * 3);
  EXPECT_EQ(all[Kind::store], 0);
}

TEST(KernelLoads, AMoveOfAnEntryStoresFourTimesUnderTheLock) {
  auto all = counts(made(DentryLoad{.common = {.threads = 2, .operations = 500}, .updates_pct = 100}));
  EXPECT_EQ(all[Kind::acquire], 2 * 500);
  EXPECT_EQ(all[Kind::store], 2 * 500 * 4);
}

TEST(KernelLoads, AReferenceIsCountedUpAndDown) {
  auto all = counts(made(RefcountLoad{.common = {.threads = 3, .operations = 400}, .reads = 5}));
  EXPECT_EQ(all[Kind::fetch_add], 3 * 400 * 2);
  EXPECT_EQ(all[Kind::load], 3 * 400 * 5);
}

// Lock k guards CPU k's timers, so a CPU that acquires another lock works on another CPU's timer.
TEST(KernelLoads, SoManyTimersAreMovedByAnotherCpu) {
  const Converted it = made(TimerLoad{.common = {.threads = 4, .operations = 5000}, .remote_pct = 30});
  std::int64_t remote = 0;
  for (std::size_t cpu = 0; cpu < it.streams.size(); ++cpu) {
    for (const trace::Operation& operation : it.streams[cpu])
      remote += operation.kind == Kind::acquire && operation.id != cpu ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(remote), 0.3 * 4 * 5000, 200);
}

// If no other CPU frees objects, each CPU's array is filled once and then serves all of the CPU's requests.
TEST(KernelLoads, WithoutRemoteFreesAnArrayIsRefilledOnce) {
  auto all = counts(made(SlabLoad{.common = {.threads = 4, .operations = 3000}, .remote_pct = 0}));
  EXPECT_EQ(all[Kind::acquire], 4);
}

// All objects are freed by another CPU than the one that allocated them, so arrays run empty and full in turn. Making such a
// trace fails if the shared list runs out of objects, so batches of several sizes are tried.
TEST(KernelLoads, WithRemoteFreesArraysMoveBatches) {
  for (const int batch : {1, 7, 16}) {
    auto all =
        counts(made(SlabLoad{.common = {.threads = 5, .operations = 3000}, .batch = batch, .array = 16, .remote_pct = 100}));
    EXPECT_GT(all[Kind::acquire], 50) << batch;
    EXPECT_EQ(all[Kind::acquire], all[Kind::release]) << batch;
  }
}

TEST(KernelLoads, OneThreadIsItsOwnRemoteCpu) {
  EXPECT_EQ(made(SlabLoad{.common = {.threads = 1, .operations = 100}, .remote_pct = 100}).streams.size(), 1U);
  EXPECT_EQ(made(TimerLoad{.common = {.threads = 1, .operations = 100}, .remote_pct = 100}).streams.size(), 1U);
}

}  // namespace
}  // namespace linebounce::sim
