"""What somebody types who has never run a course's trace before: repeated runs, mistakes in files, names and options."""

from pathlib import Path

import pytest
from program import Program

PRG = "2 1000\n3 1040\n"
EXAM = "P1 R x; P2 W x; P1 R x"
SHAPE = ("--cache-bytes", "1024", "--ways", "1", "--line-bytes", "64")


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# ---- repeated runs ----


@pytest.mark.parametrize("protocol", ["mesi", "mesi_snoop"])
def test_runs_of_other_files_do_not_block_each_other(linebounce: Program, protocol: str) -> None:
    linebounce.file("a/p0.prg", PRG)
    linebounce.file("a/p1.prg", PRG)
    linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    linebounce.file("c.trace", "0 R 100\n1 W 140\n")
    for files in (["a/p0.prg"], ["a/p0.prg", "a/p1.prg"], ["a/p0.prg"], ["c.txt"], ["c.trace"], ["c.txt"]):
        done = linebounce("run", *files, "--protocol", protocol, "--counters")
        assert done.code == 0, (files, done.stderr)


def test_an_atomic_bus_leaves_no_files(linebounce: Program) -> None:
    linebounce.file("p0.prg", PRG)
    assert linebounce("run", "p0.prg", "--protocol", "mesi").code == 0
    assert files_below(linebounce.directory) == {"p0.prg"}


def test_all_that_a_machine_keeps_is_in_the_named_directory(linebounce: Program) -> None:
    linebounce.file("p0.prg", PRG)
    for fresh in ([], [], ["--fresh"]):
        assert linebounce("run", "p0.prg", "--protocol", "mesi_snoop", "-o", "elsewhere", *fresh).code == 0
    kept = files_below(linebounce.directory) - {"p0.prg"}
    assert {Path(file).parts[0] for file in kept} == {"elsewhere", "elsewhere.1"}
    traces = [file for file in kept if file.endswith(".lbt")]
    assert len(traces) == 1
    assert str(linebounce.directory / traces[0]) in (linebounce.directory / "elsewhere.1/config.toml").read_text()


def test_a_refused_run_of_a_trace_leaves_nothing(linebounce: Program) -> None:
    linebounce.file("p0.prg", PRG)
    assert linebounce("run", "p0.prg", "--protocol", "mesi_snoop", "--machine", "no_such").code == 2
    assert linebounce("run", "p0.prg", "--protocol", "mesi_snoop", "--set", "machine.cpus=0").code == 2
    assert files_below(linebounce.directory) == {"p0.prg"}
    assert not (linebounce.directory / "out").exists()


def test_a_directory_that_somebody_else_made_is_refused(linebounce: Program) -> None:
    linebounce.file("p0.prg", PRG)
    mine = linebounce.file("theirs/mine.txt", "keep this")
    assert linebounce("run", "p0.prg", "--protocol", "mesi_snoop", "-o", "theirs").code == 2
    assert files_below(mine.parent) == {"mine.txt"}


# ---- mistakes in files ----


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P1 R x\nP2 W x\n# a comment\n\nP1 R x\nP1 Q x\nP2 R x\n", "ex.txt:6: access 1, 'P1 Q x': "),
        ("P1 R x\nP2 W x y\n", "ex.txt:2: access 1, 'P2 W x y': "),
        ("\xef\xbb\xbfP1 R x\nP1 Q x\n", "ex.txt:2: access 1, 'P1 Q x': "),
        ("P1 R y\nIO: RD 100\n", "ex.txt:2: access 1: CPU 100"),
        ("R 5000\nW 5004\nQ 5008\n", "ex.txt:3: access 1, 'Q 5008': "),  # a trace of one CPU
        ("# nothing\n// at all\n", "ex.txt: no access is typed"),
    ],
)
@pytest.mark.parametrize("command", ["run", "steps"])
def test_a_mistake_in_an_exercise_is_told_with_its_line(linebounce: Program, command: str, text: str, message: str) -> None:
    linebounce.file("ex.txt", text.encode("latin-1"))
    done = linebounce(command, "ex.txt", "--protocol", "mesi")
    assert done.code == 2
    assert message in done.stderr
    assert "known forms" not in done.stderr.lower()


