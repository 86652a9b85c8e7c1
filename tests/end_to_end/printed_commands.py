"""Example commands of help texts, the files that they name, and a way to type them."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from program import INTERNALS, ROOT
from simulated_probe import SimulatedMachine, few_cpus, probe_text
from test_import import CONTENTION, lock_class, lock_stat
from test_import_folder import STORE_BUFFERING
from test_import_lock_statistics import KLOCK_NEW
from test_import_machine_forms import IDLE, LOADED
from test_import_numa import NUMACTL
from test_import_perf_c2c import C2C
from test_kernel_lock import BREAKS, HEADER, SOURCE
from test_layout_search import TABLE
from test_terminal import BROKEN_LOCK
from test_validate_against import METRIC

PROGRAMS = r"linebounce(?:-[a-z+]+)?|perf|lscpu|numactl|core-to-core-latency|rumur|make|cc"
EXAMPLE = re.compile(rf"^  ((?:{PROGRAMS}) (?:[^\\\n]|\\[^\n]|\\\n *)*?)(?=  |$)", re.MULTILINE)
SECONDS = 2  # a command that runs for so long without a message has accepted what it was given


def examples(help_text: str) -> list[str]:
    """The commands that a help text gives as examples: lines indented by two, continued behind a backslash. Two blanks end a
    command; an explanation follows."""
    _, found, shown = help_text.partition("Examples:\n")
    joined = re.sub(r" *\\\n +", " ", shown if found else help_text)
    return [match[1].strip() for match in EXAMPLE.finditer(joined)]


@dataclass
class Typed:
    code: int | None  # None: still at work when it was killed
    output: str
    errors: str


class Shell:
    """Types commands as a user does, in a folder, with stand-ins for tools that need other hardware."""

    def __init__(self, executable: Path, folder: Path) -> None:
        self.executable, self.folder = executable, folder
        places = [folder / "stand-ins", executable.parent, Path(sys.executable).parent]
        self.environment = os.environ | {
            "PATH": os.pathsep.join([*map(str, places), os.environ["PATH"]]),
            "HOME": str(folder / "home"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def type(self, command: str, seconds: float = SECONDS) -> Typed:
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        try:
            output, errors = process.communicate(timeout=seconds)
            return Typed(process.returncode, output, errors)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            return Typed(None, output, errors)

    def must(self, command: str) -> str:
        done = self.type(command, 120)
        assert done.code == 0, f"{command}\n{done.output}{done.errors}"
        return done.output + done.errors

    def file(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def program(self, name: str, text: str) -> None:
        self.file(name, "#!/bin/sh\n" + text)
        (self.folder / name).chmod(0o755)


def fault(typed: Typed, help_text: str) -> str:
    """What is wrong with the end of a command; empty if nothing. `help_text` says which exit codes are answers."""
    said = typed.output + typed.errors
    if shown := INTERNALS.search(said):
        return f"shows its inside ({shown[0]})"
    if typed.code is None:
        return said if re.search(r"^Try: linebounce", typed.errors, re.MULTILINE) else ""
    announced = re.search(r"Exit codes?:? .*", help_text, re.DOTALL)
    answers = {0} | {code for code in (1, 4, 5) if announced and re.search(rf"\b{code}\b", announced[0])}
    return "" if typed.code in answers else f"exit code {typed.code}: {said[-1500:]}"


# ---- What the commands take. Each is made where a page names it ----

SERVER_SOURCE = """#include <pthread.h>
#include <stdlib.h>
struct account { long id; long deposits; char owner[16]; long withdrawals; };
struct job { long key; char name[24]; long submitted, done; };
static struct account accounts[4];
static struct job jobs[4];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static long table[64];
__attribute__((noinline)) void serve(long me, long i) {
  volatile struct account *account = &accounts[i % 4];
  volatile struct job *job = &jobs[i % 4];
  if (me % 2) { account->deposits++; job->submitted++; }
  else { account->withdrawals += account->id; job->done += job->key; }
  pthread_mutex_lock(&table_lock);
  table[i % 64]++;
  pthread_mutex_unlock(&table_lock);
}
__attribute__((noinline)) void shut_down(void) { table[0] = 0; }
static void *work(void *me) {
  for (long i = 0; i < 200; i++) serve((long)me, i);
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  shut_down();
}
"""
MAKEFILE = """CC = cc
PROGRAM: PROGRAM.c
\t$(CC) -g -O2 -pthread PROGRAM.c -o PROGRAM
"""
LOCK_IN_C = (ROOT / "docs" / "lock-in-c.md").read_text().partition("```c\n")[2].partition("```")[0]
SCENE = """name    = "{name}"
title   = "CPU 2 stores what CPU 1 loads"
machine = "p3_xeon_4way"
[workload]
program = "{name}.lua"
"""
WORDS = """ends = true
function setup()
  x = place_array("x", 8)
  counter = place(structure { name = "counter", "value:8" }, "counter")
