"""Additions to the programs that run on the machine, and to what is counted of them."""

import json

from addition import Clone, addition, after, before, row

SHORT = ("--set", "run.measure_us=20", "--set", "run.warmup_us=5")


@addition(
    "lock",
    "programs/README.md",
    files={
        "programs/locks/sample_ttas.lua": """-- Test-and-test-and-set once more. What it teaches: how to add a lock.
title = "Test-and-test-and-set, as a sample"
traits = { fits_4_bytes = true }

function setup()
  return lock_word(structure { name = "sample_lock", "locked" })
end

function acquire(cpu, lock)
  if cpu:exchange(lock.locked, 1) == 0 then return false end
  repeat cpu:spin_until(lock.locked, "==", 0) until cpu:exchange(lock.locked, 1) == 0
  return true
end

function try_acquire(cpu, lock)
  return cpu:exchange(lock.locked, 1) == 0
end

function release(cpu, lock)
  cpu:store_release(lock.locked, 0)
end
"""
    },
    row=row("programs/README.md", "| `tight_ttas` |", "| `sample_ttas` | a sample |"),
    targets=("test_workloads_locks",),
)
def lock(clone: Clone) -> None:
    assert "sample_ttas" in clone.linebounce("list", "locks")
    clone.ctest("test_workloads_locks", "*sample_ttas*")
    clone.linebounce("run", "lock_handoff", *SHORT, "--set", "workload.lock=sample_ttas", "-o", "out/lock")
    clone.pytest("commands/check_lock/tests/test_check_lock.py", "sample_ttas")
    clone.pytest("tests/end_to_end/test_programs.py", "sample_ttas")


@addition(
    "lock of the kernel, from its sources",
    "commands/lock/README.md",
    edits=(
        before(
            "commands/lock/kernel_locks.cpp",
            '      {"mcs", "the MCS lock", ',
            '      {"sample_osq", "a sample", {"kernel/locking/osq_lock.c", "include/linux/osq_lock.h"}, 1, kOsq},\n',
        ),
        before(
            "commands/lock/tests/test_kernel_lock.py",
            "def test_a_patch_applies_to_the_copy(",
            """def test_the_sample_runs(linebounce: Program, kernel: Path) -> None:
    assert linebounce("lock", "sample_osq", "--kernel", kernel).code == 0
    lock = "out/kernel/sample_osq/sample_osq.c"
    result = linebounce("run", lock, "--machine=p3_xeon_4way", "--set=run.measure_us=20", "--unchecked")
    assert result.code == 0, result.stderr


""",
        ),
    ),
)
def kernel_lock(clone: Clone) -> None:
    assert "sample_osq" in clone.linebounce("lock", "--help")
    clone.pytest("commands/lock/tests/test_kernel_lock.py", "sample")


@addition(
    "program in Lua",
    "programs/README.md",
    files={
        "programs/sample_program.lua": """-- All CPUs count in one word. What it teaches: how to add a program.
title = "All CPUs count in one word"
tallies = { "counts" }

function setup()
  total = place(structure { name = "total", "sum" }, "total")
end

function run(cpu)
  while true do
    cpu:fetch_add(total.sum, 1)
    cpu:tally()
    cpu:tally("counts", 1)
    cpu:compute(50)
  end
end
"""
    },
    row=row("programs/README.md", "| `load_latency` |", "| `sample_program` | a sample |"),
)
def program(clone: Clone) -> None:
    clone.linebounce("run", "programs/sample_program.lua", "--machine", "p3_xeon_8way", *SHORT, "-o", "out/program")
    clone.pytest("tests/end_to_end/test_programs.py", "sample_program")


