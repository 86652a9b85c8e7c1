"""`linebounce find-sharing`: finds bytes that threads use in one line without sharing them, and tries cures by replaying."""

import csv
import json
import re
from pathlib import Path

import pytest
from program import Program

MACHINE = "p3_xeon_4way"  # a machine with lines of 32 bytes
THREADS = 4
ROUNDS = 400


def trace(linebounce: Program, symbols: str, operations: list[str]) -> Path:
    streams = "".join(f"stream worker[{i}]\n" for i in range(THREADS))
    text = "linebounce trace 1\n" + symbols + streams + "\n".join(operations) + "\nend\n"
    return linebounce.file("program.txt", text)


def counting(place: str) -> list[str]:
    """Each thread adds to its own counter, taking turns."""
    lines = []
    for _ in range(ROUNDS):
        for i in range(THREADS):
            here = place.format(i=i, offset=8 * i)
            lines += [f"worker[{i}] load {here} 8", f"worker[{i}] store {here} 8", f"worker[{i}] compute 20"]
    return lines


def found(linebounce: Program, file: Path, *arguments: str) -> dict:
    result = linebounce("find-sharing", file, "--machine", MACHINE, "--json", *arguments)
    assert result.code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["schema"] == "linebounce.find_sharing/1"
    return document


@pytest.mark.parametrize(
    ("symbols", "place"),
    [
        ("object counts size=32\n", "counts+{offset}"),
        ("object counts size=32 address=4294967296\n", "counts+{offset}"),
        ("object counts size=32 address=4294967296 page_bytes=4096\n", "counts+{offset}"),
        ("structure counters size=40 fields=name:0:8,counts:8:32\nobject all structure=counters size=40\n", "all+{offset}"),
        (
            "structure counters size=12288 fields=counts:8192:32\n"
            f"object all structure=counters size=12288 address={0x7F0012345800} page_bytes=4096\n",
            "all+{offset}",
        ),
    ],
    ids=["bytes", "with an address", "in a frame", "a field", "in the third frame"],
)
def test_counters_side_by_side_are_spread_and_their_misses_go(linebounce: Program, symbols: str, place: str) -> None:
    if "counters" in symbols:
        place = "all.counts+{offset}"
    document = found(linebounce, trace(linebounce, symbols, counting(place)))
    assert document["falsely_shared_lines"] >= 1
    assert document["lines"][0]["misses"] > ROUNDS / 2, "each transfer serves some stores"
    (proposal,) = document["proposals"]
    assert "element_bytes = 8" in proposal["change"]
    assert "4 elements of 8 bytes" in proposal["what"]
    assert proposal["throughput_change_pct"] > 20
    assert proposal["transfers_after"] < 0.05 * proposal["transfers_before"]


def test_an_object_may_have_any_name(linebounce: Program) -> None:
    symbols = "object it's size=32 address=4294967296\n"
    (proposal,) = found(linebounce, trace(linebounce, symbols, counting("it's+{offset}")))["proposals"]
    assert proposal["structure"] == "it's"
    assert proposal["transfers_after"] < 0.05 * proposal["transfers_before"]


def test_variables_on_a_stack_are_proposed_as_variables(linebounce: Program) -> None:
    """What is known of a stack is its bytes, so no elements of eight bytes each are made up."""
    file = trace(linebounce, 'object "stack of main" size=65536\n', counting('"stack of main"+{offset}'))
    (proposal,) = found(linebounce, file)["proposals"]
    assert proposal["what"] == (
        "give each variable on the stack of main that other threads use, too, a cache line of its own: aligned(32)"
    )


def test_an_object_can_be_far_larger_than_its_used_part(linebounce: Program) -> None:
    symbols = f"object heap size={2**36} address={2**40}\nobject behind size=8 address={2**40 + 2**36}\nobject counts size=32\n"
    operations = [f"worker[0] store heap+{2**36 - 8} 8", *counting("counts+{offset}"), "worker[1] store behind+0 8"]
    assert found(linebounce, trace(linebounce, symbols, operations))["falsely_shared_lines"] == 1


def counters_at(first: int, distance: int) -> str:
    return "".join(f"object count[{i}] size=8 address={first + i * distance}\n" for i in range(THREADS))


