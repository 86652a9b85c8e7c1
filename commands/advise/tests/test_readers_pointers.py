"""Seqlock and RCU are offered only where readers could do without the lock; otherwise the reason is given."""

import json

import pytest
from program import Program
from recorded import Recorder

MACHINE = "generic_2socket_32core"

# Three threads read under a lock, and one of them writes now and then.
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t go;
struct node { struct node* next; long key; };
DATA
static void* work(void* me) {
  long found = 0;
  pthread_barrier_wait(&go);
  for (int i = 0; i < 600; ++i) {
    if (i % 100 == (long)me) {
      pthread_rwlock_wrlock(&lock);
      WRITE;
      pthread_rwlock_unlock(&lock);
      AFTER;
    } else {
      pthread_rwlock_rdlock(&lock);
      LOOK;
      pthread_rwlock_unlock(&lock);
    }
  }
  return (void*)found;
}
int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&go, 0, 3);
  SETUP;
  for (long i = 0; i < 3; ++i) pthread_create(threads + i, 0, work, (void*)i);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return 0;
}
"""
LIST = {
    "DATA": "static struct node* first;",
    "SETUP": "for (int i = 0; i < 8; ++i) { struct node* n = malloc(sizeof *n); n->key = i; n->next = first; first = n; }",
    "LOOK": "for (struct node* n = first; n; n = n->next) found += n->key",
    "AFTER": "",
}
WRITE_AND_FREE = "struct node* old = first; first = old->next; free(old); struct node* n = malloc(sizeof *n);"
FREES = {**LIST, "WRITE": WRITE_AND_FREE + " n->key = i; n->next = first; first = n"}
# No memory is freed, but each writer changes the list's order.
RELINKS = {**LIST, "WRITE": "struct node *a = first, *b = a->next; a->next = b->next; b->next = a; first = b"}
# Readers follow a table's pointer. The table is never freed, but the pointer's target is.
BLOCK = {
    "DATA": "static long* table;",
    "SETUP": "table = calloc(64, 8)",
    "LOOK": "for (int k = 0; k < 64; ++k) found += table[k]",
    "WRITE": "long* before = table; table = malloc(512); memcpy(table, before, 512); table[i % 64] = i",
    "AFTER": "free(before)",
}
REPLACES = {
    **BLOCK,
    "WRITE": BLOCK["WRITE"].replace("long* before", "before"),
    "DATA": "static long* table; static __thread long* before;",
}
# The same table, allocated once and changed in place: nobody knows that another run won't move it.
IN_PLACE = {**BLOCK, "WRITE": "table[i % 64] = i", "AFTER": ""}
STATIC = {**IN_PLACE, "DATA": "static long table[64];", "SETUP": ""}
# An unchanging list whose values change.
VALUES = {**LIST, "WRITE": "first->next->key = i"}
UNSAFE = {
    "frees": (FREES, ("which is freed while they run", "a pointer that writers change")),
    "relinks": (RELINKS, ("a pointer that writers change",)),
    "replaces": (REPLACES, ("table, a pointer that writers change", "which is freed while they run")),
    "in place": (IN_PLACE, ("table, a pointer that a writer may change or whose target it may free, even if none did here",)),
    "values": (VALUES, ("a pointer that a writer may change",)),
}
SAFE = {"static": STATIC}


def record(linebounce: Program, parts: dict[str, str]) -> None:
    source = PROGRAM
    for name, text in parts.items():
        source = source.replace(name, text)
    recorder = Recorder(linebounce)
    recorder.record(recorder.compile(source, "-O1", "-g"))


@pytest.mark.parametrize("name", UNSAFE)
def test_no_lock_without_readers_waits_is_offered_where_readers_follow_what_writers_change(
    linebounce: Program, name: str
) -> None:
    parts, reasons = UNSAFE[name]
    record(linebounce, parts)
    result = linebounce("compare-locks", "trace.lbt", "--machine", MACHINE, "--lock", "lock", "--orders", "2", "--json")
    assert result.code == 0, result.stderr
    (lock,) = json.loads(result.stdout)["machines"][0]["locks"]
    assert not {"seqlock", "rcu"} & {trial["algorithm"] for trial in lock["trials"]}
    (sentence,) = [each for each in lock["not_offered"] if each.startswith("seqlock")]
    assert sentence.startswith("seqlock, because its readers ")
    assert any(reason in sentence for reason in reasons), sentence
    assert "its readers" in linebounce.refused("trace", "replay", "trace.lbt", "--machine", MACHINE, "--lock", "lock=seqlock")


@pytest.mark.parametrize("name", SAFE)
def test_a_seqlock_is_offered_where_readers_can_read_again(linebounce: Program, name: str) -> None:
    record(linebounce, SAFE[name])
    replayed = linebounce("trace", "replay", "trace.lbt", "--machine", MACHINE, "--lock", "lock=seqlock")
    assert replayed.code == 0, replayed.stderr


def test_rcu_may_be_offered_where_readers_follow_pointers_that_nobody_changes(linebounce: Program) -> None:
    record(linebounce, {**LIST, "WRITE": "found ^= 1"})
    replayed = linebounce("trace", "replay", "trace.lbt", "--machine", MACHINE, "--lock", "lock=rcu")
    assert replayed.code == 0, replayed.stderr
    assert "its readers" in linebounce.refused("trace", "replay", "trace.lbt", "--machine", MACHINE, "--lock", "lock=seqlock")


def test_the_page_of_advice_shows_the_reason(linebounce: Program) -> None:
    record(linebounce, FREES)
    result = linebounce("advise", "trace.lbt", "--machine", MACHINE, "--orders", "2", "--json")
    assert result.code == 0, result.stderr
    page = json.loads(result.stdout)
    assert not any("seqlock" in change["what"] or "rcu" in change["what"] for change in page["changes"])
    assert any(each.startswith("for lock seqlock, because its readers ") for each in page["not_offered"])


def test_answers_that_a_recording_lacks_are_not_offered(linebounce: Program) -> None:
    record(linebounce, STATIC)
    text = linebounce("trace", "convert", "trace.lbt", "t.txt")
    assert text.code == 0, text.stderr
    trace = (linebounce.directory / "t.txt").read_text()
    assert " readers_follow=nothing" in trace
    silent = linebounce.file("silent.txt", trace.replace(" readers_follow=nothing", ""))
    message = linebounce.refused("trace", "replay", silent, "--machine", MACHINE, "--lock", "lock=seqlock")
    assert "the recording does not say whether its readers follow pointers" in message
