"""Names may be any text, from a trace to its reports, which escape whatever would act on a terminal or break a line."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from experiments import experiment
from linebounce.visible import visible_name
from program import Program
from results import check_results_directory, read_csv

MACHINE = ("--machine", "p3_xeon_4way")
ACTIVE = "\x1b]0;b\x07\x1b[2J\u009b2J\u202e\u2066\r"
SHOWN = r"\u001b]0;b\u0007\u001b[2J\u009b2J\u202e\u2066\u000d"
NAMES = ["two\nlines", 'a "quoted", name', "\r\nwindows\r\n", "\n", "\u2028\u0085\x0b", ACTIVE, "\x00", "Grüße 線 😀"]


def trace_with(name: str) -> str:
    """A trace of two threads that share an object, a lock, a function and streams of this name."""
    quoted = json.dumps(name)
    threads = [json.dumps(f"{number}{name}") for number in (1, 2)]
    lines = [f"linebounce trace 1\nstructure {quoted} size=64 fields={quoted}:0:8\nobject {quoted} structure={quoted} size=64"]
    lines += [f"function {quoted}", f"lock {quoted}", *(f"stream {thread}" for thread in threads)]
    for _ in range(20):
        for thread in threads:
            lines += [f"{thread} enter {quoted}", f"{thread} acquire {quoted}", f"{thread} fetch_add {quoted}+0 8"]
            lines += [f"{thread} release {quoted}", f"{thread} leave"]
    return "\n".join([*lines, "end\n"])


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_is_the_same_from_the_trace_to_the_reports(linebounce: Program, name: str) -> None:
    linebounce.file("t.txt", trace_with(name))
    assert linebounce("trace", "convert", "t.txt", "t.lbt").code == 0
    replayed = linebounce("trace", "replay", "t.lbt", *MACHINE, "-o", "out")
    assert replayed.code == 0, replayed.stderr
    out = linebounce.directory / "out"
    check_results_directory(out)
    kept = visible_name(name)
    assert kept in {row["lock"] for row in read_csv(out / "locks.csv")}
    lines = read_csv(out / "lines.csv")
    assert (kept, kept, kept) in {(row["structure"], row["object"], row["function"]) for row in lines}
    shown = json.loads(linebounce("lines", "out", "--json").stdout)
    assert kept in {line["structure"] for line in shown["lines"]}
    linebounce("run", "out/config.toml", "-o", "out")  # reads the finished results again
    for arguments in (("lines", "out"), ("find-sharing", "t.lbt", *MACHINE), ("compare-locks", "t.lbt", *MACHINE)):
        result = linebounce(*arguments)
        assert result.code == 0, result.stderr


def active(text: str) -> str:
    """The characters of the text that would act on a terminal."""
    return "".join(letter for letter in text if letter in "\x1b\x07\u009b\u202e\u2066\r\x00\u2028\u0085\x0b")


def test_no_output_controls_the_terminal(linebounce: Program) -> None:
    linebounce.file("t.txt", trace_with(ACTIVE))
    linebounce.file("titled.toml", experiment().replace("A small run", SHOWN))
    linebounce.file("keys.toml", experiment(more='["\u202e\u009b"]'))
    for arguments in [
        ("trace", "info", "t.txt"),
        ("trace", "info", "t.txt", "--json"),
        ("trace", "replay", "t.txt", *MACHINE, "-o", "out"),
        ("lines", "out"),
        ("lines", "out", "--json"),
        ("run", "titled.toml", "-o", "titled"),
        ("run", "keys.toml"),
        ("run", "titled.toml", "--set", f"{ACTIVE}=3"),
        ("run", "titled.toml", "--set", f"workload.lock={ACTIVE}"),
        ("run", ACTIVE),
        ("describe", "machine", ACTIVE),
        (ACTIVE,),
        ("list", "machines", f"--{ACTIVE}"),
        ("lines", "out", "--structure", ACTIVE * 2),
    ]:
        result = linebounce(*arguments)
        assert active(result.stdout + result.stderr) == "", arguments
    assert SHOWN in linebounce.refused("run", f"{ACTIVE}.toml")


def test_a_name_that_is_not_valid_text_is_shown_by_its_bytes(linebounce: Program) -> None:
    path = os.fsdecode(b"a\xffb.toml")
    assert r"a\xffb.toml: there is no such file" in linebounce.refused("run", path)
    linebounce.file("t.txt", trace_with("x"))
    (linebounce.directory / "t.txt").rename(linebounce.directory / os.fsdecode(b"t\xff.txt"))
    message = linebounce.refused("trace", "replay", os.fsdecode(b"t\xff.txt"), *MACHINE, "-o", "out")
    assert r"t\xff.txt: this name is not UTF-8 text" in message
    linebounce.file("small.toml", experiment())
    assert linebounce("run", "small.toml", "-o", os.fsdecode(b"out\xff")).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "LONG"),
        ("run", "small.toml", "--set", "workload.lock=LONG"),
        ("run", "small.toml", "--set", "LONG=1"),
        ("LONG",),
    ],
    ids=" ".join,
)
def test_a_long_argument_is_shortened_in_the_message(linebounce: Program, arguments: tuple[str, ...]) -> None:
    linebounce.file("small.toml", experiment())
    message = linebounce.refused(*(word.replace("LONG", "x" * 100_000) for word in arguments))
    assert len(message) < 12_000
    assert "x…x" in message


def test_a_terminal_gets_colours(linebounce: Program) -> None:
    """`script` provides the program with a terminal."""
    command = f"{linebounce.executable} list machines"
    done = subprocess.run(
        ["script", "-qec", command, "/dev/null"], cwd=linebounce.directory, capture_output=True, check=True, env=terminal()
    )
    assert b"\x1b[1m" in done.stdout


def terminal() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}


def test_a_directory_with_pipes_and_devices_for_files_is_refused_and_not_waited_for(linebounce: Program) -> None:
    out = linebounce.run(linebounce.file("small.toml", experiment()), "out")
    for name in ("results.json", "lines.csv"):
        whole = (out / name).read_bytes()
        for replace in (os.mkfifo, lambda path: Path(path).symlink_to("/dev/zero"), lambda path: Path(path).symlink_to(path)):
            (out / name).unlink()
            replace(out / name)
            message = linebounce.refused("lines", "out", code=3, timeout=30)
            assert f"out/{name}: cannot be read: " in message
        (out / name).unlink()
        (out / name).write_bytes(whole)
    assert linebounce("lines", "out").code == 0
    (out / "config.toml").unlink()
    os.mkfifo(out / "config.toml")
    assert "out/config.toml: cannot be read: " in linebounce.refused("explain", "out", code=3, timeout=30)


def test_a_file_of_nothing_but_holes_takes_neither_memory_nor_time(linebounce: Program) -> None:
    """Its sender can name any size."""
    path = linebounce.file("small.toml", experiment())
    out = linebounce.run(path, "out")
    for name in ("results.json", "lines.csv", "manifest.json"):
        whole = (out / name).read_bytes()
        os.truncate(out / name, 100 << 30)
        commands = [("run", path, "-o", "out")] if name == "manifest.json" else [("lines", "out")]
        for command in commands:
            message = linebounce.refused(*command, code=3, timeout=30)
            assert f"out/{name}: larger than 4 GiB, so it is not a file that Linebounce wrote" in message
        (out / name).write_bytes(whole)
    os.truncate(out / "lines.csv", 100 << 30)
    assert "lines.csv has changed since it was written" in linebounce("run", path, "-o", "out", timeout=30).stderr


def test_commands_that_look_for_changes_take_things_without_names(linebounce: Program) -> None:
    """What has no name can't be named in a setting that would change it."""
    linebounce.file("t.txt", trace_with(""))
    for command in ("advise", "find-sharing"):
        shown = linebounce(command, "t.txt", *MACHINE, "--orders", "2")
        assert shown.code == 0, shown.stdout + shown.stderr
    refused = linebounce("compare-locks", "t.txt", *MACHINE)
    assert refused.code == 2
    assert "there are no locks to compare: it takes no lock that has a name" in refused.stderr
