"""For a lock that is just a word of the program, verdicts say how the word was classified, and how to learn more."""

import json
import os
import subprocess

import pytest
from program import Program
from recorded import Recorder

MACHINE = "generic_2socket_32core"

# Sections of a word in the form that recorders write: how a thread takes it, and why it is classified so.
WORDS = {
    "compare_exchange gate 4": "gate runs as ttas, because nobody waited",
    "exchange gate 4, exchange gate 4": "gate runs as tas, because threads that waited never looked before they tried",
    "load gate 4, load gate 4, exchange gate 4": "gate runs as ttas, because threads looked at it before they tried",
}


@pytest.mark.parametrize("take", WORDS)
def test_every_verdict_about_a_word_says_how_it_was_classified(linebounce: Program, take: str) -> None:
    lines = ["linebounce trace 1", "object gate size=4 alignment=64", "object x size=8", *(f"stream {t}" for t in "abcd")]
    for _ in range(25):
        for t in "abcd":
            section = [*take.split(", "), "load x 8", "store x 8", "store gate 4 release"]
            lines += [f"{t} {each}" for each in section]
    file = linebounce.file("words.txt", "\n".join([*lines, "end"]) + "\n")
    arguments = (file, "--machine", MACHINE)
    compared = linebounce("compare-locks", *arguments, "--word-locks", "--json")
    assert compared.code == 0, compared.stderr
    document = json.loads(compared.stdout)
    (machine,) = document["machines"]
    assert WORDS[take] in machine["advice"]
    (lock,) = machine["locks"]
    assert f"gate {lock['replayed_as']}" == WORDS[take]
    assert WORDS[take].split(" ", 1)[1] in " ".join(linebounce("compare-locks", *arguments, "--word-locks").stdout.split())
    advised = linebounce("advise", *arguments, "--json")
    assert advised.code == 0, advised.stderr
    assert json.loads(advised.stdout)["words"] == [WORDS[take]]
    assert f"Words that behave like locks: {WORDS[take]}." in " ".join(linebounce("advise", *arguments).stdout.split())


# Prints how many microseconds after the first thread the last of three threads began.
LATE = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double began[3];
static void* work(void* me) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  began[(long)me] = now.tv_sec * 1e6 + now.tv_nsec / 1e3;
  return me;
}
int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; ++i) {
    pthread_create(threads + i, 0, work, (void*)i);
    if (i < 2) usleep(12000);
  }
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  double first = began[0], last = began[0];
  for (int i = 1; i < 3; ++i) {
    if (began[i] < first) first = began[i];
    if (began[i] > last) last = began[i];
  }
  printf("%.0f\n", last - first);
}
"""


def test_threads_that_are_created_in_a_row_begin_together_if_the_recorder_spreads_them(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    program = recorder.compile(LATE)

    def between(*options: str) -> int:
        command = [recorder.tool("linebounce-record"), *options, "-o", "trace.lbt", "--", program]
        done = subprocess.run(
            command, cwd=linebounce.directory, env=os.environ, capture_output=True, text=True, timeout=60, check=True
        )
        return int(done.stdout)

    assert any(between() >= 2 * 12000 for _ in range(12)), "the first thread may begin late"
    assert min(between("--spread") for _ in range(3)) < 12000
    assert json.loads(linebounce("trace", "info", "trace.lbt", "--json").stdout)["recorder"] == "linebounce-record --spread"


def test_the_recorder_offers_to_spread_threads_that_ran_one_after_another(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    short = LATE.replace("if (i < 2) usleep(12000);", "")
    program = recorder.compile(short)
    command = [recorder.tool("linebounce-record"), "-o", "trace.lbt", "--", program]
    offers = []
    for _ in range(3):
        done = subprocess.run(
            command, cwd=linebounce.directory, env=os.environ, capture_output=True, text=True, timeout=60, check=True
        )
        missing = " ".join(json.loads(linebounce("trace", "info", "trace.lbt", "--json").stdout)["missing"])
        offered = "--spread lets threads begin together" in done.stderr
        assert offered == ("never ran concurrently" in missing)
        offers.append(offered)
    assert any(offers), "threads that only look at the clock end before the next one begins"
