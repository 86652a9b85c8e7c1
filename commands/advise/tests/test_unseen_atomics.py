"""Atomic operations that can't be recorded are named before the verdict, and keep `find-sharing` from saying that there is
nothing to change."""

import pytest
from recorded import C_COMPILERS, Recorder

COUNTERS = """
#include <pthread.h>
static long counters[4];
static void hit(long* counter) { COUNT; }
static void* work(void* mine) { for (int i = 0; i < 1000; i++) hit(mine); return 0; }
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, &counters[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
"""
IN_ASSEMBLER = '__asm__ volatile("lock incq %0" : "+m"(*counter))'
EXCHANGE = 'long one = 1; __asm__ volatile("xchg %0, %1" : "+r"(one), "+m"(*counter))'
BUILT_IN = "__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED)"
NO_VERDICT = "No verdict: no line of what was recorded is shared falsely, or it costs nothing."


def shown(recorder: Recorder) -> list[str]:
    result = recorder.linebounce("find-sharing", "trace.lbt", "--machine", "p3_xeon_8way")
    assert result.code == 0, result.stderr
    return [line.strip() for line in result.stdout.splitlines()]


def after_title(recorder: Recorder) -> list[str]:
    """The lines after the title and an empty line."""
    lines = shown(recorder)
    return lines[2 + next(number for number, line in enumerate(lines) if line.startswith("trace.lbt")) :]


def verdict(recorder: Recorder) -> str:
    """The line after the title, for answers without sizes, which need no sentence on what sizes rest on."""
    return after_title(recorder)[0]


def verdict_with_sizes(recorder: Recorder) -> str:
    """The line after the sentence on what sizes rest on."""
    basis, answer, *_ = after_title(recorder)
    assert basis.startswith("Sizes rest on how long the program computed where it was recorded.")
    return answer


@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("count", [IN_ASSEMBLER, EXCHANGE])
def test_inline_assembler_is_named_and_no_verdict_is_given(recorder: Recorder, compiler: str, count: str) -> None:
    trace = recorder.record(recorder.compile(COUNTERS.replace("COUNT", count), compiler=compiler))
    (unseen,) = [each for each in trace.missing if each.startswith("atomic instructions")]
    # gcc does not report entering `work`, which consists only of inline assembler.
    ran = "may have run" if compiler == "gcc" else "ran"
    assert unseen == f"atomic instructions that are not recorded, in functions that {ran}: work (1)"
    assert verdict(recorder) == NO_VERDICT
    assert shown(recorder)[0] == f"Atomic instructions of functions that {ran} were not recorded: work (1)."


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_the_runtimes_own_atomics_are_not_the_programs(recorder: Recorder, compiler: str) -> None:
    trace = recorder.record(recorder.compile(COUNTERS.replace("COUNT", BUILT_IN), compiler=compiler))
    assert not [each for each in trace.missing if each.startswith("atomic instructions")]
    assert "counters" in recorder.linebounce("find-sharing", "trace.lbt", "--machine", "p3_xeon_8way").stdout


def test_code_that_was_not_instrumented_may_have_run(recorder: Recorder) -> None:
    hidden = COUNTERS.replace("static void hit", '__attribute__((noinline, no_sanitize("thread"))) static void hit')
    trace = recorder.record(recorder.compile(hidden.replace("COUNT", BUILT_IN)))
    assert any(each.startswith("atomic instructions") and "hit (1)" in each for each in trace.missing)
    assert verdict(recorder) == NO_VERDICT


def test_recorded_things_are_not_mentioned_as_missing(recorder: Recorder) -> None:
    alone = COUNTERS.replace("long counters[4]", "struct { long n; char pad[120]; } counters[4]").replace(
        "&counters[i]", "&counters[i].n"
    )
    recorder.record(recorder.compile(alone.replace("COUNT", BUILT_IN)))
    assert verdict(recorder) == "No line of what was recorded is shared falsely, or it costs nothing."


# Recorded accesses share lines as well: rarely, so that nothing can be gained, or often.
BOTH = COUNTERS.replace("static void* work(void* mine) {", "static long far[4][64];\nstatic void* work(void* mine) { SEEN")
SELDOM = "for (long i = 0, *own = far[(long*)mine - counters]; i < 60000; i++) ++*(volatile long*)(i % 10000 ? own : mine);"
OFTEN = "for (int i = 0; i < 3000; i++) ++*(volatile long*)mine;"


def test_unrecorded_accesses_stand_before_every_assessment_of_shared_lines(recorder: Recorder) -> None:
    recorder.record(recorder.compile(BOTH.replace("COUNT", IN_ASSEMBLER).replace("SEEN", SELDOM)))
    assert verdict_with_sizes(recorder).startswith("No verdict; in what was recorded, ")
    recorder.record(recorder.compile(BOTH.replace("COUNT", IN_ASSEMBLER).replace("SEEN", OFTEN)))
    assert verdict_with_sizes(recorder).startswith("give each element of counters a cache line of its own")
    assert shown(recorder)[0].startswith("Atomic instructions of functions that ")
