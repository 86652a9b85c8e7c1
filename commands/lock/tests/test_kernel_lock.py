"""linebounce lock: a lock from a kernel's sources, as they are, or patched.

Most tests write a source tree with one lock, laid out like the kernel's. Tests of the kernel's own locks need
Debian's package linux-source-6.1, whose archive takes half a minute to unpack."""

import io
import json
import os
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from program import ROOT, Program

ARCHIVE = Path(os.environ.get("LINEBOUNCE_KERNEL", "/usr/src/linux-source-6.1.tar.xz"))
OSQ_PATCH = ROOT / "commands/check_lock/tests/locks_in_c/osq_next_first.patch"

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
    assert not (linebounce.directory / "out").exists(), "a refusal leaves no folder behind"
    (linebounce.directory / "mine").mkdir()
    linebounce.refused("lock", "qspinlock", "--kernel", kernel, "-o", "mine", code=3)
    assert (linebounce.directory / "mine").is_dir(), "the user's own folder stays"


# ---- trees, archives and patches from strangers ----


def outside(linebounce: Program) -> set[str]:
    """All files but those of the tree and the output."""
    found = {str(path.relative_to(linebounce.directory)) for path in linebounce.directory.rglob("*")}
    return {name for name in found if name.split("/")[0] not in ("linux", "out", "linux.tar")}


BAD_NAMES = ["{0}/absolute.h", "../../up.h", "linux/../../../up.h", "linux/\x1b[2J.h", "linux//double.h", "./here.h", ""]


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize(
    "how", ["#include <{}>", "/* #include <{}> */", "# \t include\t<{}>", "// see #include <a.h> #include <{}>"]
)
def test_an_include_that_leads_elsewhere_is_refused_and_nothing_is_written(
    linebounce: Program, kernel: Path, name: str, how: str
) -> None:
    elsewhere = linebounce.directory / "elsewhere"
    wrong = how.format(name.format(elsewhere))
    linebounce.file("linux/kernel/locking/osq_lock.c", f"{SOURCE}{wrong}\n")
    message = linebounce.refused("lock", "osq", "--kernel", kernel, "-o", "out")
    assert f"kernel/locking/osq_lock.c:{SOURCE.count(chr(10)) + 1}: includes <" in message
    assert not outside(linebounce)
    assert not (linebounce.directory / "out").exists(), "nothing half done is left"


def test_an_include_that_does_not_end_or_that_a_folder_takes_writes_nothing_odd(linebounce: Program, kernel: Path) -> None:
    linebounce.file("linux/kernel/locking/osq_lock.c", f"{SOURCE}/* #include <{'x' * 300}> #include <unclosed\n #include */\n")
    assert linebounce("lock", "osq", "--kernel", kernel, "-o", "out").code in (0, 2)
    assert not outside(linebounce)
    linebounce.file("linux/kernel/locking/osq_lock.c", f"#include <asm>\n#include <asm/x.h>\n{SOURCE}")
    assert "headers/asm" in linebounce.refused("lock", "osq", "--kernel", kernel, "-o", "out")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def patch_of(before: str, after: str, more: str = "") -> str:
    return f"{more}--- {before}\n+++ {after}\n@@ -0,0 +1,1 @@\n+int escaped;\n"


BAD_PATCHES = {
    "absolute": patch_of("/dev/null", "{0}/escaped.h"),
    "up": patch_of("/dev/null", "b/../../escaped.h"),
    "up from": patch_of("a/../../../linux/include/linux/osq_lock.h", "b/include/linux/osq_lock.h"),
    "index": patch_of("a/x.h", "b/x.h", "Index: a/../../escaped.h\n"),
    "control": patch_of("/dev/null", "b/\x1b[2J.h"),
    "link": "diff --git a/l b/l\nnew file mode 120000\n" + patch_of("/dev/null", "b/l"),
    "rename": "diff --git a/x b/x\nrename from kernel/locking/osq_lock.c\nrename to ../../escaped.c\n",
    "after a hunk": patch_of("/dev/null", "b/fine.h") + patch_of("/dev/null", "b/../../escaped.h"),
    "a hunk that swallows a name": "--- /dev/null\n+++ b/fine.h\n@@ -0,0 +1,5 @@\n+x\ndiff --git a/x b/x\n"
    + patch_of("/dev/null", "b/../../escaped.h"),
    "for ed": "0a\nescaped\n.\n!touch {0}/escaped\n",
}