def test_an_exercise_may_begin_with_a_byte_order_mark(linebounce: Program) -> None:
    linebounce.file("ex.txt", b"\xef\xbb\xbf" + b"P1 R x\nP2 W x\n")
    done = linebounce("steps", "ex.txt", "--protocol", "mesi", "--format", "csv")
    assert (done.code, len(done.stdout.splitlines())) == (0, 3)


def test_an_exercise_without_a_protocol_asks_for_one(linebounce: Program) -> None:
    linebounce.file("ex.txt", "P1 R x\nP2 W x\n")
    assert "also need a protocol, such as --protocol mesi" in linebounce("run", "ex.txt").stderr


def test_a_file_in_no_form_is_told_that_it_may_be_an_exercise(linebounce: Program) -> None:
    linebounce.file("ex.txt", "one\ntwo\nP1 R x\n")
    assert "(exercise)    accesses as they are typed" in linebounce("run", "ex.txt", "--protocol", "mesi").stderr


@pytest.mark.parametrize("command", ["run", "steps"])
@pytest.mark.parametrize("name", ["nofile.txt", "nofile.prg", "nofile", "no/file"])
def test_a_trace_that_is_not_there_is_told_so(linebounce: Program, command: str, name: str) -> None:
    linebounce.file("p0.prg", PRG)
    for arguments in ([name], ["p0.prg", name]):
        done = linebounce(command, *arguments, "--protocol", "mesi")
        assert (done.code, f"{name}: there is no such file" in done.stderr) == (3, True), done.stderr


def test_messages_name_the_users_file(linebounce: Program) -> None:
    linebounce.file("big.txt", "0 R 100\n5000 R 10\n")
    for command in ("run", "steps"):
        done = linebounce(command, "big.txt", "--protocol", "mesi")
        assert done.code == 2
        assert done.stderr.endswith("linebounce: big.txt: has CPU 5000; an atomic bus has the CPUs 0 to 63\n")


@pytest.mark.parametrize("command", ["run", "steps"])
def test_a_trace_without_accesses_is_refused(linebounce: Program, command: str) -> None:
    linebounce.file("p0.prg", "0 1000\n0 1004\n")  # fetches alone
    done = linebounce(command, "p0.prg", "--protocol", "mesi")
    assert (done.code, done.stdout) == (3, "")
    assert "p0.prg: has no loads and stores, so there is nothing to count" in done.stderr


def test_a_mistake_in_ones_own_table_names_ones_own_file(linebounce: Program) -> None:
    head = "# Mine\n\n| property | value |\n|---|---|\n| extends | mesi_atomic |\n\n## cache\n\n"
    rows = "| in | on | do | then | why |\n|---|---|---|---|---|\n"
    linebounce.file("mine/mesi.md", head + rows + "| S | Store | hit | M | a quick write |\n")
    done = linebounce("steps", "--accesses", EXAM, "--protocol", "mine/mesi.md")
    assert done.code == 2
    assert "mine/mesi.md:1: with this file's rows, message BusUpgr is never issued; " in done.stderr
    assert "mesi_atomic.md:22 declares it" in done.stderr
    linebounce.file("mine/mesi.md", head + rows + "| S | Other_BusUpgr | - | = | a copy stays |\n")
    done = linebounce("steps", "--accesses", "P1 R x; P2 R x; P1 W x; P2 W x", "--protocol", "mine/mesi.md")
    assert done.code == 4
    assert "mine/mesi.md, which extends mesi_atomic.md:" in done.stderr
    assert "`linebounce check mine/mesi.md` shows" in done.stderr


# ---- protocols ----


@pytest.mark.parametrize("name", ["MESI", "Mesi", "mesi_atomic", "MESI-Atomic"])
def test_a_protocols_name_may_have_any_case(linebounce: Program, name: str) -> None:
    usual = linebounce("steps", "--accesses", EXAM, "--protocol", "mesi")
    assert linebounce("steps", "--accesses", EXAM, "--protocol", name).stdout == usual.stdout
    trace = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    assert linebounce("run", trace, "--protocol", name).stdout == linebounce("run", trace, "--protocol", "mesi").stdout