end
function run(cpu)
  for i = 1, 20 do
    if cpu.id == 2 then cpu:store(x, i) else cpu:load(x) end
    cpu:fetch_add(counter.value, 1)
  end
end
"""
# From core-to-core-latency: CPUs 0 to 3 and 4 to 7 are neighbours.
MATRIX = "".join(
    ",".join(str((41 if i // 4 == j // 4 else 92) + (i + j) % 3) if j < i else "" for j in range(8)) + "\n" for i in range(8)
)
SUMMARY_OF_CPUS = {"lscpu": [{"field": "CPU(s):", "data": "8"}, {"field": "Model name:", "data": "AMD EPYC 7763"}]}
CACHES_OF_CPUS = {
    "caches": [
        {"name": f"L{level}", "one-size": size, "all-size": size, "ways": 8, "type": "Unified", "level": level}
        for level, size in ((1, "32K"), (2, "512K"), (3, "16M"))
    ]
}
CPUS = {"caches": [{"name": "L2", "one-size": "512K", "all-size": "4M", "ways": 8, "type": "Unified", "level": 2}]}
CPUS = {
    "cpus": [
        {
            "cpu": cpu,
            "node": cpu // 4,
            "socket": cpu // 4,
            "core": cpu,
            "l1d:l1i:l2:l3": f"{cpu}:{cpu}:{cpu}:{cpu // 4}",
            "online": True,
        }
        for cpu in range(8)
    ]
}
MEASURED = f"workload.lock,machine.cpus,metric,measured\nmcs,4,{METRIC},1000000\n"
PAHOLE = """struct NAME {
\tu64                        sent;                 /*     0     8 */
\tu64                        route;                /*     8     8 */
\tu32                        state[4];             /*    16    16 */
\tu32                        kind[2];              /*    32     8 */
\tatomic_t                   users;                /*    40     4 */

\t/* XXX 4 bytes hole, try to pack */

\tu64                        peer;                 /*    48     8 */

\t/* size: 56, cachelines: 1, members: 6 */
\t/* sum members: 52, holes: 1, sum holes: 4 */
};
"""
LACKEY = " S 1ffefff8,8\n L 1ffefff8,8\n M 04222000,4\n" * 20
PERF_SCRIPT = "".join(
    f"server 10/{thread} [00{thread}] 5.{thread}: 1 cpu/mem-{kind}/P: 7f000010 68100142 |OP {kind}| 400123 work+0x1 (/app)\n"
    for thread, kind in ((1, "stores"), (2, "loads"), (1, "stores"), (2, "loads"))
)
FINDINGS = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "checker"}},
            "results": [
                {
                    "ruleId": "suspect",
                    "message": {"text": "may be shared"},
                    "locations": [{"physicalLocation": {"artifactLocation": {"uri": "server.c"}, "region": {"startLine": 3}}}],
                }
            ],
        }
    ],
}
RANDOM = """name    = "random"
title   = "References drawn at random"
machine = "p3_xeon_4way"
[workload]
name = "random_references"
[run]
measure_us = 50
"""
Maker = Callable[["Shell", str], object]
# For ten seconds, 32 CPUs alternately compute for 90 us and hold the lock for 1 us, both on average.
QUEUE_LOCK = lock_class("queue_lock", 3500000, 1225000, 1750000.0, 3500000.0)
TIMELINE = "--set run.record_timeline=true"
SHORT = "--set run.warmup_us=10 --set run.measure_us=20 --set run.seeds=1"


def program(shell: Shell, name: str) -> None:
    """A program with its source and a Makefile, compiled to be recorded."""
    folder, stem = Path(name).parent, Path(name).name
    shell.file(f"{name}.c", SERVER_SOURCE)
    shell.file(str(folder / "Makefile"), MAKEFILE.replace("PROGRAM", stem))
    shell.must(f"cd {folder} && linebounce-cc -g -O2 -pthread {stem}.c -o {stem}")


def recording(shell: Shell, name: str) -> None:
    if not (shell.folder / "server").exists():
        program(shell, "server")
    shell.must(f"linebounce-record -o {name} -- ./server")


def advice(shell: Shell, name: str) -> None:
    recording(shell, "advised.lbt")
    shell.must(f"linebounce advise advised.lbt --time -o {name}")


def damaged(shell: Shell, name: str) -> None:
    shell.must(f"linebounce trace record timer_churn {SHORT} -o {name}")
    path = shell.folder / name
    path.write_bytes(path.read_bytes()[:-40])


def small_probe(shell: Shell, name: str) -> None:
    machine = shell.folder / "measured.toml"
    machine.write_text(few_cpus("epyc_7742_2socket", 2))
    shell.file(name, probe_text(SimulatedMachine(shell.executable, machine, shell.folder)))


def typed(command: str) -> Maker:
    """Made by a command, in which NAME stands for what is made."""
    return lambda shell, name: shell.must(command.replace("NAME", name))


def text(content: str, executable: bool = False) -> Maker:
    def make(shell: Shell, name: str) -> None:
        shell.file(name, content)
        if executable:
            (shell.folder / name).chmod(0o755)

    return make


def copy(source: str) -> Maker:
    def make(shell: Shell, name: str) -> None:
        (shell.folder / name).parent.mkdir(parents=True, exist_ok=True)
        whole = ROOT / source
        (shutil.copytree if whole.is_dir() else shutil.copy)(whole, shell.folder / name)

    return make


def folder(**files: str) -> Maker:
    def make(shell: Shell, name: str) -> None:
        for file, content in files.items():
            shell.file(f"{name}/{file.replace('__', '/')}", content)

    return make


def tree(shell: Shell, name: str) -> None:
    """A kernel's sources, of which osq and a lock of few lines are all."""
    shell.file(f"{name}/include/linux/osq_lock.h", HEADER)
    shell.file(f"{name}/kernel/locking/osq_lock.c", SOURCE)