@pytest.mark.parametrize("name", BAD_PATCHES)
def test_a_patch_that_leads_elsewhere_is_refused_and_nothing_is_written(linebounce: Program, kernel: Path, name: str) -> None:
    (linebounce.directory / "elsewhere").mkdir()
    patch = linebounce.file("bad.patch", BAD_PATCHES[name].format(linebounce.directory / "elsewhere"))
    message = linebounce.refused("lock", "osq", "--kernel", kernel, "--patch", patch, "-o", "out")
    assert message.startswith(f"linebounce: {patch}")
    assert outside(linebounce) == {"elsewhere", "bad.patch"}
    assert not (linebounce.directory / "out").exists()
    assert (kernel / "include" / "linux" / "osq_lock.h").read_text() == HEADER


def test_a_patchs_text_may_look_like_a_name(linebounce: Program, kernel: Path) -> None:
    """A deleted line that begins with two dashes, and an added one with two plusses."""
    linebounce.file("linux/kernel/locking/osq_lock.c", f"{SOURCE}/*\n-- /etc/passwd\n*/\n")
    lines = SOURCE.count("\n")
    body = f"@@ -{lines},4 +{lines},4 @@\n }}\n /*\n--- /etc/passwd\n+++ ../../up\n */\n"
    patch = linebounce.file("fine.patch", f"--- a/kernel/locking/osq_lock.c\n+++ b/kernel/locking/osq_lock.c\n{body}")
    result = linebounce("lock", "osq", "--kernel", kernel, "--patch", patch, "-o", "out")
    assert result.code == 0, result.stderr
    assert (linebounce.directory / "out/source/kernel/locking/osq_lock.c").read_text().endswith("/*\n++ ../../up\n*/\n")


def archived(kernel: Path, change: Callable[[tarfile.TarFile], object], name: str = "linux.tar") -> Path:
    file = kernel.parent / name
    with tarfile.open(file, "w") as archive:
        archive.add(kernel / "include", "linux-6.1/include")
        change(archive)
    return file


def member(name: str, content: bytes = b"", **facts: object) -> tuple[tarfile.TarInfo, io.BytesIO]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in facts.items():
        setattr(info, key, value)
    return info, io.BytesIO(content)


