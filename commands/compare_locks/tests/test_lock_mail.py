"""linebounce lock-report: a table of two locks for a patch's mail."""

import re
from pathlib import Path

import pytest
from program import ROOT, Program

SHORT = ["--set=run.measure_us=50", "--set=run.seeds=2"]
TICKET_IN_C = ROOT / "programs" / "locks" / "ticket.c"
# A lock laid out as in the kernel's tree, and a patch that makes it slower.
HEADER = """#include <linux/atomic.h>
struct optimistic_spin_queue {
  atomic_t tail;
};
extern bool osq_lock(struct optimistic_spin_queue *lock);
extern void osq_unlock(struct optimistic_spin_queue *lock);
"""
SOURCE = """#include <linux/osq_lock.h>
bool osq_lock(struct optimistic_spin_queue *lock)
{
  return atomic_cmpxchg_acquire(&lock->tail, 0, 1) == 0;
}
void osq_unlock(struct optimistic_spin_queue *lock)
{
  atomic_set_release(&lock->tail, 0);
}
"""
SLOWER = """--- a/kernel/locking/osq_lock.c
+++ b/kernel/locking/osq_lock.c
@@ -5,5 +5,5 @@
 }
 void osq_unlock(struct optimistic_spin_queue *lock)
 {
-  atomic_set_release(&lock->tail, 0);
+  atomic_xchg(&lock->tail, 0);
 }
"""
ROW = re.compile(r"^ +(\d*) +(A|B|B/A)  ", re.MULTILINE)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def report(linebounce: Program, *arguments: object) -> str:
    result = linebounce("lock-report", *arguments, *SHORT)
    assert result.code == 0, result.stderr
    assert result.stdout.isascii()
    assert max(map(len, result.stdout.splitlines())) <= 80
    return result.stdout


def row(text: str, cpus: int, lock: str) -> list[str]:
    """The cells of a lock's row in the block for this number of CPUs."""
    lines = text[re.search(rf"^ +{cpus} A ", text, re.MULTILINE).start() :].splitlines()
    return next(line for line in lines if re.match(rf" +\d* *{lock} ", line)).split()


def test_a_report_fits_a_mail_and_says_how_predictions_held(linebounce: Program) -> None:
    text = report(linebounce, "ticket", "mcs", "--machines=xeon_e5_2680v3_2socket,opteron_6172_4socket", "--cpus=1,16")
    assert text.startswith("A: ticket\nB: mcs\n")
    assert ROW.findall(text) == [("1", "A"), ("", "B"), ("", "B/A"), ("16", "A"), ("", "B"), ("", "B/A")] * 2
    accuracy = text.partition("predictions of published figures")[2]
    for machine in ("xeon_e5_2680v3_2socket", "opteron_6172_4socket", "all machines"):
        assert re.search(rf"{machine}: (none predicted|\d+ predicted, \d+ within tolerance)", accuracy), machine


def test_a_lone_cpu_has_no_hand_off_and_sockets_have_both_kinds(linebounce: Program) -> None:
    text = report(linebounce, "ticket", "mcs", "--machines=generic_2socket_32core", "--cpus=1,8")
    assert row(text, 1, "A")[-3:] == ["-", "-", "0.00"]
    *_, local, remote, lines = row(text, 8, "B")
    assert 0 < float(local) < float(remote)
    assert float(lines) > 1


def test_a_lock_in_c_stands_beside_the_same_in_lua(linebounce: Program) -> None:
    text = report(linebounce, "ticket", TICKET_IN_C, "--machines=p3_xeon_4way", "--cpus=4")
    change = float(re.search(r"B/A +([-+][\d.]+)", text)[1])
    assert abs(change) < 10


def test_a_lock_is_found_by_any_path_and_a_changed_load_is_named(linebounce: Program) -> None:
    lock = (ROOT / "programs" / "locks" / "ticket.lua").read_text()
    linebounce.file("locks/mine.lua", lock)
    text = report(linebounce, "locks/../locks/mine.lua", "ticket", "--machines=p3_xeon_4way", "--cpus=2")
    assert re.match(r"[\d.]+", row(text, 2, "A")[2])
    assert "Changed: run.measure_us=50, run.seeds=2." in " ".join(text.split())


@pytest.mark.parametrize("setting", ["machine.cpus=2", "workload.lock=mcs", "run.measure_us=[50,500]"])
def test_a_report_has_one_load(linebounce: Program, setting: str) -> None:
    assert setting.partition("=")[0] in linebounce.refused("lock-report", "ticket", "mcs", "--set", setting)


def test_a_kernels_lock_is_compared_with_its_patched_self(linebounce: Program) -> None:
    linebounce.file("linux/include/linux/osq_lock.h", HEADER)
    linebounce.file("linux/kernel/locking/osq_lock.c", SOURCE)
    linebounce.file("slower.patch", SLOWER)
    # The checker refuses it, because it is not first come, first served, as osq is.
    kernel = ["--kernel=linux", "--patch=slower.patch", "--unchecked"]
    text = report(linebounce, "kernel:osq", *kernel, "--machines=p3_xeon_4way", "--cpus=1")
    assert "A: kernel:osq of linux\nB: kernel:osq of linux with slower.patch\n" in text
    assert float(re.search(r"B/A +([-+][\d.]+)", text)[1]) < -1


def test_the_verdict_is_given_under_each_family_that_a_machine_could_have(linebounce: Program) -> None:
    base = (ROOT / "configs" / "machines" / "generic_2socket_32core.toml").read_text().partition("[[history]]")[0]
    guessed = re.sub(r'^"contention" = .*$', '"contention" = "assumed: --family says so"', base, flags=re.MULTILINE)
    linebounce.file("mine.toml", re.sub(r'^"cpu" = .*$|^"cpu.consistency" = .*$', "", guessed, flags=re.MULTILINE))
    text = report(linebounce, "ticket", "ttas", "--machines=mine.toml", "--cpus=2,8")
    table = text.partition("B/A in acquisitions/s under each that it could be")[2].partition("\nfairness")[0]
    families = re.findall(r"^  (\w+) +([-+][\d.]+ \+/-[\d.]+ %) +([-+][\d.]+ \+/-[\d.]+ %)$", table, re.MULTILINE)
    names = [name for name, _, _ in families]
    assert names[0] == "intel_mesh"
    assert {"amd_zen", "arm_mesh", "intel_ring"} < set(names)
    assert "ideal" not in names
    assert "front_side_bus" not in names
    assert row(text, 8, "B/A")[1] == families[0][2].split()[0]
    named = guessed.replace("assumed: --family says so", "assumed: the family of AMD EPYC 7763, by the file's name")
    linebounce.file("mine.toml", named)
    assert "it could be" not in report(linebounce, "ticket", "ttas", "--machines=mine.toml", "--cpus=2")


def test_what_is_missing_is_named(linebounce: Program) -> None:
    assert "--kernel" in linebounce.refused("lock-report", "kernel:osq", "ticket")
    assert "name two locks" in linebounce.refused("lock-report", "ticket")
    assert "kernel:NAME" in linebounce.refused("lock-report", "ticket", "mcs", "--patch", "x.patch")
    assert "qspinlock" in linebounce.refused("lock-report", "ticket", "qspin")