def test_objects_that_lie_far_apart_do_not_share_a_line_in_a_replay(linebounce: Program) -> None:
    """The objects' positions within their lines differ, so they would fit into one line without overlapping. But they
    are megabytes apart."""
    file = trace(linebounce, counters_at(2**32, 2**20 + 8), counting("count[{i}]+0"))
    assert found(linebounce, file)["falsely_shared_lines"] == 0


def test_neighbours_stay_neighbours_where_another_object_has_been_before(linebounce: Program) -> None:
    symbols = f"object before size=4096 address={2**32}\n" + counters_at(2**32 + 64, 8)
    file = trace(linebounce, symbols, ["worker[0] store before+0 8", *counting("count[{i}]+0")])
    document = found(linebounce, file)
    assert document["falsely_shared_lines"] == 1
    assert document["lines"][0]["misses"] > ROUNDS / 2, "each transfer serves some stores"


@pytest.mark.parametrize("place", ["", "address=4096"])
def test_lines_of_a_plain_array_share_its_misses(linebounce: Program, place: str) -> None:
    places = [line + 8 * i for line in (0, 64) for i in range(THREADS)]
    operations = [f"worker[{place // 8 % THREADS}] store counts+{place} 8" for _ in range(ROUNDS) for place in places]
    document = found(linebounce, trace(linebounce, f"object counts size=128 {place}\n", operations))
    assert len(document["lines"]) == 2
    rows = list(csv.DictReader((linebounce.directory / document["directory"] / "recorded" / "lines.csv").open()))
    misses = sum(int(row["count"]) for row in rows if row["object"] == "counts")
    assert [line["misses"] for line in document["lines"]] == pytest.approx([misses / 2] * 2, abs=1)


def test_the_proposal_is_a_change_that_an_experiment_can_have(linebounce: Program) -> None:
    file = trace(linebounce, "object counts size=32\n", counting("counts+{offset}"))
    document = found(linebounce, file)
    text = (
        f'name = "mine"\nmachine = "{MACHINE}"\n[workload]\nname = "replay"\ntrace = "{file}"\norder = 1\n'
        + document["proposals"][0]["change"]
    )
    directory = linebounce.run(linebounce.file("mine.toml", text), "out/mine")
    metrics = json.loads((directory / "results.json").read_text())["points"][0]["metrics"]
    assert metrics["throughput.operations_per_s"]["value"] == pytest.approx(
        document["throughput_per_s"] * (1 + document["proposals"][0]["throughput_change_pct"] / 100), rel=0.02
    )


def test_written_fields_leave_the_line_that_all_cpus_read(linebounce: Program) -> None:
    symbols = "structure table size=32 fields=size:0:8,mask:8:8,hits:16:8\nobject table structure=table size=32\n"
    operations = []
    for _ in range(ROUNDS):
        operations += [f"worker[{i}] load table.{field} 8" for i in range(1, THREADS) for field in ("size", "mask")]
        operations += ["worker[0] load table.hits 8", "worker[0] store table.hits 8"]
    (proposal,) = found(linebounce, trace(linebounce, symbols, operations))["proposals"]
    assert 'split = [["hits"]]' in proposal["change"]
    assert "move hits of table to a cache line of its own" in proposal["what"]
    assert "  hits __attribute__((aligned(32)));" in proposal["drawing"]
    assert proposal["transfers_after"] < 0.1 * proposal["transfers_before"]


def test_objects_that_share_a_line_are_aligned(linebounce: Program) -> None:
    symbols = "structure cell size=8 fields=value:0:8\n"
    symbols += "".join(f"object cell[{i}] structure=cell size=8 address={4294967296 + 8 * i}\n" for i in range(THREADS))
    (proposal,) = found(linebounce, trace(linebounce, symbols, counting("cell[{i}].value")))["proposals"]
    assert "align_bytes = 32" in proposal["change"]
    assert proposal["transfers_after"] < 0.05 * proposal["transfers_before"]


def test_true_sharing_is_not_reported(linebounce: Program) -> None:
    operations = [f"worker[{i}] fetch_add count+0 8" for _ in range(ROUNDS) for i in range(THREADS)]
    file = trace(linebounce, "object count size=32\n", operations)
    assert found(linebounce, file)["falsely_shared_lines"] == 0
    shown = linebounce("find-sharing", file, "--machine", MACHINE)
    assert shown.stdout.splitlines()[2] == "  No line is shared falsely, or it costs nothing."


