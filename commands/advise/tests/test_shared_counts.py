"""Counters that many threads change: what each is used for, and which other counters are offered."""

import json
import re
import subprocess

import pytest
from program import MACHINES, Program
from recorded import Recorder

MACHINE = "generic_2socket_32core"

# Each of four threads runs each line of BODY 200 times. Each line is a phase: all threads begin it together.
PROGRAM = r"""
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
#include <pthread.h>
struct Table { long rows[16]; };
struct Session { long user; std::atomic<int> holders{1}; };
alignas(64) static std::atomic<long> requests, sent;
alignas(64) static std::atomic<long> next_ticket;
alignas(64) static std::atomic<unsigned> states;
alignas(64) static std::atomic<long> in_flight;
alignas(64) static std::atomic<long> tries;
alignas(64) static std::atomic<long> tokens{2};
alignas(64) static Session session;
alignas(64) static std::shared_ptr<Table> table = std::make_shared<Table>();
alignas(64) static volatile long own[4][8];
static pthread_barrier_t go;
static void phase(long me, int which) {
  for (int i = 0; i < 200; ++i) {
    switch (which) {
      BODY
    }
  }
}
int main() {
  std::vector<std::thread> threads;
  pthread_barrier_init(&go, nullptr, 4);
  for (long me = 0; me < 4; ++me) threads.emplace_back([me] {
    for (int which = 0; which < PHASES; ++which) {
      pthread_barrier_wait(&go);
      phase(me, which);
    }
  });
  for (auto& it : threads) it.join();
}
"""
EVENTS = "requests.fetch_add(1, std::memory_order_relaxed); sent += own[me][0] + 5;"
LOOP = "{ long old = tries.load(); while (!tries.compare_exchange_weak(old, old + 1)) {} }"
NUMBERS = "own[me][1] = next_ticket++;"
LEVEL = "in_flight.fetch_add(3); own[me][2]++; in_flight.fetch_sub(3);"
SEMAPHORE = (
    "{ long old = tokens.load(); while (old == 0 || !tokens.compare_exchange_weak(old, old - 1)) old = tokens.load(); "
    "tokens++; }"
)
BITS = "states.fetch_or(1U << me);"
REFERENCES = "session.holders.fetch_add(1); own[me][3] = session.user; if (session.holders.fetch_sub(1) == 1) __builtin_trap();"
SHARED_PTR = "{ std::shared_ptr<Table> mine = table; own[me][4] = mine->rows[i % 16]; }"


def advised(linebounce: Program, *bodies: str, machine: str = MACHINE) -> dict:
    body = " ".join(f"case {number}: {text} break;" for number, text in enumerate(bodies))
    recorder = Recorder(linebounce)
    source = PROGRAM.replace("BODY", body).replace("PHASES", str(len(bodies)))
    recorder.record(recorder.compile(source, "-O1", "-g", name="program.cpp"), options=("--untimed",))
    # Bypasses linebounce(), because names of a C++ program's types look like our internals.
    command = [linebounce.executable, "advise", "trace.lbt", "--machine", machine, "--orders", "2", "--json", "-o", "out"]
    done = subprocess.run(command, cwd=linebounce.directory, capture_output=True, text=True, timeout=120, check=True)
    page: dict = json.loads(done.stdout)
    return page


def roles(page: dict) -> dict[str, str]:
    return {share["name"].split(".")[-1]: share["role"] for share in page["time"][0]["shares"] if share["role"]}


def offered(page: dict, name: str) -> dict[str, str]:
    """The replacements offered or tried in vain for this count alone, with their conditions."""
    found = {it["what"]: it["only_if"] for it in page["conditional"] if ";" not in it["what"]}
    tried = {sentence.split(": ")[0]: "" for sentence in page["no_help"] + page["also_gains"]}
    return {what: only_if for what, only_if in (tried | found).items() if name in what}


def test_event_counters_are_distinguished_from_bits_and_from_counters_that_hand_out_numbers(linebounce: Program) -> None:
    page = advised(linebounce, EVENTS, NUMBERS, BITS)
    assert roles(page) == {"requests": "an event counter", "next_ticket": "a counter that hands out numbers"} | {
        name: "an event counter" for name in roles(page) if name == "sent"
    }
    events = offered(page, "requests")
    assert any(what.startswith("count requests per thread") for what in events)
    assert all("the value that an add returns" not in only_if for only_if in events.values()), "nobody uses it: that was seen"
    assert [*offered(page, "next_ticket")] == ["take numbers from next_ticket 64 at a time"]
    assert offered(page, "states") == {}, "bits are not a sum"


def test_a_count_is_also_tried_on_a_machine_from_a_file(linebounce: Program) -> None:
    text = (MACHINES / f"{MACHINE}.toml").read_text().replace(MACHINE, "mine", 1)
    linebounce.file("mine.toml", text)
    page = advised(linebounce, NUMBERS, machine=str(linebounce.directory / "mine.toml"))
    assert page["machines"] == ["mine"]
    assert [*offered(page, "next_ticket")] == ["take numbers from next_ticket 64 at a time"]
    assert (linebounce.directory / "out" / "counts" / "mine").is_dir()
    command = [linebounce.executable, "advise", "trace.lbt", "--machine", "mine.toml", "--time", "--json", "-o", "time"]
    time = json.loads(subprocess.run(command, cwd=linebounce.directory, capture_output=True, text=True, check=True).stdout)
    assert [time["machines"], [it["machine"] for it in time["time"]]] == [["mine"], ["mine"]]


