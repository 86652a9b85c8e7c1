"""advise --plain: the program without instrumentation says whether a replay's sizes are to be believed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from program import MACHINES, Program
from recorded import Recorder

# Two threads compute in registers, and add to counters on one line.
SOURCE = """
#include <pthread.h>
#include <stdatomic.h>
static _Atomic long count[2];
static volatile unsigned long sink[32];
__attribute__((noinline)) static unsigned long work(unsigned long x) {
  for (int k = 0; k < 3000; ++k) x = x * 6364136223846793005 + k;
  return x;
}
static void* run(void* argument) {
  const long me = (long)argument;
  unsigned long x = me;
  for (int i = 0; i < 10000; ++i) {
    x = work(x);
    atomic_fetch_add_explicit(&count[me], 1, memory_order_relaxed);
  }
  sink[16 * me] = x;
  return 0;
}
int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, run, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
"""


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))


def machine_of_this_computer(linebounce: Program, mhz: float) -> str:
    text = (MACHINES / "generic_2socket_32core.toml").read_text()
    text = re.sub("^title *= .*$", f'title = "{processor()}, calibrated to it.probe"', text, count=1, flags=re.MULTILINE)
    assert "clock_mhz = 3000" in text
    return linebounce.file(f"at_{mhz:.0f}.toml", text.replace("clock_mhz = 3000", f"clock_mhz = {mhz:.0f}", 1)).name


@pytest.fixture
def both_builds(recorder: Recorder) -> None:
    """The trace of one and the program ./plain of the other."""
    recorder.record(recorder.compile(SOURCE, "-g"))
    recorder.compile_plainly(SOURCE)


def advice(linebounce: Program, mhz: float, *arguments: str) -> dict[str, Any]:
    machine = machine_of_this_computer(linebounce, mhz)
    result = linebounce("advise", "trace.lbt", "--json", "--machine", machine, *arguments, "-o", "out")
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.usefixtures("both_builds")
def test_sizes_are_shown_only_if_the_replay_takes_as_long_as_the_plain_program(linebounce: Program) -> None:
    plain = ("--plain", "./plain", "--yes")
    (first,) = advice(linebounce, 3000, "--time", *plain)["explained"]
    assert 0.2 < first["low"] <= first["high"] < 5
    as_fast = 3000 * (first["low"] + first["high"]) / 2

    page = advice(linebounce, as_fast, "--time", *plain)
    assert page["explained"][0]["tells_sizes"]
    assert all(share["pct"] > 0 for share in page["time"][0]["shares"] if share["class"] == "compute")

    page = advice(linebounce, 4 * as_fast, "--orders", "2", *plain)
    assert not page["explained"][0]["tells_sizes"]
    assert page["explained"][0]["high"] < 1 / 1.5
    assert all(share["pct"] is None for share in page["time"][0]["shares"])
    assert all(gain["change_pct"] is None for change in page["changes"] for gain in change["gains"])
    text = linebounce(
        "advise", "trace.lbt", "--machine", f"at_{4 * as_fast:.0f}.toml", "--orders", "2", *plain, "-o", "out"
    ).stdout
    assert "only their order is shown" in " ".join(text.split())
    shown = text.partition("Where the threads' time goes")[2].partition("not seen")[0]
    assert not re.search(r"[0-9] %", shown.partition("Each gain")[0]), text


def test_a_function_is_named_if_its_time_does_not_fit_the_plain_builds_instructions(
    recorder: Recorder, linebounce: Program
) -> None:
    """The time of work(), which does not access memory, is its caller's."""
    recorder.record(recorder.compile(SOURCE, "-g"))
    recorder.compile_plainly(SOURCE)
    plain = ("--time", "--plain", "./plain", "--yes")
    assert advice(linebounce, 3000, *plain)["odd_functions"] == []
    recorder.compile_plainly(SOURCE.replace("k < 3000", "k < 60000").replace("i < 10000", "i < 500"))
    assert advice(linebounce, 3000, *plain)["odd_functions"] == []
    recorder.compile_plainly(SOURCE.replace("k < 3000", "k < 60000"))
    (odd,) = advice(linebounce, 3000, *plain)["odd_functions"]
    assert odd["function"] == "run"
    assert odd["cycles"] < 0.3


@pytest.mark.usefixtures("both_builds")
def test_without_a_machine_of_this_computer_nothing_is_run(linebounce: Program) -> None:
    result = linebounce("advise", "trace.lbt", "--plain", "./plain", "--yes", "-o", "out")
    assert result.code == 2
    assert "no machine describes this computer" in result.stderr
    machine = machine_of_this_computer(linebounce, 3000)
    result = linebounce("advise", "trace.lbt", "--plain", "./plain", "--machine", machine, "-o", "out")
    assert result.code == 2
    assert "--yes allows it where nobody can be asked" in result.stderr
    assert not (linebounce.directory / "out" / "plain").exists()