def run_of(experiment: str, *more: str) -> Maker:
    short = SHORT.replace(" --set run.measure_us=20", "") if any("run.measure_us" in one for one in more) else SHORT
    return typed(f"linebounce run {experiment} {short} {' '.join(more)} -o NAME")


def latencies_of_measured_machine(shell: Shell, name: str) -> None:
    """On a machine with the CPUs of mine.probe, which a page's own linebounce-probe may have measured here."""
    if not (shell.folder / "mine.probe").exists():
        small_probe(shell, "mine.probe")
    shell.must("linebounce calibrate --from mine.probe -o calibrated.toml")
    run_of("core_to_core", "--machine calibrated.toml")(shell, name)


def scene(shell: Shell, name: str) -> None:
    stem = name.removesuffix(".toml")
    shell.file(name, SCENE.format(name=stem))
    shell.file(f"{stem}.lua", WORDS)


def probe_source(shell: Shell, _name: str) -> None:
    for source in (ROOT / "probe").glob("*.[ch]"):
        shutil.copy(source, shell.folder)


def class_of_locks(shell: Shell, name: str) -> None:
    for student, lock in (("ada", "mcs"), ("bob", "tas")):
        copy(f"programs/locks/{lock}.lua")(shell, f"{name}/{student}/lock.lua")
        shell.file(f"{name}/{student}/answers.toml", ANSWERS.replace('""', f'"{student}"'))


