// Damaged texts of other tools. Each is either read or refused with a message, and recognise() accepts it without an error;
// none crashes or hangs.
#include <gtest/gtest.h>

#include <cstdlib>

#include "forms/machine_topology.hpp"
#include "forms/numa.hpp"
#include "forms/number_grid.hpp"
#include "forms/perf_c2c.hpp"
#include "forms/tests/converted.hpp"
#include "litmus/read_test.hpp"
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
    "LISA MP\n\"PosWW PodWR Fre\"\n(* passes a message, with a fence at each end *)\n{ x=0; 0:r5=y; }\n P0 | P1 ;\n"
    " w[once] x 1 | r[acquire] r1 y ;\n f[wmb] | r[once] r2 x ;\n w[release] y 1 | f[mb] ;\n"
    "exists (1:r1=1 /\\ 1:r2=0)\n";
constexpr const char* kKernel =
    "C SB\n{}\nP0(int *x, int *y)\n{\n  int r0;\n  smp_store_mb(*x, 1);\n  r0 = READ_ONCE(*y);\n}\nP1(int *x, int *y)\n{\n"
    "  int r0;\n  WRITE_ONCE(*y, 1);\n  smp_mb();\n  r0 = atomic_read(x);\n}\nexists (0:r0=0 /\\ 1:r0=0)\n";

constexpr const char* kC11 =
    "C MP\n{ [x] = 0; }\nP0(atomic_int *x, int *y)\n{\n  *y = 1;\n  atomic_store_explicit(x, 1, memory_order_release);\n}\n"
    "P1(atomic_int *x, int *y)\n{\n  int r0 = atomic_load(x);\n  atomic_thread_fence(memory_order_acquire);\n  int r1 = "
    "*y;\n}\n"
    "forall (not (1:r0=1 /\\ 1:r1=0) \\/ [x]=2)\n";

constexpr const char* kBareList = "Latency (cycles)\n\n0 1 40\n0 2 90\n1 2 91\n";
constexpr const char* kTriangle = "  0 1 2\n0 -\n1 40ns -\n2 90 91 -\n";
constexpr const char* kMctop = "#box #HWCs 2 #Nodes 1 SMT 1\n0 0 0\n0 1 90\n1 0 90\n1 1 0\n#Mem_latencies 1\n0 0 290\n";
constexpr const char* kBrokenReport =
    "#        -- Peer Snoop --\n#   Num      Rmt      Lcl   L1 Hit  L1 Miss      N/A   Offset  Node\n  -----\n"
    "  0  10  30  20  5  1  0x7f10c0\n  -----\n  75.00%  60.00%  0.00%  0.00%  0.00%  0x8  0  1\n0x401136  600  300  250  900  "
    "4\n"
    "[.] f  pool.so  p.c:1  0{0-1} 1{2-3}\n  25.00%  40.00%  0.00%  9.00%  0.00%  0x10  0  1  0x401140  6  3  2  9  4  [.] g\n";
constexpr const char* kLockStat =
    "$ cat /proc/lock_stat\nlock_stat version 0.4\n-----\n class name con-bounces contentions waittime-min waittime-max "
    "waittime-total waittime-avg acq-bounces acquisitions holdtime-min holdtime-max holdtime-total holdtime-avg\n-----\n"
    " a-W: 46 84 0.26 939.10 16371.53 194.90 47291 2922365 0.16 2220301.69 17464026916.32 5975.99\n ---\n"
    " a 45 [<ffffffff8150ad8e>] unix_create1+0x16e/0x1b0\n ---\n a 4 [<ffffffff8150ad8e>] f+0x1/0x2\n";
constexpr const char* kContention =
    " contended   total wait     max wait     avg wait         type   caller\n\n  176  1.65 ms  19.43 us  9.38 us  mutex  "
    "f+0x57\n"
    "     0xffffffff81234567  down_write+0x10\n\n=== output for debug ===\n";
constexpr const char* kContentionCells =
    "# output: contended; total wait; max wait; avg wait; type; caller\n19; 194232; 21415; 10222; spinlock; f+0x1\n";
constexpr const char* kKlockstat =
    "  Caller  Avg Wait  Count  Max Wait  Total Wait\n  f+0x10  700 ns  8000  86.3 us  5.6 ms\n\n"
    "  Caller  Avg Hold  Count  Max Hold  Total Hold\n  f+0x10  600 ns  8000  96.5 us  4.8 ms\n";
constexpr const char* kMlc =
    "Intel(R) Memory Latency Checker - v3.9\nMeasuring idle latencies (in ns)...\n  Numa node\nNuma node 0 1\n 0 80.0 140.0\n"
    " 1 141.0 80.5\nLocal Socket L2->L2 HITM latency 47.0\nRemote Socket L2->L2 HITM latency (data address homed in writer "
    "socket)\n Reader Numa Node\nWriter Numa Node 0 1\n 0 - 106.0\n 1 106.5 -\n";
