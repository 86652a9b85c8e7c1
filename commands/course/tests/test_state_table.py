"""`linebounce steps` on an atomic bus: the table of accesses is that of a model of the textbooks, for any trace."""

import csv
import io

import pytest
from program import Program
from textbook import PROTOCOLS, Access, Shape, random_order, text_of, told

EXAM = "P1 R x; P2 W x; P1 R x"


def table(program: Program, *arguments: object) -> list[dict[str, str]]:
    done = program("steps", *arguments, "--format", "csv")
    assert done.code == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def assert_told(program: Program, protocol: str, order: list[Access], shape: Shape) -> None:
    trace = program.file("course.txt", text_of(order))
    found = table(program, trace, "--protocol", protocol, *shape.options)
    expected = [{"number": str(number), **row} for number, row in enumerate(told(protocol, order, shape), 1)]
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == theirs


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_table_of_random_traces_is_the_textbooks(linebounce: Program, protocol: str) -> None:
    seen = set()
    for seed in range(12):
        order = random_order(seed, 150)
        assert_told(linebounce, protocol, order, Shape(64 << seed % 3, 1 << seed % 2))
        seen |= {row["miss_class"] for row in told(protocol, order, Shape(64 << seed % 3, 1 << seed % 2))}
    sharing = set() if protocol == "dragon" else {"true sharing", "false sharing"}
    assert seen == {"", "cold", "capacity", "conflict"} | sharing


def test_run_counts_the_classes_that_the_table_names(linebounce: Program) -> None:
    kinds = ("cold", "capacity", "conflict", "true_sharing", "false_sharing")
    form = linebounce.file("form.txt", "[each cache]\n" + " ".join(f"{{{kind}_misses}}" for kind in kinds) + "\n[end]\n")
    order = random_order(7, 600)
    trace = linebounce.file("course.txt", text_of([(cpu % 8, write, address) for cpu, write, address in order]))
    shape = ("--cache-bytes", "1024", "--ways", "1", "--line-bytes", "64")
    for protocol in ("msi", "moesi"):
        rows = table(linebounce, trace, "--protocol", protocol, *shape)
        for bus in ("atomic", "snoop"):
            more = ["-o", str(linebounce.directory / bus), "--fresh"] if bus == "snoop" else []
            done = linebounce("run", trace, "--protocol", f"{protocol}_{bus}", *shape, "--listing", form, *more)
            assert done.code == 0, done.stderr
            for cache, line in enumerate(done.stdout.splitlines()):
                of_cpu = [row["miss_class"].replace(" ", "_") for row in rows if row["cpu"] == f"P{cache}"]
                assert list(map(int, line.split())) == [of_cpu.count(kind) for kind in kinds], (bus, cache)


def test_accesses_may_be_typed(linebounce: Program) -> None:
    rows = table(linebounce, "--accesses", EXAM, "--protocol", "mesi")
    assert [(row["P1_before"], row["P1_after"], row["P2_before"], row["P2_after"]) for row in rows] == [
        ("I", "E", "I", "I"),
        ("E", "I", "I", "M"),
        ("I", "S", "M", "S"),
    ]
    assert [row["bus"] for row in rows] == ["BusRd", "BusRdX", "BusRd"]
    assert [row["data_from"] for row in rows] == ["memory", "memory", "P2"]
    assert [row["miss_class"] for row in rows] == ["cold", "cold", "true sharing"]


@pytest.mark.parametrize(
    "text",
    [
        "1 R x\n2 W x\n1 R x",
        "R(P1) x; W(P2) x; R(P1) x",
        "(R PE1); (W PE2); (R PE1)",
        "core 1: load x; core 2: store x; core 1: load x",
        "r1; w2; r1",
        "r1 w2 r1",
        "(R PE1)(W PE2)(R PE1)",
        "# an exercise\nr1 w2  // two of them\nr1\n",
        "P1 R 100; P2 W 0x100; P1 R 100",
        "P1: read x; P2: write x <-- 80; P1: read x",
    ],
)
def test_spellings_of_one_exercise_have_one_table(linebounce: Program, text: str) -> None:
    def without_places(rows: list[dict[str, str]]) -> list[dict[str, str]]:
        return [{key: value for key, value in row.items() if key != "address"} for row in rows]

    usual = table(linebounce, "--accesses", EXAM, "--protocol", "mesi")
    assert without_places(table(linebounce, "--accesses", text, "--protocol", "mesi")) == without_places(usual)


def test_names_have_lines_of_their_own_and_elements_share_one(linebounce: Program) -> None:
    rows = table(linebounce, "--accesses", "P1 R a; P1 R b; P1 R v[0]; P1 R v[1]; P2 W v[1]; P1 R v[0]", "--protocol", "mesi")
    assert [row["result"] for row in rows] == ["miss", "miss", "miss", "hit", "miss", "miss"]
    assert rows[-1]["miss_class"] == "false sharing"


