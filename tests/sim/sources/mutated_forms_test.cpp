// Damaged texts of other tools. Each is either read or refused with a message, and recognise() accepts it without an error;
// none crashes or hangs.
#include <gtest/gtest.h>

#include "sim/sources/litmus_text.hpp"
#include "sim/sources/machine_topology.hpp"
#include "sim/sources/numa.hpp"
#include "sim/sources/number_grid.hpp"
#include "sim/sources/perf_c2c.hpp"
#include "tests/sim/sources/converted.hpp"
#include "trace/error.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kMaps =
    "Attaching 2 probes...\n@n[pipe_write]: 40\n@wait_ns[futex]: count 8, average 20, total 160\n@lat:\n[1K, 2K)  10 |@@@|\n"
    "[0]  3 |@|\n(..., 0)  2 |@|\n@[\n  mutex_lock+5\n  ep_poll+1\n, worker]: 42\n@hold_us[futex]: 12\n@start[7]: 1\n";
constexpr const char* kJsonMaps =
    "{\"type\": \"map\", \"data\": {\"@wait_ns\": {\"a,b\": 1200, \"\\n  mutex_lock+5\\n  f+1\\n\": 7}}}\n"
    "{\"type\": \"hist\", \"data\": {\"@hold_us\": {\"a,b\": [{\"min\": 0, \"max\": 1, \"count\": 3}]}}}\n"
    "{\"type\": \"stats\", \"data\": {\"@s\": {\"count\": 4, \"average\": 5, \"total\": 20}}}\n";
constexpr const char* kPingpong =
    "avg latency to communicate a modified line from one core to another\ntimes are in ns\n\n          1       2\n"
    " 0:    40.0    90.0\n 1:            91.0\n 2:\n";
constexpr const char* kPairs = "from,to,latency_ns\n0,1,45\n0,2,100\n1,2,99.5\n";
constexpr const char* kBars =
    "| CPU | 0 | 1 | 2 |\n|---|---|---|---|\n| 0 | 0 | 4 | 9 |\n| 1 | 4 | 0 | 9 |\n| 2 | 9 | 9 | 0 |\n";
constexpr const char* kExtended =
    "CPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE\n 0 0 0 0 0:0:0:0 yes\n 1 1 1 1 1:1:1:1 yes\n 2 - - - ::: no\n";
constexpr const char* kSummary =
    "Architecture: x86_64\nCPU(s): 4\nOn-line CPU(s) list: 0-3\nModel name: AMD EPYC\nThread(s) per core: 1\n"
    "NUMA node0 CPU(s): 0,2\nNUMA node1 CPU(s): 1,3\n";
constexpr const char* kNodes =
    "node 0 cpus: 0 2\nnode 1 cpus: 1 3\nnode distances:\nnode   0   1\n  0:  10  21\n  1:  21  10\n"
    "/sys/devices/system/node/node0/access0/initiators/read_latency:120\n/sys/devices/system/node/node1/cpulist:1,3-3\n";
constexpr const char* kCounts =
    "=====\n  Trace Event Information\n=====\n  Load Operations   :  40\n  Load Local HITM  :  12\n  LLC Misses  :  25.0%\n"
    "  Shared Cache Line Distribution Pareto\n  ----------\n   0  10  30  20  5  0x7f10c0\n  ----------\n"
    "  75.00%  60.00%  0.00%  0.00%  0x8  0  1  0x401136  600  300  250  900  4  [.] f  pool.so  p.c:1  0{0-1} 1{2-3}\n";
constexpr const char* kLisa =
    "LISA MP\n{ x=0; 0:r5=y; }\n P0 | P1 ;\n w[once] x 1 | r[acquire] r1 y ;\n f[wmb] | r[once] r2 x ;\n w[release] y 1 | "
    "f[mb] ;\n"
    "exists (1:r1=1 /\\ 1:r2=0)\n";
constexpr const char* kKernel =
    "C SB\n{}\nP0(int *x, int *y)\n{\n  int r0;\n  smp_store_mb(*x, 1);\n  r0 = READ_ONCE(*y);\n}\nP1(int *x, int *y)\n{\n"
    "  int r0;\n  WRITE_ONCE(*y, 1);\n  smp_mb();\n  r0 = atomic_read(x);\n}\nexists (0:r0=0 /\\ 1:r0=0)\n";