def test_people_get_a_structure_to_copy_and_the_answer_says_what_to_do(linebounce: Program) -> None:
    file = trace(linebounce, "object counts size=32\n", counting("counts+{offset}"))
    shown = linebounce("find-sharing", file, "--machine", MACHINE).stdout
    assert "struct element { char bytes[8]; } __attribute__((aligned(32)));" in shown
    assert "[[layout.change]]" in shown
    assert "written by worker[0]" in shown
    assert shown.splitlines()[2].startswith("  give each element of counts a cache line of its own")


def test_people_get_the_costliest_lines_and_the_place_of_all(linebounce: Program) -> None:
    symbols = "".join(f"object counts[{i}] size=32 address={4294967296 + 32 * i}\n" for i in range(4))
    operations = [line for i in range(4) for line in counting(f"counts[{i}]+{{offset}}")]
    file = trace(linebounce, symbols, operations)
    shown = linebounce("find-sharing", file, "--machine", MACHINE, "--top", "1", "-o", "out/it").stdout
    assert shown.count("misses, ") == 1
    more, proposals = (line for line in shown.splitlines() if line.startswith("  and "))
    assert more.startswith("  and 3 more, as --top N prints them; all are in out/it/find_sharing.json, all misses in out/it/")
    assert proposals == "  and 3 more that were not run, as --top N runs them"
    assert (linebounce.directory / more.split()[-1]).exists()
    assert len(json.loads((linebounce.directory / "out/it/find_sharing.json").read_text())["lines"]) == 4
    assert len(found(linebounce, file, "--top", "1", "-o", "out/it")["lines"]) == 4


def test_a_trace_that_names_no_machine_runs_on_a_usual_one_and_the_answer_comes_first(linebounce: Program) -> None:
    file = trace(linebounce, "object counts size=32\n", counting("counts+{offset}"))
    title, _, answer = linebounce("find-sharing", file).stdout.splitlines()[:3]
    assert "on generic_2socket_32core" in title
    assert "% (" in answer or "eave the layouts" in answer


def test_another_trace_of_the_same_name_is_run_again(linebounce: Program) -> None:
    file = trace(linebounce, "object counts size=32\n", counting("counts+{offset}"))
    first = found(linebounce, file)
    again = found(linebounce, trace(linebounce, "object counts size=32\n", counting("counts+{offset}") * 2))
    assert again["lines"][0]["misses"] > 1.5 * first["lines"][0]["misses"]


def blocks(movable: str) -> str:
    """Four blocks of 32 bytes: as many bytes as a line."""
    places = (4294967296 + 32 * i for i in range(THREADS))
    return "structure args size=32 fields=sum:0:8,end:24:8\n" + "".join(
        f"object args[{i}] structure=args size=32 address={place} movable={movable}\n" for i, place in enumerate(places)
    )


def counting_at_both_ends() -> list[str]:
    """Each thread counts at both ends of its own block."""
    ends = zip(counting("args[{i}].sum"), counting("args[{i}].end"), strict=True)
    return [operation for both in ends for operation in both]


def test_objects_separated_only_by_the_heaps_luck_are_found_with_a_remedy(linebounce: Program) -> None:
    document = found(linebounce, trace(linebounce, blocks("yes"), counting_at_both_ends()))
    (elsewhere,) = document["elsewhere"]
    assert (elsewhere["line"], elsewhere["heap_shifts"]) == ("args[0].end", [16])
    assert document["heap_shift"] == 16
    assert document["lines"][0]["misses"] > ROUNDS / 2
    assert document["proposals"][0]["gains"]
    assert document["advice"].startswith("give each `args` a cache line of its own")
    assert document["advice"].endswith("if the heap lies 16 bytes further on")
    shown = linebounce("find-sharing", linebounce.directory / "program.txt", "--machine", MACHINE).stdout
    assert "with the heap 16 bytes behind where it lay in the recorded run" in shown
    assert "Not shared falsely by luck of this heap" in shown


def test_blocks_whose_alignment_was_asked_for_stay_where_they_are(linebounce: Program) -> None:
    document = found(linebounce, trace(linebounce, blocks("no"), counting_at_both_ends()))
    assert (document["elsewhere"], document["lines"]) == ([], [])
    assert [each["line"] for each in document["in_pairs_of_lines"]] == ["args[0].sum"]
    shown = linebounce("find-sharing", linebounce.directory / "program.txt", "--machine", MACHINE).stdout
    assert "Not simulated: processors that fetch lines in pairs (64 bytes) would also share falsely args[0].sum" in shown