def test_a_dash_stands_for_an_underscore(linebounce: Program) -> None:
    trace = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    assert linebounce("run", trace, "--protocol", "write-through").code == 0
    assert linebounce("run", trace, "--protocol", "MOESI-snoop", "--counters").code == 0
    assert linebounce("steps", trace, "--protocol", "MOESI-snoop").code == 0


@pytest.mark.parametrize(
    ("name", "typed", "trace"),
    [
        ("mesy", "did you mean", "did you mean"),
        ("ilinois", "did you mean illinois", "did you mean illinois"),
        ("mesi_snop", "did you mean mesi", "did you mean mesi"),
        ("mesi_directory", "accesses that are typed run on an atomic bus", "is not for a bus"),
    ],
)
def test_an_unknown_protocol_suggests_one_that_can_run(linebounce: Program, name: str, typed: str, trace: str) -> None:
    file = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    for arguments, message in ((["--accesses", EXAM], typed), ([file], trace)):
        for command in ("run", "steps"):
            done = linebounce(command, *arguments, "--protocol", name)
            assert (done.code, done.stdout) == (2, "")
            assert message in done.stderr
            assert "legal here: dragon, " in done.stderr
            assert "directory," not in done.stderr.partition("legal here")[2]
            assert ("msi_snoop" in done.stderr) == (file in arguments)


# ---- options ----


@pytest.mark.parametrize("option", [["-j", "2"], ["-o", "there"], ["--fresh"]])
def test_run_says_which_options_have_no_effect(linebounce: Program, option: list[str]) -> None:
    trace = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    for arguments in (["--accesses", EXAM], [trace]):
        done = linebounce("run", *arguments, "--protocol", "mesi", *option)
        assert (done.code, done.stdout) == (0, linebounce("run", *arguments, "--protocol", "mesi").stdout)
        assert {"-o": "--output", "-j": "--jobs"}.get(option[0], option[0]) + " has no effect" in done.stderr
    assert not (linebounce.directory / "there").exists()


@pytest.mark.parametrize("option", [["--no-family-range"], ["--vcd", "a.vcd"]])
def test_run_refuses_options_of_experiments(linebounce: Program, option: list[str]) -> None:
    trace = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    for arguments in (["--accesses", EXAM], [trace]):
        done = linebounce("run", *arguments, "--protocol", "mesi", *option)
        assert (done.code, done.stdout) == (2, "")
        assert option[0] in done.stderr
        assert "and  is" not in done.stderr


def test_steps_refuses_options_without_effect(linebounce: Program) -> None:
    trace = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    for arguments in (["--accesses", EXAM], [trace]):
        done = linebounce("steps", *arguments, "--protocol", "mesi", "--native")
        assert (done.code, "--native is for experiments" in done.stderr) == (2, True)
    done = linebounce("steps", "--accesses", EXAM, "--protocol", "mesi", "--as", "ordered")
    assert (done.code, "--as is the form of a trace's file" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["run", "steps"])
def test_typed_accesses_have_no_seed(linebounce: Program, command: str) -> None:
    done = linebounce(command, "--accesses", EXAM, "--protocol", "mesi", "--seed", "3")
    assert (done.code, "--seed is for a recorded program's trace" in done.stderr) == (2, True)


def test_a_machine_gives_an_atomic_bus_its_caches(linebounce: Program) -> None:
    # Five lines, 8 KiB apart, map to one set. A cache of 32 KiB with 4 ways can't hold them; the default, with 8 ways, can.
    accesses = "; ".join(f"P0 R 0x{0x2000 * (i % 5):x}" for i in range(10))
    usual = linebounce("run", "--accesses", accesses, "--protocol", "mesi").stdout
    assert "evictions" not in usual
    small = ("--cache-bytes", "32768", "--ways", "4")
    assert "evictions" in linebounce("run", "--accesses", accesses, "--protocol", "mesi", *small).stdout
    machine = linebounce("run", "--accesses", accesses, "--protocol", "mesi", "--machine", "p3_xeon_8way").stdout
    assert machine != linebounce("run", "--accesses", accesses, "--protocol", "mesi", *small).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "t.json"], "--output t.json: this is a table, and the name ends in .json; legal: .txt, .md, .csv"),
        (["-o", "t.md", "--format", "csv"], "this table's form is csv, and the name ends in .md; legal: .csv"),
    ],
)
def test_a_tables_file_is_named_as_its_form(linebounce: Program, options: list[str], message: str) -> None:
    done = linebounce("steps", "--accesses", EXAM, "--protocol", "mesi", *options)
    assert (done.code, message in done.stderr) == (2, True)
    assert files_below(linebounce.directory) == set()