constexpr const char* kC11 =
    "C MP\n{ [x] = 0; }\nP0(atomic_int *x, int *y)\n{\n  *y = 1;\n  atomic_store_explicit(x, 1, memory_order_release);\n}\n"
    "P1(atomic_int *x, int *y)\n{\n  int r0 = atomic_load(x);\n  atomic_thread_fence(memory_order_acquire);\n  int r1 = "
    "*y;\n}\n"
    "forall (not (1:r0=1 /\\ 1:r1=0) \\/ [x]=2)\n";

// Replaces, removes, doubles or swaps a few bytes or lines.
std::string mutated(std::string text, workloads::Random& random) {
  constexpr std::string_view kBytes = "0159 \t\n:;|[]{}(),=@%->xKr\xff\x01";
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = std::min<std::size_t>(1 + random.below(12), text.size() - at);
    switch (random.below(4)) {
      case 0: text[at] = kBytes[random.below(kBytes.size())]; break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(random.below(text.size()), text.substr(at, length)); break;
      default: text.insert(at, 1, kBytes[random.below(kBytes.size())]); break;
    }
  }
  return text;
}

// Removes the old file first, because truncating it may wait for the disk.
void write_new(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::remove(file);
  std::ofstream(file) << text;
}

// Reads a text and many mutations of it. Returns how many were read without an error.
template <class Read>
int read_mutated(const char* sample, Read read) {
  constexpr int kVariants = 1500;
  workloads::Random random(7, 1, 0);
  int accepted = 0;
  for (int i = 0; i < kVariants; ++i) {
    const std::string text = i == 0 ? std::string(sample) : mutated(sample, random);
    recognise(excerpt_of_text(text, "in"));
    try {
      read(text);
      ++accepted;
    } catch (const trace::TraceError& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
  }
  return accepted;
}

TEST(MutatedForms, MapsOfBpftraceAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "maps";
  const Form& form = *form_named("bpftrace");
  EXPECT_GT(read_mutated(kMaps,
                         [&](const std::string& text) {
                           write_new(file, text);
                           form.read_locks(file);
                         }),
            100);
}

TEST(MutatedForms, JsonOfBpftraceIsReadOrRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "maps";
  const Form& form = *form_named("bpftrace");
  EXPECT_GT(read_mutated(kJsonMaps,
                         [&](const std::string& text) {
                           write_new(file, text);
                           form.read_locks(file);
                         }),
            100);
}

TEST(MutatedForms, MatricesAreRectanglesOrHaveAProblem) {
  const auto read = [](const std::string& text) {
    const NumberGrid grid = split_grid(text);
    if (!grid.problem.empty()) throw trace::TraceError(grid.problem);
  };
  for (const char* sample : {kPingpong, kPairs, kBars}) EXPECT_GT(read_mutated(sample, read), 100) << sample;
}

TEST(MutatedForms, TextsOfLscpuAreReadOrRefused) {
  const auto read = [](const std::string& text) { read_lscpu(text, "in"); };
  EXPECT_GT(read_mutated(kExtended, read), 100);
  EXPECT_GT(read_mutated(kSummary, read), 100);
}

TEST(MutatedForms, ReportsOfPerfC2cAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "report";
  EXPECT_GT(read_mutated(kCounts,
                         [&](const std::string& text) {
                           write_new(file, text);
                           read_c2c_report(file);
                         }),
            100);
}

TEST(MutatedForms, TablesOfNodesAreReadOrRefused) {
  EXPECT_GT(read_mutated(kNodes,
                         [](const std::string& text) {
                           const NumaTables tables = read_numa(text, "in");
                           links_by_distance(tables);
                           if (tables.has_cpus()) topology_of(tables, "in");
                         }),
            100);
}

TEST(MutatedForms, LitmusTestsAreReadOrRefused) {
  const auto read = [](const std::string& text) { read_herd_test(text, "in"); };
  EXPECT_GT(read_mutated(kLisa, read), 50);
  EXPECT_GT(read_mutated(kKernel, read), 50);
  EXPECT_GT(read_mutated(kC11, read), 50);
}

}  // namespace
}  // namespace linebounce::sim