def test_a_proposal_that_gains_nothing_is_not_printed_as_one(linebounce: Program) -> None:
    """The line changes hands only a few times in a long program."""
    idle = [f"worker[{i}] compute 3000" for _ in range(200) for i in range(THREADS)]
    file = trace(linebounce, "object counts size=32\n", [*counting("counts+{offset}")[: 3 * THREADS * 9], *idle])
    document = found(linebounce, file)
    assert [each["gains"] for each in document["proposals"]] == [False]
    assert document["confirmation"] is None
    shown = linebounce("find-sharing", file, "--machine", MACHINE).stdout
    assert "Tried, and no gain by more than chance: counts, " in shown
    assert "[[layout.change]]" not in shown
    assert shown.splitlines()[2] == "  Leave the layouts as they are: no proposal gains as much as 1 % by more than chance."


def taking_turns(rounds: int = 12) -> list[str]:
    """Slots of 16 bytes: a thread uses one for a while, and each slot is used by each thread in turn."""
    lines = []
    for turn in range(rounds):
        for _ in range(40):
            for i in range(THREADS):
                here = f"ring+{16 * ((i + turn) % THREADS)}"
                lines += [f"worker[{i}] load {here} 8", f"worker[{i}] store {here} 8", f"worker[{i}] compute 20"]
        lines += [f"worker[{i}] barrier round" for i in range(THREADS)]
    return lines


def test_slots_that_threads_use_in_turn_are_shared_falsely_in_time(linebounce: Program) -> None:
    cells = ",".join(f"[{slot}].sequence:{16 * slot}:8" for slot in range(THREADS))
    symbols = f"structure ring size={16 * THREADS} fields={cells}\nobject ring structure=ring size={16 * THREADS}\n"
    file = trace(linebounce, symbols + f"barrier round parties={THREADS}\n", taking_turns())
    document = found(linebounce, file)
    assert document["lines"], document
    assert all(line["in_turn"] for line in document["lines"])
    (proposal,) = document["proposals"]
    assert "4 elements of 16 bytes" in proposal["what"]
    assert proposal["gains"]
    assert proposal["transfers_after"] < 0.5 * proposal["transfers_before"]
    shown = linebounce("find-sharing", file, "--machine", MACHINE).stdout
    assert "by slots that threads use in turn" in shown
    assert "one that does gains less by slots on lines of their own" in shown.replace("\n", " ")


def test_handing_data_on_is_not_false_sharing_over_time(linebounce: Program) -> None:
    """All threads write the same word in turn."""
    same = [re.sub(r"ring\+\d+", "ring+0", operation) for operation in taking_turns(4)]
    document = found(linebounce, trace(linebounce, f"object ring size=64\nbarrier round parties={THREADS}\n", same))
    assert document["lines"] == []


def test_pairs_of_lines_are_priced_where_the_machine_fetches_pairs(linebounce: Program) -> None:
    """Two lines of a pair. Three threads occasionally write a word on one of them, the fourth thread constantly writes
    a word on the other."""
    symbols = "structure counters size=64 alignment=64 fields=all:0:8,own:32:8\nobject counters structure=counters size=64\n"
    operations = []
    for _ in range(100):
        for i in range(3):
            operations += [f"worker[{i}] load counters.all 8", f"worker[{i}] store counters.all 8", f"worker[{i}] compute 300"]
        operations += 100 * ["worker[3] load counters.own 8", "worker[3] store counters.own 8", "worker[3] compute 5"]
    file = trace(linebounce, symbols, operations)
    alone = found(linebounce, file)
    assert (alone["pairs"], alone["lines"], len(alone["in_pairs_of_lines"])) == (False, [], 1)
    document = found(linebounce, file, "--set", "machine.cpu.pair_prefetch=all")
    assert document["pairs"]
    assert document["in_pairs_of_lines"] == []
    (line,) = document["lines"]
    assert line["misses"] > 300
    (proposal,) = document["proposals"]
    assert "line_bytes = 64" in proposal["change"], "of a pair"
    assert "aligned(64)" in proposal["what"]
    assert proposal["gains"]
