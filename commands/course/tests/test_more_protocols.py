"""Protocols and operations that single courses define: suppliers, states and counts that follow from their definition."""

import csv
import io

import pytest
from program import Program


def rows_of(program: Program, accesses: str, protocol: str, *more: object) -> list[dict[str, str]]:
    done = program("steps", "--accesses", accesses, "--protocol", protocol, "--format", "csv", *more)
    assert done.code == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def after(row: dict[str, str]) -> str:
    """The states after an access, in the order of the CPUs."""
    return " ".join(value for name, value in row.items() if name.endswith("_after"))


def counts(program: Program, accesses: str, protocol: str, *names: str) -> list[int]:
    form = program.file("form.txt", " ".join(f"{{{name}}}" for name in names) + "\n")
    done = program("run", "--accesses", accesses, "--protocol", protocol, "--listing", form)
    assert done.code == 0, done.stderr
    return list(map(int, done.stdout.split()))


SHARED = "P1 R x; P2 R x; P3 R x; P2 W x; P1 R x; P3 W x"


def test_illinois_reads_memory_only_if_no_cache_has_the_line(linebounce: Program) -> None:
    rows = rows_of(linebounce, SHARED, "illinois")
    assert [(row["bus"], row["data_from"], row["to_memory"], after(row)) for row in rows] == [
        ("BusRd", "memory", "", "E I I"),  # nobody has it
        ("BusRd", "P1", "", "S S I"),  # the exclusive copy is clean, and answers all the same
        ("BusRd", "P1", "", "S S S"),  # two sharers offer the line; the bus takes that of the lower number
        ("BusUpgr", "", "", "I M I"),  # no data: the writer has the line
        ("BusRd", "P2", "P2", "S S I"),  # a dirty line goes to memory, too, and is clean from then on
        ("BusRdX", "P1", "", "I I M"),  # a write is served by a sharer as well
    ]
    names = ("memory_reads", "cache_to_cache", "memory_writes", "flushes")
    assert counts(linebounce, SHARED, "illinois", *names) == [1, 4, 1, 1]
    # Without it, memory answers for every clean line: the second and the third read, and the last write.
    assert counts(linebounce, SHARED, "mesi", *names) == [4, 1, 1, 1]


ONE_WRITER = "P1 R x; P2 R x; P1 W x; P1 W x; P2 W x; P1 R x; P3 W x; P3 W x"


def test_every_store_is_written_through_and_fetches_nothing(linebounce: Program) -> None:
    rows = rows_of(linebounce, ONE_WRITER, "write_through")
    assert [(row["bus"], row["to_memory"], row["result"], after(row)) for row in rows] == [
        ("BusRd", "", "miss", "V I I"),
        ("BusRd", "", "miss", "V V I"),
        ("BusWr", "P1", "write-through", "V I I"),  # takes the other copy
        ("BusWr", "P1", "write-through", "V I I"),  # and so does each store, though nobody else has the line
        ("BusWr", "P2", "miss", "I I I"),  # past the cache, which has no copy and gets none; it takes P1's
        ("BusRd", "", "miss", "V I I"),
        ("BusWr", "P3", "miss", "I I I"),
        ("BusWr", "P3", "miss", "I I I"),  # a miss again
    ]
    # Three reads fetch lines, and five stores write words of 8 bytes on a bus whose lines have 64.
    names = ("bus_rd", "bus_wr", "memory_reads", "memory_writes", "write_misses", "invalidations", "hits", "bus_bytes")
    assert counts(linebounce, ONE_WRITER, "write_through", *names) == [3, 5, 3, 5, 3, 3, 0, 3 * 64 + 5 * 8]


def test_with_allocation_a_store_that_misses_fetches_the_line_first(linebounce: Program) -> None:
    rows = rows_of(linebounce, ONE_WRITER, "write_through_allocate")
    assert [(row["bus"], row["result"], after(row)) for row in rows[4:]] == [
        ("BusRd, BusWr", "miss", "I V I"),
        ("BusRd", "miss", "V V I"),
        ("BusRd, BusWr", "miss", "I I V"),
        ("BusWr", "write-through", "I I V"),  # the line is here now
    ]
    names = ("bus_rd", "bus_wr", "memory_reads", "memory_writes", "write_misses", "transactions")
    assert counts(linebounce, ONE_WRITER, "write_through_allocate", *names) == [5, 5, 5, 5, 2, 10]


def test_a_store_that_allocates_nothing_evicts_nothing(linebounce: Program) -> None:
    cache_of_one_line = ("--cache-bytes", "64", "--ways", "1", "--line-bytes", "64")
    for protocol, evicts, last in (("write_through", "", "hit"), ("write_through_allocate", "a", "miss")):
        rows = rows_of(linebounce, "P1 R a; P1 W b; P1 R a", protocol, *cache_of_one_line)
        assert (rows[1]["evicts"], rows[2]["result"]) == (evicts, last)


