"""Every command that a help text gives as an example does what it says when it is typed."""

import os
import re
from pathlib import Path

import pytest
from docs_program import Program as Documented
from printed_commands import MEASURED, SHORT, Maker, Shell, examples, fault, give, give_stand_ins, text

# The help texts with examples.
PAGES = """\
linebounce
linebounce ab
linebounce advise
linebounce bench
linebounce calibrate
linebounce check
linebounce check-lock
linebounce compare
linebounce compare-locks
linebounce describe
linebounce explain
linebounce find-sharing
linebounce gate
linebounce import
linebounce layout
linebounce layout diff
linebounce layout optimise
linebounce lines
linebounce list
linebounce lock
linebounce lock-report
linebounce new
linebounce report
linebounce reproduce
linebounce run
linebounce steps
linebounce sweep
linebounce tables
linebounce teach
linebounce trace
linebounce trace convert
linebounce trace export
linebounce trace info
linebounce trace record
linebounce trace replay
linebounce trace synth
linebounce trace synth dentry
linebounce trace synth refcount
linebounce trace synth slab
linebounce trace synth timer
linebounce validate
linebounce what-if
linebounce-record
linebounce-probe
linebounce-cc
linebounce-c++
""".splitlines()

# Words that mean something else on one page.
OF_PAGE: dict[str, dict[str, Maker]] = {
    "linebounce validate": {"mine.csv": text(MEASURED)},
}

KERNEL = "needs a kernel's sources; test_kernel_lock.py and test_kernel_lock_table.py type it where they are installed"
PAGE = "needs the lesson page, which takes minutes to build; tests/teach builds and serves it"

# Commands that no test can type, with the reason.
NOT_TYPED = {
    "linebounce lock qspinlock --kernel /usr/src/linux-source-6.1.tar.xz": KERNEL,
    "linebounce lock-report kernel:osq --kernel /usr/src/linux-source-6.1.tar.xz --patch my.patch": KERNEL,
    "linebounce lock-report ticket kernel:qspinlock --kernel ~/linux --cpus 2,4,8": KERNEL,
    "linebounce teach -o site": PAGE,
    "linebounce teach --serve": PAGE,
    "linebounce import ext4.ko --base /sys/kernel/btf/vmlinux --structure ext4_inode_info -o inode.toml": "needs a kernel's "
    "BTF; test_import_types.py has a small one",
    "linebounce advise server.lbt --machine mine.toml --plain ./server_plain": "needs a machine calibrated on this computer; "
    "test_plain_build.py makes one",
    "linebounce-probe --cpus 0-15 --quick -o one_socket.probe": "needs 16 CPUs",
    "linebounce sweep my_locks.toml --scheduler tcp://host:8786": "needs a Dask scheduler on another host",
    "linebounce sweep my_locks.toml --slurm queue=normal,cores=16,memory=32GB,walltime=02:00:00 --workers 8": "needs Slurm",
    "linebounce sweep my_locks.toml --kubernetes name=sweep,image=my/linebounce --workers 8": "needs Kubernetes",
}


# Commands that ask on a terminal, which a test does not have, and one for a program that runs longer than the stand-in.
TYPED_AS = {
    "linebounce-record --after 10 --for 0.5 -- ./server": "linebounce-record --after 0 --for 0.5 -- ./server",
    'linebounce advise server.lbt --recheck "make server"': 'linebounce advise server.lbt --recheck "make server" --yes',
}


def page_of(words: str) -> str:
    name, *rest = words.split()
    return Documented().says(*rest, "--help", name=name)


@pytest.mark.parametrize("words", PAGES)
def test_every_example_of_a_help_text_works_when_typed(executable: Path, tmp_path: Path, words: str) -> None:
    page = page_of(words)
    commands = [command for command in examples(page) if command not in NOT_TYPED]
    assert commands
    shell = Shell(executable, tmp_path)
    give_stand_ins(shell)
    faults = []
    for command in commands:
        give(shell, command, OF_PAGE.get(words, {}))
        if wrong := fault(shell.type(TYPED_AS.get(command, command)), page):
            faults.append((command, wrong))
    assert not faults, "\n".join(f"{command}\n    {wrong}" for command, wrong in faults)


# ---- The next command to type, as results and messages print it ----

