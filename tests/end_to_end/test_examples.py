"""The worked examples: a recording made by the test shows what examples/README.md says about each."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from program import ROOT, Program

EXAMPLES = ROOT / "examples"
MACHINE = "generic_2socket_32core"  # a machine with lines of 64 bytes
CANNOT_FETCH = 75  # the exit code of build.sh
# By program: the flag for the version that is better.
PROGRAMS = {
    "counters.c": "-DPADDED",
    "hash_table.c": "-DSTRIPES=64",
    "memory_pool.c": "-DCACHED",
    "log_queue.cpp": "-DBATCH=32",
}


@pytest.mark.parametrize("source", PROGRAMS)
@pytest.mark.parametrize("changed", [False, True])
def test_each_example_is_a_program_without_data_races(source: str, changed: bool, tmp_path: Path) -> None:
    language = ["gcc", "-std=c11"] if source.endswith(".c") else ["g++", "-std=c++20"]
    flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-g", "-pthread", "-fsanitize=thread"]
    flags += [PROGRAMS[source]] if changed else []
    program = tmp_path / "program"
    subprocess.run([*language, *flags, EXAMPLES / source, "-o", program], check=True)
    # Exits with 66 if the sanitizer finds a race.
    subprocess.run([program], check=True, capture_output=True)


NATIVE = sorted(path for path in (EXAMPLES / "native").glob("*.c") if path.stem != "line")


@pytest.mark.parametrize("source", NATIVE, ids=lambda path: path.stem)
@pytest.mark.parametrize("variant", ["", "-DCURED"])
def test_the_natively_measured_programs_have_no_data_races(source: Path, variant: str, tmp_path: Path) -> None:
    assert re.search(r"^// cure: \S", source.read_text(), re.MULTILINE)
    flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-g", "-pthread", "-fsanitize=thread", *variant.split()]
    program = tmp_path / "program"
    subprocess.run(["gcc", "-std=gnu11", *flags, source, "-o", program], check=True)
    done = subprocess.run([program, "50"], check=True, capture_output=True, text=True)
    assert float(done.stdout) > 0


# Ordinary code: an array with one element for each thread, whose fields the thread writes in turn.
SHARED = """
#include <pthread.h>
struct tally { long hits, misses; };
LAYOUT struct tally tallies[4];
static void* work(void* mine) {
  volatile struct tally* tally = mine;
  for (int i = 0; i < 4000; i++) {
    if (i % 3) tally->hits++;
    else tally->misses++;
  }
  return 0;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, &tallies[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
"""
PADDED = SHARED.replace("hits, misses; }", "hits, misses; } __attribute__((aligned(64)))")
LAYOUT = "__attribute__((aligned(64)))"


def recorded(linebounce: Program, name: str, text: str) -> Path:
    """Compiles and runs a program as a user would, and returns its trace."""
    source = linebounce.file(f"{name}.c", text.replace("LAYOUT", LAYOUT))
    tools = linebounce.executable.parent
    program, trace = source.with_suffix(""), source.with_suffix(".lbt")
    subprocess.run([tools / "linebounce-cc", "-O2", "-pthread", source, "-o", program], check=True)
    subprocess.run([tools / "linebounce-record", "-o", trace, "--", program], check=True, capture_output=True)
    return trace


def found(linebounce: Program, trace: Path) -> dict:
    result = linebounce("find-sharing", trace, "--machine", MACHINE, "-o", f"out/{trace.stem}", "--json")
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_proposed_layout_removes_the_misses_as_the_change_in_the_source_does(linebounce: Program) -> None:
    shared = found(linebounce, recorded(linebounce, "shared", SHARED))
    (line,) = shared["lines"]
    assert line["line"].startswith("tallies")
    (proposal,) = shared["proposals"]
    assert proposal["structure"] == "tally"

    assert proposal["transfers_before"] > 200
    # Only each thread's first accesses to its own tally are left, and the threads' start and end.
    assert proposal["transfers_after"] <= 0.05 * proposal["transfers_before"]

    padded = found(linebounce, recorded(linebounce, "padded", PADDED))
    assert padded["falsely_shared_lines"] == 0
    replayed = json.loads((linebounce.directory / padded["directory"] / "recorded" / "results.json").read_text())
    counts = {name: metric["value"] for name, metric in replayed["points"][0]["metrics"].items()}
    transfers = sum(counts.get(f"latency.{source}.count", 0) for source in ("local_c2c", "remote_c2c", "upgrade"))
    assert transfers == pytest.approx(proposal["transfers_after"], rel=0.1, abs=5)


@pytest.mark.parametrize("example", ["counters", "hash_table", "memory_pool", "log_queue"])
def test_the_readmes_findings_on_an_example_are_found_again(linebounce: Program, example: str) -> None:
    command = [EXAMPLES / "reproduce.py", "-b", linebounce.executable.parent, "-o", linebounce.directory, example]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_memcached_is_recorded_whole_where_it_can_be_fetched(linebounce: Program) -> None:
    tools = linebounce.executable.parent
    folder = ROOT / "build" / "examples" / "memcached"
    build = [EXAMPLES / "memcached" / "build.sh", tools / "linebounce-cc", folder]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    if built.returncode == CANNOT_FETCH:
        pytest.skip(built.stderr.strip())
    assert built.returncode == 0, built.stderr
    trace = linebounce.directory / "memcached.lbt"
    load = [EXAMPLES / "memcached" / "load.py", "-n", "100", tools / "linebounce-record", "-o", trace, "--"]
    subprocess.run([*load, folder / "memcached"], check=True, capture_output=True)
    info = linebounce("trace", "info", trace)
    assert info.code == 0, info.stderr
    for name in ("worker_libevent[3]", "slabs_lock", "lru_locks", "cas_id_lock"):
        assert name in info.stdout


# One program whose cure is found, and one whose atomic operations can't be recorded, so that there is no verdict.
@pytest.mark.parametrize("name", ["C++20 primitives", "ck"])
def test_the_table_of_programs_findings_are_found_again(linebounce: Program, name: str) -> None:
    command = [EXAMPLES / "programs" / "table.py", "-b", linebounce.executable.parent, "-o", linebounce.directory, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    if "is left out" in done.stdout:
        pytest.skip(done.stderr.strip())
    assert "slow-down" in done.stdout
