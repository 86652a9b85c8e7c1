"""No command fills, empties or deletes a directory that Linebounce did not make: with `-o` on one that has a stranger's files,
each is refused before it reads or writes anything, and the files are there afterwards."""

import re
import subprocess
from pathlib import Path

import pytest
from experiments import experiment
from program import ROOT, Program

# What a directory may hold, with names that Linebounce uses itself.
STRANGERS = (
    "notes.txt",
    "source/mine/a.txt",
    "headers/linux/mine.h",
    "base/mine.lbt",
    "head/mine.lbt",
    "recheck/source/mine.c",
    "A/source/mine.c",
    "points/0/lines.csv",
    "family_range/results.json",
    "results.json",
    "lines.csv",
    "advise.json",
    "change-1.diff",
    "compare_locks.json",
    "layout.json",
    "layout_diff.json",
    "validation.json",
    "what_if.json",
    "mcs.toml",
    "osq.c",
    "index.html",
    "lessons.js",
    "lecture-1.html",
    "with_word_locks.lbt",
    "manifest.json",
)

# Each command that takes `-o DIR`, with inputs that need not be there: the directory is looked at first.
COMMANDS = {
    "run": ("run", "lock_scaling"),
    "run a point": ("run", "lock_scaling", "--point", "0"),
    "run fresh": ("run", "lock_scaling", "--fresh"),
    "run merge": ("run", "lock_scaling", "--merge"),
    "run a trace": ("run", "t.lbt"),
    "ab": ("ab", "lock_scaling", "--set", "workload.lock=mcs", "--set", "workload.lock=ticket", "--fresh"),
    "sweep": ("sweep", "lock_scaling", "--fresh"),
    "sweep --vary": ("sweep", "lock_scaling", "--vary", "machine.memory.latency_ns=10%", "--metric", "m"),
    "what-if": ("what-if", "what_if/align_rk"),
    "reproduce": ("reproduce", "operation_costs"),
    "validate": ("validate", "load_to_use", "--fresh"),
    "advise": ("advise", "t.lbt", "--recheck", "true", "--yes"),
    "compare-locks": ("compare-locks", "t.lbt"),
    "find-sharing": ("find-sharing", "t.lbt"),
    "trace replay": ("trace", "replay", "t.lbt", "--fresh"),
    "layout optimise": ("layout", "optimise", "s", "--accesses", "t.lbt"),
    "layout diff": ("layout", "diff", "a.toml", "b.toml", "--accesses", "t.lbt"),
    "import": ("import", "c2c.txt"),
    "lock": ("lock", "osq", "--kernel", "linux"),
    "lock-report": ("lock-report", "kernel:osq", "mcs", "--kernel", "linux"),
    "check-lock": ("check-lock", "mcs"),
    "check": ("check", "--random", "100", "--machine", "p3_xeon_4way"),
    "gate": ("gate", "--base", "t.lbt", "--head", "t.lbt"),
    "teach": ("teach",),
}
# Options that name a directory to fill, too.
OTHERS = {
    "teach --slides": ("teach", "--slides"),
    "teach --gradescope": ("teach", "--leaderboard", "handed", "--machine", "p3_xeon_4way", "--gradescope"),
    "teach --hand-out": ("teach", "--hand-out", "coherence-1", "-o"),
}


def strangers(folder: Path) -> dict[Path, bytes]:
    for name in STRANGERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"mine: {name}")
    return contents(folder)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


@pytest.mark.parametrize("name", [*COMMANDS, *OTHERS])
def test_a_strangers_directory_is_refused_and_its_files_stay(linebounce: Program, name: str) -> None:
    before = strangers(linebounce.directory / "theirs")
    command = (*COMMANDS[name], "-o") if name in COMMANDS else OTHERS[name]
    message = linebounce.refused(*command, "theirs")
    assert re.match(
        r"linebounce( \S+)?: theirs(: holds A, and Linebounce did not make this directory| exists already)", message
    )
    assert message.count("\n") == 1
    assert contents(linebounce.directory / "theirs") == before
    assert [path.name for path in linebounce.directory.iterdir()] == ["theirs"]


@pytest.mark.parametrize("name", ["theirs-teacher"])
def test_the_teachers_directory_is_looked_at_as_well(linebounce: Program, name: str) -> None:
    before = strangers(linebounce.directory / name)
    assert "theirs-teacher: holds A" in linebounce.refused("teach", "--slides", "theirs")
    assert contents(linebounce.directory / name) == before


def help_of(linebounce: Program, *words: str) -> str:
    return subprocess.run([linebounce.executable, *words, "--help"], capture_output=True, text=True, check=True).stdout