constexpr const char* kLstopo =
    "Machine (62GB total)\n  Package L#0\n    NUMANode L#0 (P#0 31GB)\n    L3 L#0 (8192KB)\n      L2 L#0 (256KB) + Core L#0 + "
    "PU "
    "L#0 (P#0)\n      Core L#1\n        PU L#1 (P#1)\n";
constexpr const char* kXml =
    "<topology version=\"2.0\"><object type=\"Machine\"><object type=\"Package\" os_index=\"0\"><object type=\"NUMANode\" "
    "os_index=\"0\"/><object type=\"Core\"><object type=\"PU\" os_index=\"0\"/></object></object></object></topology>\n";
constexpr const char* kCoreinfo =
    "Logical to Physical Processor Map:\n**--  Physical Processor 0 (Hyperthreaded)\n--**  Physical Processor 1\n\nLogical "
    "Processor to Socket Map:\n****  Socket 0\n\nLogical Processor to Cache Map:\n**--  Data Cache  0, Level 1, 32 KB, Assoc "
    "8, LineSize 64\nUnified Cache 1, Level 3, 8 MB, Assoc 16, LineSize 64:\n**\n**\n";
constexpr const char* kApple =
    "hw.perflevel0.physicalcpu: 4\nhw.perflevel0.cpusperl2: 4\nhw.perflevel0.l2cachesize: 12582912\n"
    "hw.perflevel1.physicalcpu: 2\nhw.perflevel1.cpusperl2: 2\nmachdep.cpu.brand_string: Apple M1\n";
constexpr const char* kIntelMac =
    "hw.logicalcpu: 8\nhw.packages: 2\nhw.cacheconfig: 8 2 2 4 0\nhw.cachesize: 4096 32768 262144 8388608\n";

// A sample of each form of traces in text.
struct TraceSample {
  const char* form;
  const char* text;
};
constexpr TraceSample kTraceSamples[] = {
    {"ordered", "# c\n0 r 1f00 4\nCore 1: W 0x1f04 <-- 5\n(2, R, 0x10)\n7 P3 r ff\nR CPU0 0x10\n0 1 0x40\n"},
    {"read-write", "r 1f00 4\nw 1f04\n0x10 R\ni 40 4\nload 10 // c\n"},
    {"per-core", "0 1000\n1 0x1040\n2 ff\n"},
    {"smpcache", "0 1000\n2 1040\n3 ff\n"},
    {"dinero", "0 1000\n1 1040 c\n2 ff\n4 0\n"},
    {"pinatrace", "# c\n0x7f40: R 0x1000 8 0x1234\n0x7f44,W,0x1008\n#eof\n"},
    {"gem5-packets", "1,r,8192,64,256,700\nw,8192,64,900\nu,1,4,7,9,11\n"},
    {"lackey", "==7== Lackey\nSB 40\nI  400000,3\n L 1004,16\n M 1004,4\n"},
    {"dramsim", "0x1000 READ 0\n0x2000 P_MEM_WR 12\n0x40 BOFF 13\n"},
    {"ramulator", "3 20734016\n8 20841280 20841280\n0 0x1f40 R\n2 4096 W\nLD 4096\nST 0x40\n"},
    {"cadss", "A 7f23 0, 3, -1\nB 40 44 3\nL 0x1000, 8\nS 1008,4 7\nX 7f27 -1, -1, -1\n"},
    {"drmemtrace",
     "Output format:\n<--record#-> <--instr#->: <---tid---> <record details>\n  1  0:  1001 <marker: version 6>\n"
     "  2  1:  1001 ifetch 3 byte(s) @ 0x7f00 48 89 e7\n  3  1:  1001 write 8 byte(s) @ 0x7ffe0 by PC 0x7f03\n"},
    {"perf-script",
     "prog  4711 [003] 98.000100: cpu/mem-loads,ldlat=30/P:  7ffd0010  225  401000 reader+0x10 (/tmp/prog)\n"
     "prog  4711 [003] 98.000200: cpu/mem-stores/P:  7ffd0018  1  401010 writer+0x10 (/tmp/prog)\n"},
};

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

// The least share of a sample's mutations that is read without an error: fewer, and the mutations would try nothing but errors.
constexpr double kLeastRead = 1.0 / 15, kLeastOfLitmus = 1.0 / 30, kLeastOfTraces = 1.0 / 50;

