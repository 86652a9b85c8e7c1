"""linebounce lock: a lock from a kernel's sources, as they are, or patched.

Most tests write a source tree with one lock, laid out like the kernel's. Tests of the kernel's own locks need
Debian's package linux-source-6.1, whose archive takes half a minute to unpack."""

import json
import os
import tarfile
from pathlib import Path

import pytest
from program import Program

ARCHIVE = Path(os.environ.get("LINEBOUNCE_KERNEL", "/usr/src/linux-source-6.1.tar.xz"))
OSQ_PATCH = Path(__file__).resolve().parent / "locks_in_c" / "osq_next_first.patch"

HEADER = """#include <linux/atomic.h>
struct optimistic_spin_queue {
  atomic_t tail;
};
extern bool osq_lock(struct optimistic_spin_queue *lock);
extern void osq_unlock(struct optimistic_spin_queue *lock);
"""
SOURCE = """#include <linux/percpu.h>
#include <linux/osq_lock.h>
static DEFINE_PER_CPU_SHARED_ALIGNED(int, taken);
bool osq_lock(struct optimistic_spin_queue *lock)
{
  if (atomic_cmpxchg_acquire(&lock->tail, 0, smp_processor_id() + 1) != 0)
    return false;
  this_cpu_inc(taken);
  return true;
}
void osq_unlock(struct optimistic_spin_queue *lock)
{
  atomic_set_release(&lock->tail, 0);
}
"""
BREAKS = """--- a/kernel/locking/osq_lock.c
+++ b/kernel/locking/osq_lock.c
@@ -3,8 +3,9 @@
 static DEFINE_PER_CPU_SHARED_ALIGNED(int, taken);
 bool osq_lock(struct optimistic_spin_queue *lock)
 {
-  if (atomic_cmpxchg_acquire(&lock->tail, 0, smp_processor_id() + 1) != 0)
+  if (atomic_read(&lock->tail) != 0)
     return false;
+  atomic_set(&lock->tail, 1);
   this_cpu_inc(taken);
   return true;
 }
"""


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def kernel(linebounce: Program) -> Path:
    linebounce.file("linux/include/linux/osq_lock.h", HEADER)
    return linebounce.file("linux/kernel/locking/osq_lock.c", SOURCE).parent.parent.parent


def verdict(linebounce: Program, lock: str, *arguments: str) -> str:
    if "--quick" not in arguments:
        arguments += ("--machines=0",)
    return json.loads(linebounce("check-lock", lock, "--json", *arguments).stdout)[0]["verdict"]


def test_a_lock_from_a_folder_or_an_archive_is_the_kernels_own_source(linebounce: Program, kernel: Path) -> None:
    with tarfile.open(kernel.parent / "linux.tar.xz", "w:xz") as archive:
        archive.add(kernel, "linux-6.1")
    for source in (kernel, kernel.parent / "linux.tar.xz"):
        assert linebounce("lock", "osq", "--kernel", source, "-o", "osq").code == 0
        copied = linebounce.directory / "osq" / "source" / "kernel" / "locking" / "osq_lock.c"
        assert copied.read_text() == SOURCE
        old = linebounce.directory / "osq" / "headers" / "linux" / "of_an_older_kernel.h"
        assert not old.exists(), "the second call deletes what the first has left"
        old.touch()
        result = linebounce("run", "osq/osq.c", "--machine=p3_xeon_4way", "--set=run.measure_us=20", "--fresh", "--unchecked")
        assert result.code == 0, result.stderr


def test_a_patch_applies_to_the_copy(linebounce: Program, kernel: Path) -> None:
    patch = linebounce.file("breaks.patch", BREAKS)
    assert linebounce("lock", "osq", "--kernel", kernel, "--patch", patch).code == 0
    assert verdict(linebounce, "out/kernel/osq/osq.c", "--quick") == "broken"
    assert (kernel / "kernel" / "locking" / "osq_lock.c").read_text() == SOURCE
    assert "does not apply" in linebounce.refused("lock", "osq", "--kernel", kernel, "--patch", OSQ_PATCH)


def test_a_program_that_is_not_installed_is_named(
    linebounce: Program, kernel: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    patch = linebounce.file("breaks.patch", BREAKS)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "the program patch is needed" in linebounce.refused("lock", "osq", "--kernel", kernel, "--patch", patch)


def test_what_is_missing_is_named(linebounce: Program, kernel: Path) -> None:
    assert "kernel/locking/qspinlock.c is missing" in linebounce.refused("lock", "qspinlock", "--kernel", kernel, code=3)
    assert "there is no such file" in linebounce.refused("lock", "osq", "--kernel", "nowhere", code=3)
    assert "qspinlock" in linebounce.refused("lock", "qspin", "--kernel", kernel)
    assert "did you mean osq?" in linebounce.refused("lock", "oqs")
    assert "--kernel is missing" in linebounce.refused("lock", "osq")


NEEDS_KERNEL = pytest.mark.skipif(not ARCHIVE.exists(), reason=f"needs Debian's package linux-source-6.1: no {ARCHIVE}")


@NEEDS_KERNEL
@pytest.mark.parametrize("name", ["qspinlock", "qspinlock_x86", "qrwlock", "osq", "lockref", "mcs"])
def test_a_lock_of_linux_holds_and_runs_on_32_cpus(linebounce: Program, name: str) -> None:
    assert linebounce("lock", name, "--kernel", ARCHIVE).code == 0
    lock = f"out/kernel/{name}/{name}.c"
    for cpus in ("2", "3"):
        assert verdict(linebounce, lock, f"--cpus={cpus}", "--acquisitions=1", "--states=300000") != "broken"
    result = linebounce("run", lock, "--machine=generic_2socket_32core", "--unchecked", "--set=run.measure_us=200")
    assert result.code == 0, result.stderr


@NEEDS_KERNEL
def test_rwsem_of_linux_holds_and_no_wake_up_is_lost_on_32_cpus(linebounce: Program) -> None:
    """A writer and a reader have more interleavings than can be looked at: they sleep and wake each other."""
    assert linebounce("lock", "rwsem", "--kernel", ARCHIVE).code == 0
    lock = "out/kernel/rwsem/rwsem.c"
    assert verdict(linebounce, lock, "--cpus=2", "--acquisitions=1", "--states=4000") != "broken"
    loads = ("--set=workload.read_pct=[0,50,90,100]", "--machine=generic_2socket_32core", "--set=run.measure_us=200")
    results = linebounce.run(lock, "out/rwsem", *loads, "--unchecked", "--quiet")
    for point in json.loads((results / "results.json").read_text())["points"]:
        assert point["metrics"]["throughput.operations_per_s"]["value"] > 1e6, point["at"]