ANSWERS = 'assignment = "coherence-1"\nstudent = ""\n[answers]\nvalue = 1\n'

# By the word in a command. A page's own words stand in OF_PAGE.
KIT: dict[str, Maker] = {
    "my_locks.toml": typed("linebounce new experiment my_locks"),
    "my_lock.lua": typed("linebounce new lock my_lock"),
    "my_lock.c": text(LOCK_IN_C),
    "broken.lua": text(BROKEN_LOCK),
    "mlc.txt": text(LOADED + IDLE),
    "my_queue.c": text(LOCK_IN_C),
    "my_program.lua": copy("programs/producer_consumer.lua"),
    "my_protocol.md": copy("models/protocols/mesi_snoop.md"),
    "my_machine.toml": typed("linebounce new machine my_machine"),
    "mine.toml": typed("linebounce new machine mine"),
    "hidden.toml": typed("linebounce new machine hidden"),
    "broken_node.md": copy("models/protocols/mesi_node.md"),
    "my_change.toml": copy("configs/experiments/what_if/inode_read_mostly.toml"),
    "mine/": folder(**{"change.toml": (ROOT / "configs/experiments/what_if/slub.toml").read_text()}),
    "my.toml": scene,
    "my_scene.toml": scene,
    "random.toml": text(RANDOM),
    "programs/false_sharing.lua": copy("programs/false_sharing.lua"),
    "~/linux": lambda shell, _: tree(shell, "home/linux"),
    "my.patch": text(BREAKS),
    "server": program,
    "program": program,
    "table": program,
    "table.c": text(SERVER_SOURCE),
    "table.cpp": text(SERVER_SOURCE),
    "probe.c": probe_source,
    "probe/facts": copy("probe/facts"),
    "CC": lambda shell, _: program(shell, "program"),
    "old/server": program,
    "new/server": program,
    "table.lbt": recording,
    "server.lbt": recording,
    "server-2.lbt": recording,
    "program.lbt": recording,
    "main.lbt": recording,
    "pool.lbt": recording,
    "spin.lbt": recording,
    "torn.lbt": damaged,
    "broken.lbt": damaged,
    "dbench.lbt": typed("linebounce trace record dcache_dbench --point 0 -o NAME --for 1 " + SHORT),
    "timers.lbt": typed("linebounce trace record timer_churn -o NAME " + SHORT),
    "pool.txt": typed("linebounce trace synth -o NAME --threads 2 --accesses 20"),
    "checker.sarif": text(json.dumps(FINDINGS)),
    "course.txt": text("0 r 4000\n1 w 4000\n" * 20),
    "core_0.data": text("0 0x1000\n2 0x29\n1 0x1040\n"),
    "lookups.lbt": typed("linebounce trace synth dentry -o NAME --threads 4 --operations 100"),
    "references.lbt": typed("linebounce trace synth refcount -o NAME --threads 4"),
    "slab.lbt": typed("linebounce trace synth slab -o NAME --threads 4"),
    "core_1.data": text("1 0x1000\n2 0x29\n0 0x1040\n"),
    "SB.litmus": text(STORE_BUFFERING),
    "tests/": folder(**{"SB.litmus": STORE_BUFFERING}),
    "lock_stat.txt": text(lock_stat(QUEUE_LOCK)),
    "klockstat.txt": text(KLOCK_NEW),
    "report.txt": text(C2C),
    "lackey.txt": text(LACKEY),
    "lackey.log": text(LACKEY),
    "perf.txt": text(PERF_SCRIPT),
    "job.pahole": text(PAHOLE.replace("NAME", "job")),
    "vmlinux.pahole": text("".join(PAHOLE.replace("NAME", name) for name in ("tcp_sock", "net_device"))),
    "old.pahole": text(PAHOLE.replace("NAME", "page_counter") + PAHOLE.replace("NAME", "job")),
    "tcp_sock.rst": text(TABLE.replace("conn", "tcp_sock")),
    "net_device.rst": text(TABLE.replace("conn", "net_device")),
    "page_counter.rst": text(TABLE.replace("conn", "page_counter")),
    "matrix.csv": text(MATRIX),
    "mine.csv": text(MATRIX),
    "mine.probe": small_probe,
    "cpus.json": text(json.dumps(CPUS)),
    "processor.json": text(json.dumps(SUMMARY_OF_CPUS)),
    "caches.json": text(json.dumps(CACHES_OF_CPUS)),
    "ids.txt": text("ada\nbob\n"),
    "answers.toml": text(ANSWERS),
    "handed-in": class_of_locks,
    "my_lesson.md": typed("linebounce teach --new NAME"),
    "out/oltp": run_of("oltp", "--set run.record_timeline=true --set run.measure_us=300"),
    "out/two_sockets": run_of("two_sockets"),
    "out/core_to_core": latencies_of_measured_machine,
    "out/lock_scaling": run_of("lock_scaling", "--set workload.lock=[ticket,mcs] --set machine.cpus=[2,4]"),
    "out/dcache_dbench": run_of("dcache_dbench"),
    "out/before": run_of("dcache_dbench", "--set machine.cpus=2"),
    "out/after": run_of("dcache_dbench", "--set machine.cpus=2"),
    "out/advise/server": advice,
    "out/validate": typed("linebounce validate validation/listeners -o NAME"),
    "out/locks": run_of("lock_scaling", "--set workload.lock=[ticket,mcs] --set machine.cpus=[1,2,3,4]", TIMELINE),
    "out/my_locks": run_of("lock_scaling", "--set workload.lock=[ticket,mcs] --set machine.cpus=[2,4]"),
    "out/kernel/qspinlock/qspinlock.c": text(LOCK_IN_C),
}
for same, as_in in {
    "after.pahole": "old.pahole",
    "before.pahole": "old.pahole",
    "new.pahole": "old.pahole",
    "out/ticket": "out/my_locks",
    "out/mcs": "out/my_locks",
    "out/clh": "out/my_locks",
    "out/main": "out/my_locks",
    "out/mine": "out/my_locks",
}.items():
    KIT[same] = KIT[as_in]