OSQ = "linux-6.1/kernel/locking/osq_lock.c"
ODD_MEMBERS = {
    "link": {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
    "relative link": {"type": tarfile.SYMTYPE, "linkname": "../../../../precious"},
    "pipe": {"type": tarfile.FIFOTYPE},
}


@pytest.mark.parametrize("kind", ODD_MEMBERS)
def test_an_archive_with_a_link_or_a_pipe_is_refused(linebounce: Program, kernel: Path, kind: str) -> None:
    linebounce.file("precious", SOURCE)
    file = archived(kernel, lambda archive: archive.addfile(*member(OSQ, **ODD_MEMBERS[kind])))
    message = linebounce.refused("lock", "osq", "--kernel", file, "-o", "out", code=3, timeout=60)
    assert "kernel/locking/osq_lock.c is a link, a pipe or a device in it" in message
    assert not (linebounce.directory / "out").exists()
    assert outside(linebounce) == {"precious"}


def test_an_archive_unpacks_nothing_outside(linebounce: Program, kernel: Path) -> None:
    def evil(archive: tarfile.TarFile) -> None:
        for name in (
            "../kernel/locking/osq_lock.c",
            "/kernel/locking/osq_lock.c",
            OSQ,
            "../../escaped/kernel/locking/osq_lock.c",
        ):
            archive.addfile(*member(name, SOURCE.encode()))

    assert linebounce("lock", "osq", "--kernel", archived(kernel, evil), "-o", "out").code in (0, 3)
    assert not outside(linebounce)


def test_an_archive_that_is_too_large_is_refused_with_the_limits(linebounce: Program, kernel: Path) -> None:
    def bomb(archive: tarfile.TarFile) -> None:
        info, _ = member(OSQ)
        info.size = 80 << 20
        archive.addfile(info, io.BytesIO(bytes(info.size)))

    def many(archive: tarfile.TarFile) -> None:
        for number in range(2000):
            archive.addfile(*member(f"{OSQ}/{number}"))

    for change in (bomb, many):
        message = linebounce.refused("lock", "osq", "--kernel", archived(kernel, change), "-o", "out", code=3)
        assert "more than 1000 files or 64 MiB would be unpacked, which is the limit" in message
        assert not (linebounce.directory / "out").exists()


def test_a_tree_with_a_pipe_or_a_huge_file_is_refused(linebounce: Program, kernel: Path) -> None:
    source = kernel / "kernel/locking/osq_lock.c"
    with source.open("r+b") as file:
        file.truncate(1 << 40)  # a file with holes
    assert "larger than the limit of 64 MiB" in linebounce.refused("lock", "osq", "--kernel", kernel, "-o", "out", code=3)
    source.unlink()
    os.mkfifo(source)
    assert "not a regular file" in linebounce.refused("lock", "osq", "--kernel", kernel, "-o", "out", code=3, timeout=60)


def test_a_colon_in_an_archives_name_names_no_other_computer(linebounce: Program, kernel: Path) -> None:
    file = archived(kernel, lambda archive: archive.add(kernel / "kernel", "linux-6.1/kernel"), "nosuchhost:linux.tar")
    assert linebounce("lock", "osq", "--kernel", file.name, "-o", "out").code == 0


def test_what_fails_leaves_the_lock_as_it_was(linebounce: Program, kernel: Path) -> None:
    assert linebounce("lock", "osq", "--kernel", kernel, "-o", "out").code == 0
    before = contents(linebounce.directory / "out")
    patch = linebounce.file("bad.patch", BREAKS.replace("-  if (atomic_cmpxchg", "-  if (no_such"))
    linebounce.refused("lock", "osq", "--kernel", kernel, "--patch", patch, "-o", "out")
    linebounce.refused("lock", "qspinlock", "--kernel", kernel, "-o", "out", code=3)
    assert contents(linebounce.directory / "out") == before


def test_a_users_own_source_folder_is_not_replaced(linebounce: Program, kernel: Path) -> None:
    """Not even in a directory that Linebounce made, by another command."""
    linebounce.file("out/.linebounce", "")
    mine = linebounce.file("out/source/mine/a.txt", "mine")
    assert "out/source: Linebounce did not make this" in linebounce.refused("lock", "osq", "--kernel", kernel, "-o", "out")
    assert mine.read_text() == "mine"


def test_the_kernels_path_ends_no_comment(linebounce: Program, kernel: Path) -> None:
    """The lock's file names the kernel's path in a comment."""
    odd = kernel.with_name("linux\nint odd;")
    kernel.rename(odd)
    assert linebounce("lock", "osq", "--kernel", odd, "-o", "out").code == 0
    assert "\nint odd;" not in (linebounce.directory / "out" / "osq.c").read_text()


NEEDS_KERNEL = pytest.mark.skipif(not ARCHIVE.exists(), reason=f"needs Debian's package linux-source-6.1: no {ARCHIVE}")


# By lock: with how many CPUs all interleavings are searched, within 300,000 states.
SEARCHED_WHOLE = {
    "ticket": "23",
    "qspinlock": "2",
    "qspinlock_x86": "",
    "qrwlock": "2",
    "osq": "23",
    "lockref": "2",
    "mcs": "23",
}


@NEEDS_KERNEL
@pytest.mark.parametrize("name", SEARCHED_WHOLE)
def test_a_lock_of_linux_holds_and_runs_on_32_cpus(linebounce: Program, name: str) -> None:
    assert linebounce("lock", name, "--kernel", ARCHIVE).code == 0
    lock = f"out/kernel/{name}/{name}.c"
    for cpus in ("2", "3"):
        found = verdict(linebounce, lock, f"--cpus={cpus}", "--acquisitions=1", "--states=300000")
        assert found == "holds" or (found == "incomplete" and cpus not in SEARCHED_WHOLE[name])
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


GENERIC = "source/include/asm-generic"
LOCKING = "source/kernel/locking"
RELAXED_STORE = r"\1 = \2"
# By lock: a file, a pattern, and what each place in turn that it matches is replaced by; where all interleavings of two CPUs
# don't show that as a mistake, the reason.
WEAKER: dict[str, list[tuple[str, str, str, dict[int, str]]]] = {
    "qspinlock": [
        (f"{GENERIC}/qspinlock.h", "cmpxchg_acquire", "cmpxchg_relaxed", {}),
        (f"{GENERIC}/qspinlock.h", r"smp_store_release\(&(lock->locked), (0)\)", RELAXED_STORE, {}),
        (f"{LOCKING}/qspinlock.c", r"atomic_cond_read_acquire", "atomic_cond_read_relaxed", {}),
        (f"{LOCKING}/qspinlock.c", "atomic_fetch_or_acquire", "atomic_fetch_or_relaxed", {}),
    ],
    "qrwlock": [
        (f"{GENERIC}/qrwlock.h", "add_return_acquire", "add_return_relaxed", {0: "queued_read_trylock() is not called"}),
        (f"{GENERIC}/qrwlock.h", "cmpxchg_acquire", "cmpxchg_relaxed", {}),
        (f"{GENERIC}/qrwlock.h", "sub_return_release", "sub_return_relaxed", {}),
        (f"{GENERIC}/qrwlock.h", r"smp_store_release\(&(lock->wlocked), (0)\)", RELAXED_STORE, {}),
        (f"{LOCKING}/qrwlock.c", "cond_read_acquire", "cond_read_relaxed", {0: "nobody reads in an interrupt"}),
        (f"{LOCKING}/qrwlock.c", "cmpxchg_acquire", "cmpxchg_relaxed", {}),
    ],
    "mcs": [
        (f"{LOCKING}/mcs_spinlock.h", "smp_cond_load_acquire", "smp_cond_load_relaxed", {}),
        (f"{LOCKING}/mcs_spinlock.h", r"smp_store_release\((\(l\)), (1)\)", r"*\1 = \2", {}),
        (f"{LOCKING}/mcs_spinlock.h", r"\bxchg\(", "xchg_acquire(", {}),
        (f"{LOCKING}/mcs_spinlock.h", r"\bxchg\(", "xchg_release(", {}),
        (f"{LOCKING}/mcs_spinlock.h", "cmpxchg_release", "cmpxchg_relaxed", {}),
    ],
    "ticket": [
        (f"{GENERIC}/spinlock.h", r"atomic_fetch_add\((?=1<)", "atomic_fetch_add_release(", {}),
        (f"{GENERIC}/spinlock.h", r"atomic_try_cmpxchg\(", "atomic_try_cmpxchg_relaxed(", {}),
        (f"{GENERIC}/spinlock.h", r"smp_store_release\((ptr), (\(u16\)val \+ 1)\)", r"*\1 = \2", {}),
        (f"{GENERIC}/spinlock.h", r"\bsmp_mb\(\);", ";", {0: "the load before it acquires"}),
        (f"{GENERIC}/spinlock.h", r"cond_read_acquire(?=\(lock)", "cond_read_relaxed", {0: "a full fence follows"}),
    ],
}


def replaced(text: str, pattern: str, by: str, place: int) -> str:
    found = list(re.finditer(pattern, re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), text, flags=re.DOTALL)))
    return text[: found[place].start()] + found[place].expand(by) + text[found[place].end() :]


@NEEDS_KERNEL
@pytest.mark.parametrize("name", WEAKER)
def test_c11_finds_an_order_of_linux_that_is_too_weak(linebounce: Program, name: str) -> None:
    assert linebounce("lock", name, "--kernel", ARCHIVE, "-o", "lock").code == 0
    lock = f"lock/{name}.c"
    assert verdict(linebounce, lock, "--cpus=2", "--consistency=c11") == "holds"
    for file, pattern, by, no_mistake in WEAKER[name]:
        path = linebounce.directory / "lock" / file
        text = path.read_text()
        for place in range(len(re.findall(pattern, re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)))):
            path.write_text(replaced(text, pattern, by, place))
            found = verdict(linebounce, lock, "--cpus=2", "--consistency=c11")
            assert (found == "broken") == (place not in no_mistake), f"{file}: {pattern}, place {place}: {found}"
        path.write_text(text)