// Reads a text and many mutations of it. Returns the share that was read without an error.
template <class Read>
double read_mutated(const char* sample, Read read) {
  // 30,000 for each of the 36 samples are a million.
  const char* const wanted = std::getenv("LINEBOUNCE_MUTATIONS");
  const int variants = wanted != nullptr ? std::atoi(wanted) : 500;
  workloads::Random random(7, 1, 0);
  int accepted = 0;
  for (int i = 0; i < variants; ++i) {
    const std::string text = i == 0 ? std::string(sample) : mutated(sample, random);
    recognise(excerpt_of_text(text, "in"));
    try {
      read(text);
      ++accepted;
    } catch (const trace::TraceError& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
  }
  return static_cast<double>(accepted) / variants;
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
            kLeastRead);
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
            kLeastRead);
}

TEST(MutatedForms, MatricesAreRectanglesOrHaveAProblem) {
  const auto read = [](const std::string& text) {
    const NumberGrid grid = split_grid(text);
    if (!grid.problem.empty()) throw trace::TraceError(grid.problem);
  };
  for (const char* sample : {kPingpong, kPairs, kBars, kBareList, kTriangle, kMctop})
    EXPECT_GT(read_mutated(sample, read), kLeastRead) << sample;
}

TEST(MutatedForms, TextsOfLscpuAreReadOrRefused) {
  const auto read = [](const std::string& text) { read_lscpu(text, "in"); };
  EXPECT_GT(read_mutated(kExtended, read), kLeastRead);
  EXPECT_GT(read_mutated(kSummary, read), kLeastRead);
}

TEST(MutatedForms, ReportsOfPerfC2cAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "report";
  const auto read = [&](const std::string& text) {
    write_new(file, text);
    read_c2c_report(file);
  };
  EXPECT_GT(read_mutated(kCounts, read), kLeastRead);
  EXPECT_GT(read_mutated(kBrokenReport, read), kLeastRead);
}

TEST(MutatedForms, StatisticsOfLocksAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "locks";
  const auto accepted = [&](const char* form, const char* sample) {
    return read_mutated(sample, [&](const std::string& text) {
      write_new(file, text);
      form_named(form)->read_locks(file);
    });
  };
  EXPECT_GT(accepted("lock_stat", kLockStat), kLeastRead);
  EXPECT_GT(accepted("perf-lock", kContention), kLeastRead);
  EXPECT_GT(accepted("perf-lock-csv", kContentionCells), kLeastRead);
  EXPECT_GT(accepted("klockstat", kKlockstat), kLeastRead);
}

TEST(MutatedForms, TracesInTextAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "trace";
  for (const TraceSample& sample : kTraceSamples) {
    const Form& form = *form_named(sample.form);
    EXPECT_GT(read_mutated(sample.text,
                           [&](const std::string& text) {
                             write_new(file, text);
                             std::filesystem::remove(folder / "out.trace");
                             trace::Writer writer(folder / "out.trace");
                             form.convert({file}, writer);
                             writer.finish({});
                           }),
              kLeastOfTraces)
        << sample.form;
  }
}

TEST(MutatedForms, StructuresAndLatenciesOfMachinesAreReadOrRefused) {
  EXPECT_GT(read_mutated(kMlc, [](const std::string& text) { read_mlc(text, "in"); }), kLeastRead);
  const auto read = [](const std::string& text) { read_lstopo(text, "in"); };
  EXPECT_GT(read_mutated(kLstopo, read), kLeastRead);
  EXPECT_GT(read_mutated(kXml, read), kLeastRead);
  EXPECT_GT(read_mutated(kCoreinfo, [](const std::string& text) { read_coreinfo(text, "in"); }), kLeastRead);
  EXPECT_GT(read_mutated(kApple, [](const std::string& text) { read_sysctl(text, "in"); }), kLeastRead);
  EXPECT_GT(read_mutated(kIntelMac, [](const std::string& text) { read_sysctl(text, "in"); }), kLeastRead);
}

TEST(MutatedForms, TablesOfNodesAreReadOrRefused) {
  EXPECT_GT(read_mutated(kNodes,
                         [](const std::string& text) {
                           const NumaTables tables = read_numa(text, "in");
                           links_by_distance(tables);
                           if (tables.has_cpus()) topology_of(tables, "in");
                         }),
            kLeastRead);
}

TEST(MutatedForms, LitmusTestsAreReadOrRefused) {
  const auto read = [](const std::string& text) { linebounce::sim::litmus::read_test(text, "in"); };
  EXPECT_GT(read_mutated(kLisa, read), kLeastOfLitmus);
  EXPECT_GT(read_mutated(kKernel, read), kLeastOfLitmus);
  EXPECT_GT(read_mutated(kC11, read), kLeastOfLitmus);
}

}  // namespace
}  // namespace linebounce::sim