def test_a_tag_snarfs_the_line_that_passes(linebounce: Program) -> None:
    spinning = "P1 R x; P2 R x; P3 R x; P1 W x; P2 R x; P3 R x"
    rows = rows_of(linebounce, spinning, "mesi_snarfing")
    assert [(row["bus"], row["result"], after(row)) for row in rows[3:]] == [
        ("BusUpgr", "upgrade", "M T T"),
        ("BusRd", "miss", "S S S"),  # P1 flushes for P2, and P3 takes the line as well
        ("", "hit", "S S S"),
    ]
    assert counts(linebounce, spinning, "mesi_snarfing", "bus_rd", "useful_prefetches") == [4, 1]
    assert counts(linebounce, spinning, "mesi", "bus_rd", "useful_prefetches") == [5, 0]


def test_a_line_that_came_in_passing_is_no_miss_of_the_store_that_uses_it(linebounce: Program) -> None:
    stored = "P1 R x; P2 R x; P3 R x; P1 W x; P2 R x; P3 W x"
    rows = rows_of(linebounce, stored, "mesi_snarfing")
    assert (rows[5]["bus"], rows[5]["result"], rows[5]["miss_class"]) == ("BusUpgr", "upgrade", "")
    names = ("read_misses", "write_misses", "useful_prefetches", "true_sharing_misses")
    assert counts(linebounce, stored, "mesi_snarfing", *names) == [4, 0, 1, 1]


def test_a_line_takes_the_place_of_a_tag_first(linebounce: Program) -> None:
    two_lines = ("--cache-bytes", "128", "--ways", "2", "--line-bytes", "64")
    # a is used later than b, but only its tag is left, so c takes that place, and b stays.
    rows = rows_of(linebounce, "P1 R b; P1 R a; P2 W a; P1 R c; P1 R b", "mesi_snarfing", *two_lines)
    assert (rows[2]["P1_after"], rows[3]["evicts"], rows[4]["result"]) == ("T", "", "hit")


def test_a_copy_gives_up_at_the_third_word_that_it_does_not_use(linebounce: Program) -> None:
    written = "P1 R x; P2 R x; P1 W x; P1 W x; P2 R x; P1 W x; P1 W x; P1 W x; P1 W x"
    rows = rows_of(linebounce, written, "dragon_competitive")
    assert [(row["bus"], after(row)) for row in rows[2:]] == [
        ("BusUpd", "Sm Sc1"),
        ("BusUpd", "Sm Sc2"),
        ("", "Sm Sc"),  # P2 uses its copy: the count begins again
        ("BusUpd", "Sm Sc1"),
        ("BusUpd", "Sm Sc2"),
        ("BusUpd", "M I"),  # the third in a row: P2 gives up, and P1 is alone
        ("", "M I"),  # from now on its stores need no bus
    ]
    names = ("bus_upd", "updates", "invalidations")
    assert counts(linebounce, written, "dragon_competitive", *names) == [5, 4, 1]
    assert counts(linebounce, written, "dragon", *names) == [6, 6, 0]


PROTOCOLS_OF_ALL_KINDS = ("msi", "moesi", "dragon", "dragon_competitive", "write_through", "illinois", "mesi_snarfing")


@pytest.mark.parametrize("protocol", PROTOCOLS_OF_ALL_KINDS)
def test_another_cpus_write_breaks_a_reservation_and_a_read_does_not(linebounce: Program, protocol: str) -> None:
    rows = rows_of(linebounce, "P1 LL x; P2 LL x; P1 SC x; P2 SC x; P2 LL x; P1 R x; P2 SC x", protocol)
    assert [row["operation"] for row in rows] == ["LL", "LL", "SC", "SC", "LL", "R", "SC"]
    assert [row["result"] == "fails" for row in rows] == [False, False, False, True, False, False, False]
    assert (rows[3]["bus"], rows[3]["P1_before"]) == ("", rows[3]["P1_after"])  # a failure does nothing


def test_a_reservation_ends_with_its_copy_its_use_and_the_next_one(linebounce: Program) -> None:
    one_line = ("--cache-bytes", "64", "--ways", "1", "--line-bytes", "64")

    def results(accesses: str, *more: object) -> list[str]:
        return [row["result"] for row in rows_of(linebounce, accesses, "mesi", *more)]

    assert results("P1 LL a; P1 R b; P1 SC a", *one_line)[-1] == "fails"  # b has taken the place of a
    assert results("P1 LL x; P1 SC x; P1 SC x") == ["miss", "hit", "fails"]
    assert results("P1 LL a; P1 LL b; P1 SC a; P1 SC b")[2:] == ["fails", "fails"]  # one reservation, for b, which SC a ends
    assert results("P1 SC x") == ["fails"]
    assert results("P1 LL x[0]; P2 W x[1]; P1 SC x[0]")[-1] == "fails"  # a reservation is of a line
    assert results("ll1 ll2 sc1 sc2") == ["miss", "miss", "upgrade", "fails"]


def test_a_failed_store_conditional_is_no_access(linebounce: Program) -> None:
    contended = "P1 LL x; P2 LL x; P1 SC x; P2 SC x"
    names = ("reads", "writes", "sc_failures", "transactions")
    assert counts(linebounce, contended, "mesi", *names) == [2, 1, 1, 3]