def test_an_access_that_cannot_be_read_is_named(linebounce: Program) -> None:
    done = linebounce("steps", "--accesses", "P1 R x; P2 x", "--protocol", "mesi")
    assert done.code == 2
    assert "access 2, 'P2 x': no word in it is an operation: R, read" in done.stderr
    done = linebounce("steps", "--accesses", EXAM, "--protocol", "mesi_snoop")
    assert done.code == 2
    assert "legal here: dragon, " in done.stderr


def test_a_name_that_may_be_an_address_is_said_to_be_a_name(linebounce: Program) -> None:
    done = linebounce("steps", "--accesses", "P0: read AC20; P1: write AC28", "--protocol", "msi")
    assert done.code == 0
    assert "AC20 is a name here, of a line of its own; as an address it is 0xAC20" in done.stderr
    for text in ("P0 R 0xAC20; P1 W 0xAC28", "P0 R a1; P1 W bad", "P0 R 120; P1 W a[10]"):
        assert "is a name" not in linebounce("steps", "--accesses", text, "--protocol", "msi").stderr


def test_the_table_is_drawn_and_written_as_markdown(linebounce: Program) -> None:
    drawn = linebounce("steps", "--accesses", EXAM, "--protocol", "mesi").stdout.splitlines()
    assert drawn[0].split() == ["no.", "CPU", "op", "address", "P1", "P2", "bus", "data", "from", "to", "memory", "result"]
    assert drawn[3].split() == ["3", "P1", "R", "x", "I→S", "M→S", "BusRd", "P2", "P2", "miss:", "true", "sharing"]
    file = linebounce.directory / "table.md"
    assert linebounce("steps", "--accesses", EXAM, "--protocol", "mesi", "-o", file).code == 0
    assert "| 3 | P1 | R | x | I→S | M→S | BusRd | P2 | P2 | miss: true sharing |" in file.read_text().splitlines()


def test_a_long_trace_is_cut_and_says_so(linebounce: Program) -> None:
    trace = linebounce.file("course.txt", text_of(random_order(1, 30)))
    done = linebounce("steps", trace, "--protocol", "mesi", "--format", "csv", "--steps", "10")
    assert len(done.stdout.splitlines()) == 11
    assert "the table has the first 10 accesses" in done.stderr


def test_a_file_of_typed_accesses_is_an_exercise(linebounce: Program) -> None:
    file = linebounce.file("exercise.txt", "# x and a are names\n0 R x\n1 W x\n0 R a\n0 R x\n")
    assert table(linebounce, file, "--protocol", "moesi") == table(
        linebounce, "--accesses", "0 R x; 1 W x; 0 R a; 0 R x", "--protocol", "moesi"
    )
    form = linebounce.file("form.txt", "{reads} {writes} {cold_misses} {true_sharing_misses}\n")
    for source in ([file], ["--accesses", "0 R x; 1 W x; 0 R a; 0 R x"]):
        counted = linebounce("run", *source, "--protocol", "mesi", "--listing", form)
        assert counted.stdout.split() == ["3", "1", "3", "1"], counted.stderr


def test_a_trace_or_accesses_but_not_both_nor_none(linebounce: Program) -> None:
    for command in ("run", "steps"):
        assert "give an EXPERIMENT, a trace, or --accesses" in linebounce(command).stderr
        both = linebounce(command, "two_sockets", "--accesses", EXAM, "--protocol", "mesi")
        assert (both.code, "leave out two_sockets" in both.stderr) == (2, True)
        bare = linebounce(command, "--accesses", EXAM)
        assert "also need a protocol, such as --protocol mesi" in bare.stderr


# Totals of a published exercise: 1 cycle an access, 60 more for a transaction, 90 more for a line.
@pytest.mark.parametrize(
    ("stream", "mesi", "dragon"),
    [
        ("r1 w1 r1 w1 r2 w2 r2 w2 r3 w3 r3 w3", 582, 702),
        ("r1 r2 r3 w1 w2 w3 r1 r2 r3 w3 w1", 1331, 761),
        ("r1 r2 r3 r3 w1 w1 w1 w1 w2 w3", 820, 820),
    ],
)
def test_costs_of_the_textbooks_streams(linebounce: Program, stream: str, mesi: int, dragon: int) -> None:
    for protocol, cycles in (("mesi", mesi), ("dragon", dragon)):
        formula = "cycles = accesses + 60*transactions + 90*misses"
        done = linebounce("run", "--accesses", stream, "--protocol", protocol, "--cost", formula)
        assert done.stdout.splitlines()[-1].split()[-1] == str(cycles)