# Tools that print what such a tool prints elsewhere.
STAND_INS = {
    "perf": f'case "$*" in *c2c*) cat <<"E"\n{C2C}\nE\n;; *contention*) cat >&2 <<"E"\n{CONTENTION}\nE\n;; esac',
    "lscpu": f"cat <<E\n{json.dumps(CPUS)}\n{json.dumps(SUMMARY_OF_CPUS)}\nE\n",
    "numactl": f"cat <<E\n{NUMACTL}\nE\n",
    "core-to-core-latency": f"cat <<E\n{MATRIX}\nE\n",
    "scp": "exit 0",
}


def give(shell: Shell, command: str, own: dict[str, Maker]) -> None:
    """Makes what a command takes, unless it is there. Results are made anew, because those of an earlier command may not have
    been complete when it was killed."""
    taken = re.sub(r"(?:-o|--output|--csv|--new|--vcd|2?>) *\S+", "", command)
    words = set(re.split(r"[\s=:;,'\"\[\]]+", taken))
    words |= {word.removeprefix("./") for word in words}
    words |= {str(parent) for word in words for parent in Path(word).parents} | {f"{word}/" for word in words}
    for name, maker in (KIT | own).items():
        if name in words or (name.endswith("/") and name in words):
            path = shell.folder / name
            if name.startswith("out/") and path.is_dir():
                shutil.rmtree(path)
            if not path.exists():
                maker(shell, name.rstrip("/"))


def give_stand_ins(shell: Shell) -> None:
    for name, script in STAND_INS.items():
        text(f"#!/bin/sh\n{script}\n", executable=True)(shell, f"stand-ins/{name}")
