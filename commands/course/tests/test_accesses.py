"""Accesses of courses' traces: one for each line that an access touches, at the addresses that are written."""

import csv
import io

import pytest
from program import Program


def table(program: Program, *arguments: object) -> list[dict[str, str]]:
    done = program("steps", *arguments, "--format", "csv")
    assert done.code == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def counted(program: Program, trace: object, *options: str) -> list[int]:
    form = program.file("form.txt", "{reads} {writes} {hits} {misses}\n")
    done = program("run", trace, "--listing", form, *options)
    assert done.code == 0, done.stderr
    return list(map(int, done.stdout.split()))


def test_an_access_is_one_however_it_is_aligned(linebounce: Program) -> None:
    trace = linebounce.file("p0.trace", "L 1,8\nL 0,16\nS 20,32\nA 1 1, 2, 3\nL 7,1\n")
    rows = table(linebounce, trace, "--protocol", "mesi")
    assert [(row["operation"], row["address"]) for row in rows] == [("R", "0x1"), ("R", "0x0"), ("W", "0x20"), ("R", "0x7")]
    assert counted(linebounce, trace, "--protocol", "mesi") == [3, 1, 3, 1]


def test_an_access_across_lines_is_one_for_each_of_them(linebounce: Program) -> None:
    trace = linebounce.file("p0.trace", "L 3c,8 1\nS 70,64 1\n")
    rows = table(linebounce, trace, "--protocol", "mesi", "--line-bytes", "32")
    assert [row["address"] for row in rows] == ["0x3c", "0x40", "0x70", "0x80", "0xa0"]
    assert [row["address"] for row in table(linebounce, trace, "--protocol", "mesi")] == ["0x3c", "0x40", "0x70", "0x80"]


def test_two_accesses_side_by_side_stay_two(linebounce: Program) -> None:
    trace = linebounce.file("p0.trace", "L 0,8 1\nL 8,8 1\nL 10,8 1\n")
    assert counted(linebounce, trace, "--protocol", "mesi") == [3, 0, 2, 1]


@pytest.mark.parametrize(("second", "kind"), [("0", "true sharing"), ("1", "false sharing"), ("3", "false sharing")])
def test_addresses_that_are_no_multiples_of_words_are_kept(linebounce: Program, second: str, kind: str) -> None:
    typed = table(linebounce, "--accesses", f"P1 R 0; P2 W {second}; P1 R 0; P2 R 1", "--protocol", "msi")
    trace = linebounce.file("course.txt", f"1 R 0\n2 W {second}\n1 R 0\n2 R 1\n")
    assert typed == table(linebounce, trace, "--protocol", "msi")
    assert [row["address"] for row in typed] == ["0x0", f"0x{second}", "0x0", "0x1"]
    assert typed[2]["miss_class"] == kind


def test_lines_may_be_as_small_as_a_byte(linebounce: Program) -> None:
    shape = ("--line-bytes", "1", "--cache-bytes", "2", "--ways", "1")
    rows = table(linebounce, "--accesses", "P0 R 0; P0 R 1; P0 R 2; P0 R 1; P0 R 0", "--protocol", "msi", *shape)
    assert [row["result"] for row in rows] == ["miss", "miss", "miss", "hit", "miss"]
    assert [row["evicts"] for row in rows] == ["", "", "0x0", "", "0x2"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("P1: r2 = y", "P1 and r2 may both be its CPU"),
        ("P1 R a[-1]", "a[-1] is no place"),
        ("P1 R a[2000000]", "a[2000000] is no place"),
        ("P1 R x+4", "x+4 is no place"),
        ("P1 W 0xg", "0xg is no place"),
        ("P1 W 0x10000000000000000", "0x10000000000000000 is no place"),
        ("P1 W 99999999999999999999", "99999999999999999999 is no place"),
        ("P1 R 1f00", "1f00 is no name; as an address it is 0x1f00"),
        ("<0> R 10", "<0> is no place"),
        ("P1 reeds x", "no word in it is an operation: R, read, load, W, write, store, LL or SC"),
        ("R x", "no word in it is a CPU"),
        ("P1 R x y", "x and y are two places"),
    ],
)
def test_what_is_not_understood_is_named(linebounce: Program, text: str, why: str) -> None:
    message = linebounce.refused("steps", "--accesses", f"P1 R x; {text}", "--protocol", "mesi")
    assert f"access 2, '{text}': {why}" in message


@pytest.mark.parametrize("text", ["P1 W x=5; P2 R x", "P1 writes x; P2 reads x", "P1 W x := 5; P2 R x", "P1: x w = 5; r2 x"])
def test_a_stored_value_is_left_out(linebounce: Program, text: str) -> None:
    rows = table(linebounce, "--accesses", text, "--protocol", "msi")
    assert [(row["operation"], row["address"]) for row in rows] == [("W", "x"), ("R", "x")]


def test_an_operation_in_front_of_two_numbers_is_asked_about(linebounce: Program) -> None:
    trace = linebounce.file("course.txt", "r 0 10\nw 1 10\nr 0 10\n")
    message = linebounce.refused("steps", trace, "--protocol", "msi")
    assert "--as ordered" in message
    assert "--as read-write" in message
    rows = table(linebounce, trace, "--protocol", "msi", "--as", "ordered")
    assert [(row["cpu"], row["address"]) for row in rows] == [("P0", "0x10"), ("P1", "0x10"), ("P0", "0x10")]
    sizes = linebounce.file("sizes.txt", "r 1000 4\nw 1004 4\n")
    assert [row["cpu"] for row in table(linebounce, sizes, "--protocol", "msi")] == ["P0", "P0"]


def test_addresses_that_may_be_decimal_are_doubted(linebounce: Program) -> None:
    doubt = "if they are decimal, write 0x and hexadecimal digits"
    for command in ("run", "steps"):
        done = linebounce(command, linebounce.file("digits.txt", "0 R 16\n1 W 20\n"), "--protocol", "msi")
        assert doubt in " ".join(done.stderr.split())
        done = linebounce(command, linebounce.file("marked.txt", "0 R 0x16\n1 W 0x20\n"), "--protocol", "msi", "-o", "m.md")
        assert doubt not in done.stderr


def test_a_writer_that_gets_its_own_line_again_has_lost_nothing(linebounce: Program) -> None:
    rows = table(linebounce, "--accesses", "P1 R u; P3 R u; P3 W u; P1 R u", "--protocol", "msi_rdx")
    assert [(row["bus"], row["result"], row["miss_class"]) for row in rows] == [
        ("BusRd", "miss", "cold"),
        ("BusRd", "miss", "cold"),
        ("BusRdX", "miss", ""),
        ("BusRd", "miss", "true sharing"),
    ]


@pytest.mark.parametrize("family", ["msi", "mesi"])
def test_without_upgrades_the_states_are_the_same(linebounce: Program, family: str) -> None:
    text = "; ".join(f"P{cpu} {'RW'[n % 5 == cpu]} {name}" for n, (cpu, name) in enumerate([(0, "x"), (1, "x"), (2, "y")] * 7))
    with_upgrades, without = (table(linebounce, "--accesses", text, "--protocol", name) for name in (family, f"{family}_rdx"))
    states = [[[row[f"P{cpu}_after"] for cpu in (0, 1, 2)] for row in rows] for rows in (with_upgrades, without)]
    assert states[0] == states[1]
    assert [row["bus"].replace("BusUpgr", "BusRdX") for row in with_upgrades] == [row["bus"] for row in without]
    assert any(one["bus"] != other["bus"] for one, other in zip(with_upgrades, without, strict=True))