@addition(
    "counter",
    "workloads/counters/README.md",
    files={
        "workloads/counters/sample.cpp": """// One word, which a load and a compare-and-exchange change.
#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {
namespace {

class SampleCounter final : public Counter {
 public:
  explicit SampleCounter(Address word) : word_(word) {}

  void add(Cpu& cpu, std::int64_t amount) override {
    for (;;) {
      const Value before = cpu.load(word_);
      if (cpu.compare_exchange(word_, before, before + static_cast<Value>(amount)) == before) return;
    }
  }
  std::int64_t read(Cpu& cpu) override { return static_cast<std::int64_t>(cpu.load(word_)); }

 private:
  Address word_;
};

}  // namespace

CounterEntry sample_counter() {
  return {"sample", "Events, as a sample",
          [](const CounterPlace& place) {
            return std::make_unique<SampleCounter>(place.place({.name = "sample_counter", .fields = {{"value", 0}}}));
          },
          nullptr};
}

}  // namespace linebounce::workloads
"""
    },
    edits=(
        after(
            "workloads/counters/counter_registry.cpp",
            "LISTED(MakeCounterEntry, lockref_counter)(),\n",
            "      LISTED(MakeCounterEntry, sample_counter)(),\n",
        ),
    ),
    row=row("workloads/counters/README.md", "| `lockref` |", "| `sample` | events | a sample |"),
    targets=("test_workloads_counters",),
)
def counter(clone: Clone) -> None:
    assert "sample" in clone.linebounce("list", "counters")
    clone.ctest("test_workloads_counters", "*/sample_*")
    changes = ("--set", "workload.counter=sample", "--set", "workload.counts=events", "--set", "machine.cpus=2")
    clone.linebounce("run", "counter_scaling", *SHORT, *changes, "-o", "out/counter")
    clone.pytest("tests/end_to_end/test_kernel_workloads.py", "own_words")


@addition(
    "workload",
    "workloads/README.md",
    files={
        "workloads/micro/sample_additions.cpp": """// Each CPU adds to one word.
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kSampleAdditions = 0;  // tally

struct SampleAdditionsOptions {
  std::int64_t outside_cycles = 100;

  void bind(ParameterBinder& parameters) {
    parameters.number("outside_cycles", outside_cycles, 1, 1e9, "computed between two additions");
  }
};

class SampleAdditions final : public Workload {
 public:
  explicit SampleAdditions(const Parameters& parameters) : options_(read_options<SampleAdditionsOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override { word_ = setting.memory.place_array("word", 8); }

  void run(Cpu& cpu) override {
    for (;;) {
      cpu.fetch_add(word_, 1);
      cpu.tally(kSampleAdditions);
      cpu.compute(options_.outside_cycles);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    const std::int64_t additions = tallied_by_all(facts, kSampleAdditions);
    report_rate(facts, additions, metrics);
    metrics.mean("sample.additions_per_cpu", "", kNeither, "additions of a CPU, mean", static_cast<double>(additions),
                 facts.cpus);
  }

 private:
  SampleAdditionsOptions options_;
  Address word_ = 0;
};

}  // namespace

WorkloadEntry sample_additions_workload() {
  return {"sample_additions",
          "Each CPU adds to one word, as a sample",
          declare<SampleAdditionsOptions>(),
          make_workload<SampleAdditions>,
          {headlines::kOperations, headlines::kLatency, headlines::kLeastCpu}};
}

}  // namespace linebounce::workloads
""",
        "tests/workloads/sample_additions_test.cpp": """#include <gtest/gtest.h>

#include "tests/models/support/small_machine.hpp"
#include "tests/workloads/run_workload.hpp"

namespace linebounce::test {
namespace {

// An addition to a line of one's own takes 20 ns, and 100 are computed: 8333 in a millisecond.
TEST(SampleAdditions, OneCpuAddsEvery120Ns) {
  const MachineSpec spec = small_machine(1);
  SmallMachine small(spec, {}, 0, 1000);
  EXPECT_NEAR(run_workload("sample_additions", {}, small, spec).values.at("sample.additions_per_cpu"), 8333, 10);
}

}  // namespace
}  // namespace linebounce::test
""",
    },
    edits=(
        after(
            "workloads/workload_registry.cpp",
            "      LISTED(MakeWorkloadEntry, false_sharing_workload)(),\n",
            "      LISTED(MakeWorkloadEntry, sample_additions_workload)(),\n",
        ),
    ),
    row=row("workloads/micro/README.md", "| `false_sharing` |", "| `sample_additions` | a sample |"),
    targets=("test_workloads",),
)
def workload(clone: Clone) -> None:
    assert "sample_additions" in clone.linebounce("list", "workloads")
    assert "outside_cycles" in clone.linebounce("describe", "workload", "sample_additions")
    clone.ctest("test_workloads", "SampleAdditions.*")
    experiment = clone.folder / "out" / "additions.toml"
    experiment.parent.mkdir(exist_ok=True)
    of_run = '[workload]\nname = "sample_additions"\n[run]\nmeasure_us = 20\n'
    experiment.write_text('name = "additions"\nmachine = "p3_xeon_4way"\nseed = 1\n' + of_run, encoding="utf-8")
    assert "additions_per_cpu" in clone.linebounce("run", experiment, "--all-metrics", "-o", "out/workload")