def subcommands(linebounce: Program, *of: str) -> list[str]:
    """The words that --help lists below its first options."""
    text = help_of(linebounce, *of).partition("--help")[2]
    return re.findall(r"^  ([a-z][a-z-]*)(?=  )", text.partition("Examples:")[0], re.MULTILINE)


def test_every_command_that_fills_a_directory_is_tested_here(linebounce: Program) -> None:
    found = set()
    for name in subcommands(linebounce):
        for words in [(name,), *((name, word) for word in subcommands(linebounce, name) if name in ("layout", "trace"))]:
            if words == ("trace", "export"):
                continue
            options = help_of(linebounce, *words)
            if re.search(r"^ *-o,? *(--output)? *(DIR|OUT)\b", options, re.MULTILINE):
                found.add(" ".join(words))
    assert {"run", "layout diff", "gate"} <= found
    assert found <= COMMANDS.keys()


OUTPUTS_BY_DEFAULT = {
    ("run", "small.toml"): "out/small",
    ("lock", "osq", "--kernel", "linux"): "out/kernel/osq",
    ("advise", "t.lbt"): "out/advise/t",
    ("what-if", "two.toml"): "out",
    ("check-lock", "mcs", "--machines", "1"): "out/check_lock",
}


@pytest.mark.parametrize("command", OUTPUTS_BY_DEFAULT, ids=lambda words: words[0])
def test_a_strangers_directory_with_the_name_of_the_default_is_refused(linebounce: Program, command: tuple[str, ...]) -> None:
    two = experiment(run="warmup_us = 1\nmeasure_us = 5\nseeds = 2", more='[sweep]\n"machine.cpus" = [1, 2]')
    linebounce.file("small.toml", experiment())
    linebounce.file("two.toml", two)
    linebounce.file("linux/kernel/locking/osq_lock.c", "")
    assert linebounce("trace", "synth", "--accesses", "100", "--locks", "1", "-o", "t.lbt").code == 0
    folder = linebounce.directory / OUTPUTS_BY_DEFAULT[command]
    before = strangers(folder)
    assert "Linebounce did not make this directory" in linebounce.refused(*command)
    assert contents(folder) == before


def test_what_linebounce_made_is_used_again_and_a_mark_of_ones_own_suffices(linebounce: Program) -> None:
    trace = ("trace", "synth", "--accesses", "100", "--locks", "1", "-o", "t.lbt")
    assert linebounce(*trace).code == 0
    advise = ("advise", "t.lbt", "--time", "--machine", "p3_xeon_4way", "-o", "out")
    (linebounce.directory / "out").mkdir()  # an empty directory is nobody's
    for _ in range(2):
        assert linebounce(*advise).code == 0
        linebounce.file("out/notes.txt", "mine")
    assert (linebounce.directory / "out" / "notes.txt").read_text() == "mine"
    (linebounce.directory / "out" / ".linebounce").unlink()
    message = linebounce.refused(*advise)
    assert message.endswith("(or, if Linebounce may replace files here, make out/.linebounce)\n")
    (linebounce.directory / "out" / ".linebounce").touch()
    assert linebounce(*advise).code == 0


def test_results_of_another_program_in_a_manifest_are_a_strangers(linebounce: Program) -> None:
    linebounce.file("out/manifest.json", '{"schema": "a browser\'s"}')
    small = linebounce.file("small.toml", experiment())
    assert "out: holds manifest.json, and Linebounce did not make" in linebounce.refused("run", small, "-o", "out", "--fresh")


def test_a_found_failure_replaces_no_file_of_the_current_folder(linebounce: Program) -> None:
    """`check --random` without -o writes beside the user's own files."""
    lines = (ROOT / "models" / "protocols" / "mesi_snoop.md").read_text().splitlines()
    (at,) = (i for i, line in enumerate(lines) if re.sub(" +", " ", line).startswith("| S, SM_AD | Other_GetS "))
    lines[at] = lines[at].replace("assert shared", "-", 1)
    broken = linebounce.file("broken.md", "\n".join(lines))
    command = ("check", "--random", "60000", "--machine", "p3_xeon_4way", "--set", f"machine.bus.protocol={broken}")
    command += ("--shrink-seconds", "0")
    assert linebounce(*command).code == 1
    (found,) = linebounce.directory.glob("random_*.toml")
    assert linebounce(*command).code == 1, "a file that it wrote is replaced"
    found.write_text("mine")
    assert "is there already, and Linebounce did not write it" in linebounce.refused(*command)
    assert found.read_text() == "mine"