def test_advice_for_reference_counts_keeps_the_object_and_for_a_shared_ptr_is_a_plain_reference(linebounce: Program) -> None:
    page = advised(linebounce, REFERENCES, SHARED_PTR)
    assert roles(page) == {"holders": "a reference count", "_M_use_count": "a shared_ptr's reference count"}
    references = [what.split(" (")[0] for what in offered(page, "holders")]
    assert {it.split("holders")[1] for it in references} == {
        " out of the readers' path",
        " per CPU or thread, as the kernel's percpu_ref does",
        " counts only every 64 uses of a thread",
    }
    assert {*offered(page, "shared_ptr<Table>")} == {
        "use the object of shared_ptr<Table> by reference, without a copy",
        "give each thread a shared_ptr<Table> with a count of its own",
        "copy shared_ptr<Table> only every 64 uses of a thread",
    }
    seen = next(it["seen"] for it in page["conditional"] if "holders" in it["what"] and ";" not in it["what"])
    assert "800 additions and 800 subtractions, after which the program looks whether it was the last" in seen


def test_what_is_in_use_is_summed_over_threads_and_a_loop_of_exchanges_is_an_event_counter(linebounce: Program) -> None:
    page = advised(linebounce, LEVEL, LOOP, SEMAPHORE)
    assert roles(page) == {"in_flight": "a count of what is in use", "tries": "an event counter"}
    assert any(what.startswith("count in_flight per thread") for what in offered(page, "in_flight"))
    assert offered(page, "tokens") == {}, "who takes a token has looked whether there is one"
    assert all("value that an add returns" in only_if for only_if in offered(page, "tries").values() if only_if)


def test_find_sharing_names_objects_that_no_layout_helps(linebounce: Program) -> None:
    recorder = Recorder(linebounce)
    recorder.record(
        recorder.compile(
            PROGRAM.replace("BODY", f"case 0: {EVENTS} break;").replace("PHASES", "1"), "-O1", "-g", name="program.cpp"
        ),
        options=("--untimed",),
    )
    text = linebounce("find-sharing", "trace.lbt", "--machine", MACHINE, "--orders", "2").stdout
    assert "No layout helps against what threads share truly" in text
    assert "true sharing of requests (an event counter), which 4 threads write" in " ".join(text.split())


# Counts of one structure, each changed by every thread.
FIELDS = """
#include <pthread.h>
#include <stdatomic.h>
static struct served { MEMBERS } served;
static void* work(void* unused) {
  for (int i = 0; i < 400; i++) { CHANGES }
  return unused;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
"""


def advised_for_fields(linebounce: Program, *fields: str) -> dict:
    members = " ".join(f"_Atomic long {field};" for field in fields)
    changes = " ".join(f"atomic_fetch_add(&served.{field}, 1);" for field in reversed(fields))
    recorder = Recorder(linebounce)
    recorder.record(
        recorder.compile(FIELDS.replace("MEMBERS", members).replace("CHANGES", changes), "-g"), options=("--untimed",)
    )
    result = linebounce("advise", "trace.lbt", "--machine", MACHINE, "--orders", "2", "--json", "-o", "out")
    assert result.code == 0, result.stdout + result.stderr
    page: dict = json.loads(result.stdout)
    return page


@pytest.mark.parametrize("fields", [("pages",), ("pages", "bytes"), ("pages", "bytes", "refused"), tuple("abcdefghi")])
def test_counts_of_one_line_are_cured_together_and_that_comes_first(linebounce: Program, fields: tuple[str, ...]) -> None:
    """Once a thread has the line, it counts in the others for nothing. A cure of one count alone moves the misses to them."""
    page = advised_for_fields(linebounce, *fields)
    first = page["conditional"][0]
    assert {f"served.{field}" for field in fields} == set(re.findall(r"served\.\w+", first["what"]))
    gains = [max(gain["change_pct"] for gain in change["gains"]) for change in page["conditional"]]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 100, "nothing is contended any more"
    if len(fields) > 1:
        assert all(f"served_{field}" in first["edit"] for field in fields), "a structure for each thread"


def test_the_trials_of_counts_are_ranked_by_operations(linebounce: Program) -> None:
    """The counts as recorded are the alternative without a name. The replays' own answer names the one with most operations,
    although the misses that are left are the expensive ones."""
    advised_for_fields(linebounce, "pages", "bytes", "refused")
    (file,) = linebounce.directory.glob("out/counts/*/counts/results.json")
    results = json.loads(file.read_text())
    assert results["answer"]["metric"] == "throughput.operations_per_s"
    point = results["points"][results["answer"]["point"]]
    rivals = [it for it in results["points"] if it["at"]["workload.order"] == point["at"]["workload.order"]]
    rates = [it["metrics"]["throughput.operations_per_s"]["value"] for it in rivals]
    assert point["metrics"]["throughput.operations_per_s"]["value"] == max(rates)
    assert point["at"]["workload.count"] != ""