THREADS = """#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;
static void *work(void *none) {
  for (int i = 0; i < 5; i++) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
  }
  return none;
}
int main(int argc, char **argv) {
  static pthread_t threads[200];
  for (int i = 0; i < atoi(argv[argc - 1]); i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < atoi(argv[argc - 1]); i++) pthread_join(threads[i], 0);
}
"""
RECORD = "linebounce-cc -O2 -pthread hot.c -o hot && linebounce-record -o 'my hot.lbt' -- ./hot"

TWO_CPUS = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))

# What prints a command, by what it is about: a command, and how many it prints at least.
PROVOKED = {
    "a recording": (f"{RECORD} 3", 1),
    "a recording of 49 threads": (f"{RECORD} 48", 1),
    "a recording of 101 threads": (f"{RECORD} 100", 1),
    "a recording of more threads than a machine has CPUs": (f"{RECORD} 130", 1),
    "a new experiment": ("linebounce new experiment mine", 2),
    "a new machine": ("linebounce new machine mine", 2),
    "a new lock": ("linebounce new lock mine", 2),
    "a new program": ("linebounce new program mine", 2),
    "a new protocol": ("linebounce new protocol mine", 2),
    "a report of perf c2c": ("linebounce import report.txt", 2),
    "a litmus test": ("linebounce import SB.litmus", 1),
    "a folder of litmus tests": ("linebounce import tests/", 1),
    "a structure": ("linebounce import job.pahole", 1),
    "firmware's tables": ("numactl -H > numa.txt; linebounce import numa.txt --family amd_zen", 1),
    "cores without latencies": ("lscpu > lscpu.txt; linebounce import lscpu.txt", 1),
    "a matrix": ("linebounce import matrix.csv --family amd_zen", 1),
    "a trace of one core": ("linebounce import core_0.data", 2),
    "a probe": (f"linebounce-probe --quick --cpus {TWO_CPUS} -o 'my own.probe'", 1),
    "a kernel's lock": ("linebounce lock osq --kernel ~/linux", 1),
    "a protocol without proof": (f"linebounce run two_sockets {SHORT} --set machine.bus.protocol=my_protocol.md -o out/own", 1),
    "a broken lock": ("linebounce run broken.lua --machine p3_xeon_8way", 1),
    "a broken lock that runs": ("linebounce run broken.lua --machine p3_xeon_8way --unchecked", 1),
    "loaded latencies": ("linebounce import cpus.json mlc.txt --family amd_zen -o loaded.toml", 2),
}

LABELLED = re.compile(
    r"(?:Next|See it|See all|Simulate|Score it|With sequential consistency|To see how|More|to check it):\s+(linebounce .*)"
)
LISTED = re.compile(r"^  (linebounce .*?)(?=  |$)", re.MULTILINE)
QUOTED = re.compile(r"`([^`]*\blinebounce [^`]*)`", re.DOTALL)


def next_commands(text: str) -> list[str]:
    """The commands that a text prints for its reader. Words in capitals stand for what the reader has."""
    found = [match[1] for pattern in (LABELLED, LISTED, QUOTED) for match in pattern.finditer(text)]
    return [command for command in found if not re.search(r"\b[A-Z]{3,}\b", command)]


@pytest.mark.parametrize("about", PROVOKED)
def test_a_command_that_a_message_prints_works_when_typed(executable: Path, tmp_path: Path, about: str) -> None:
    command, least = PROVOKED[about]
    shell = Shell(executable, tmp_path)
    give_stand_ins(shell)
    shell.file("hot.c", THREADS)
    give(shell, command, {})
    said = shell.type(command, 60)
    printed = next_commands(said.output + said.errors)
    assert len(printed) >= least, said
    for further in printed:
        assert not (wrong := fault(shell.type(further), "Exit code 1")), f"{further}\n{wrong}\n{said.output}{said.errors}"


def test_the_pages_with_examples_are_all_there_and_what_is_not_typed_is_still_printed(executable: Path) -> None:
    assert executable
    shown = Documented().help | {name: page_of(name) for name in ("linebounce-cc", "linebounce-c++")}
    printed = {words: examples(page) for words, page in shown.items()}
    assert sorted(words for words, commands in printed.items() if commands) == sorted(PAGES)
    everything = {command for commands in printed.values() for command in commands}
    assert not (NOT_TYPED.keys() | TYPED_AS.keys()) - everything