@addition(
    "design of the dentry cache",
    "workloads/linux24/dcache/README.md",
    files={
        "workloads/linux24/dcache/sample_design.cpp": """// As global_lock.
#include "workloads/linux24/dcache/designs.hpp"

namespace linebounce::workloads {
namespace {

class SampleDesign final : public Dcache {
 public:
  explicit SampleDesign(const DcacheSetup& setup) : Dcache(setup, "dentry") {}
};

}  // namespace

DcacheDesign sample_design_dcache() {
  return {.name = "sample_design", .defers_freeing = false, .create = make_dcache<SampleDesign>};
}

}  // namespace linebounce::workloads
"""
    },
    edits=(
        after(
            "workloads/linux24/dcache/designs.cpp",
            "      LISTED(MakeDcacheDesign, sequence_walk_dcache)(),\n",
            "      LISTED(MakeDcacheDesign, sample_design_dcache)(),\n",
        ),
    ),
    row=row("workloads/linux24/dcache/README.md", "| `parallel_updates.*`", "| `sample_design.cpp` | a sample |"),
    targets=("test_workloads_linux24_dcache",),
)
def design(clone: Clone) -> None:
    assert "sample_design" in clone.linebounce("describe", "workload", "dbench")
    clone.ctest("test_workloads_linux24_dcache", "*sample_design*")


@addition(
    "variant of the slab",
    "workloads/linux26/slab/README.md",
    files={
        "workloads/linux26/slab/sample_slab.cpp": """// As slab_unaware.
#include "workloads/linux26/slab/slab.hpp"

namespace linebounce::workloads {

SlabVariant slab_unaware_variant();

SlabVariant sample_slab_variant() {
  SlabVariant variant = slab_unaware_variant();
  variant.name = "sample_slab";
  return variant;
}

}  // namespace linebounce::workloads
"""
    },
    edits=(
        after(
            "workloads/linux26/slab/slab.cpp",
            "      LISTED(MakeSlabVariant, slub_variant)(),\n",
            "      LISTED(MakeSlabVariant, sample_slab_variant)(),\n",
        ),
    ),
    row=row("workloads/linux26/slab/README.md", "| `slub.cpp` |", "| `sample_slab.cpp` | a sample |"),
    targets=("test_workloads_linux26_slab",),
)
def variant(clone: Clone) -> None:
    assert "sample_slab" in clone.linebounce("describe", "workload", "slab_churn")
    clone.ctest("test_workloads_linux26_slab", "*sample_slab*")


@addition(
    "metric",
    "sim/statistics/README.md",
    edits=(
        after(
            "sim/statistics/statistics.cpp",
            '  metrics.count("bus.transactions", "", kLower, "transactions on all buses", transactions, kDetail);\n',
            '  metrics.count("bus.sample", "", kLower, "the same, as a sample", transactions, kDetail);\n',
        ),
    ),
    targets=("test_sim_results",),
)
def metric(clone: Clone) -> None:
    names = [each["name"] for each in json.loads(clone.linebounce("list", "metrics", "--json"))]
    assert "bus.sample" in names
    assert "the same, as a sample" in clone.linebounce("describe", "metric", "bus.sample")
    page = clone.folder / "docs" / "results.md"
    old = page.read_text(encoding="utf-8")
    try:
        clone.pytest("tests/end_to_end/test_metrics.py", "not page")
        clone.run("python3", "tools/metrics_page.py", clone.build / "linebounce")
        assert "| `bus.sample` |" in page.read_text(encoding="utf-8")
        clone.pytest("tests/end_to_end/test_metrics.py")
    finally:
        page.write_text(old, encoding="utf-8")