def test_a_document_and_a_log_are_named_as_their_forms(linebounce: Program) -> None:
    trace = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    done = linebounce("steps", trace, "--protocol", "mesi_snoop", "-o", "t.csv")
    assert (done.code, "this document is JSON, and the name ends in .csv" in done.stderr) == (2, True)
    done = linebounce("steps", trace, "--protocol", "mesi_snoop", "--log", "-o", "t.json")
    assert (done.code, "this is a log, and the name ends in .json" in done.stderr) == (2, True)
    assert files_below(linebounce.directory) == {"c.txt"}


def test_steps_prints_a_refusal_and_no_document(linebounce: Program) -> None:
    trace = linebounce.file("c.txt", "0 R 100\n50 W 100\n")
    done = linebounce("steps", trace, "--protocol", "mesi_snoop")
    assert (done.code, done.stdout) == (2, "")
    assert "has CPU 50, and the machine has 8" in done.stderr


def test_caches_that_cannot_be_are_told_with_legal_sizes(linebounce: Program) -> None:
    done = linebounce("run", "--accesses", EXAM, "--protocol", "mesi", "--cache-bytes", "48", "--ways", "1")
    assert "--cache-bytes 48: with --ways 1 and --line-bytes 64, a cache has 64 bytes times a power of two" in done.stderr
    assert "legal near it: 64" in done.stderr
    done = linebounce("run", "--accesses", EXAM, "--protocol", "mesi", "--cache-bytes", "3000", "--ways", "2")
    assert "legal near it: 2048 and 4096" in done.stderr
    for legal in ("2048", "4096"):
        assert linebounce("run", "--accesses", EXAM, "--protocol", "mesi", "--cache-bytes", legal, "--ways", "2").code == 0


# ---- counters ----


def test_typed_accesses_have_rows_for_their_cpus_alone(linebounce: Program) -> None:
    done = linebounce("run", "--accesses", "r1 w1 r9", "--protocol", "mesi")
    assert done.stdout.splitlines()[0].split() == ["counter", "cache", "1", "cache", "9", "all"]
    form = linebounce.file("form.txt", "[each cache]\n{cache} {reads}\n[end]\n")
    done = linebounce("run", "--accesses", "r1 w1 r9", "--protocol", "mesi", "--listing", form)
    assert done.stdout.splitlines() == ["1 1", "9 1"]


def test_cycles_of_a_run_without_time_are_unknown(linebounce: Program) -> None:
    trace = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    form = linebounce.file("form.txt", "{cycles_issue}\n")
    for arguments in (["--accesses", EXAM], [trace]):
        for option in (["--cost", "x = cycles_issue"], ["--listing", form]):
            done = linebounce("run", *arguments, "--protocol", "mesi", *option)
            assert (done.code, done.stdout) == (2, "")
            assert "unknown counter 'cycles_issue'; legal: accesses, " in done.stderr
    done = linebounce("run", trace, "--protocol", "mesi_snoop", "--cost", "x = cycles_issue")
    assert done.code == 0, done.stderr
    assert int(done.stdout.splitlines()[-1].split()[-1]) > 0


@pytest.mark.parametrize("protocol", ["mesi", "mesi_snoop"])
def test_a_formula_that_cannot_be_computed_is_told_before_the_run(linebounce: Program, protocol: str) -> None:
    trace = linebounce.file("c.txt", "0 R 100\n1 W 100\n")
    done = linebounce("run", trace, "--protocol", protocol, "--cost", "cycles =")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == "linebounce: --cost 'cycles =': ends where a counter or a number is expected\n"
