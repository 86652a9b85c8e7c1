"""A small installation: the program with the files that it reads beside itself, so that those can be broken, too."""

import re
import shutil
from pathlib import Path

from program import ROOT

# A kernel's tree with one lock.
OSQ_HEADER = """#include <linux/atomic.h>
struct optimistic_spin_queue { atomic_t tail; };
extern bool osq_lock(struct optimistic_spin_queue *lock);
extern void osq_unlock(struct optimistic_spin_queue *lock);
"""
OSQ_SOURCE = """#include <linux/osq_lock.h>
#include <linux/percpu.h>
bool osq_lock(struct optimistic_spin_queue *lock) { return atomic_cmpxchg_acquire(&lock->tail, 0, 1) == 0; }
void osq_unlock(struct optimistic_spin_queue *lock) { atomic_set_release(&lock->tail, 0); }
"""
# A lock that admits every CPU except the first two: no small case shows the error, but random machines do.
UNSAFE_LOCK = """title = "A word for two"
function setup() return lock_word(structure { name = "narrow_lock", "held" }) end
function acquire(cpu, lock)
  if cpu.id > 1 then return false end
  while cpu:exchange(lock.held, 1) ~= 0 do end
  return false
end
function release(cpu, lock) if cpu.id <= 1 then cpu:store_release(lock.held, 0) end end
"""
_EXPERIMENT = """name    = "{name}"
title   = "Two CPUs"
machine = "p3_xeon_4way"

[workload]
name = "critical_section"
lock = "tas"

[run]
warmup_us  = 1
measure_us = 20

[sweep]
"machine.cpus" = [1, 2]

[[paper]]
id          = "{row}"
metric      = "throughput.operations_per_s"
at          = {{ "machine.cpus" = 2 }}
relative_to = {{ "machine.cpus" = 1 }}
sign        = "gain"
source      = "nobody"
"""
LESSON = (ROOT / "teach/new-lesson.md").read_text()
_ASSIGNMENT = LESSON.replace("```toml lesson\n", '```toml lesson\nkind = "assignment"\n')
_ROW = re.compile(r"^(\| S +\| Other_GetM +\|) free( +\|) I ", re.MULTILINE)
BROKEN_TABLE = _ROW.sub(r"\1 -   \2 = ", (ROOT / "models/protocols/msi_snoop.md").read_text())
ANSWERS = """assignment = "small"

[answers]
letter = "M"
number = 7
table  = "table.md"
"""


def _with_ids(lesson: str) -> str:
    """Renames the lesson's tasks to the names in ANSWERS."""
    for block, name in (("question", "letter"), ("question", "number"), ("break", "table")):
        lesson = lesson.replace(f"```toml {block}\n", f'```toml  {block}\nid = "{name}"\n', 1)
    return lesson


def install(executable: Path, place: Path) -> None:
    """Installs the minimum: machines, protocols, two experiments, a lesson, the tests and an assignment."""
    place.mkdir(parents=True)
    shutil.copy2(executable, place / "linebounce")
    shutil.copy2(executable.with_name("liblinebounce_systemc.so"), place)
    (place / "linebounce-teach").symlink_to((executable.parent / "linebounce-teach").resolve())
    _copy(place, "configs/machines/p3_xeon_4way.toml", "models/protocols/msi_snoop.md", "models/protocols/mesi_snoop.md")
    _copy(place, "configs/papers/README.md", "configs/families/front_side_bus.toml")
    for folder, name in (("validation/", "churn"), ("", "papers")):
        _write(place / f"configs/experiments/{folder}{name}.toml", _EXPERIMENT.format(name=folder + name, row=f"mail.{name}"))
    _write(place / "teach/new-lesson.md", LESSON)
    _write(place / "teach/lessons/01-first.md", LESSON)
    for test in ("pre-test", "post-test"):
        _write(place / f"teach/lessons/{test}.md", _with_ids(_ASSIGNMENT))
    _write(place / "teach/assignments/small.md", _with_ids(_ASSIGNMENT))
    _write(place / "build/teach/index.html", "<!doctype html>\n")


def _copy(place: Path, *names: str) -> None:
    for name in names:
        _write(place / name, (ROOT / name).read_text(encoding="utf-8"))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
