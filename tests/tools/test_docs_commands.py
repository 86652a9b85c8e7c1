"""Commands in documentation name existing commands and options."""

import re
import subprocess
from pathlib import Path

import pytest
from docs_program import Program, subcommands
from program import ROOT

BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# A command is a line of a block, possibly continued after backslashes, or text between backticks. Text after two blanks
# explains the command.
IN_BLOCK = re.compile(r"^(linebounce(?:-record|-probe)? (?:[^\\\n]|\\\n *)*?)(?=  |$)", re.MULTILINE)
IN_TEXT = re.compile(r"`(linebounce(?:-record|-probe)?\s[^`]*)`")
NO_COMMANDS = ("linebounce index",)  # the magic letters at the end of a trace file
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


@pytest.fixture(scope="module")
def helps(executable: Path) -> dict[str, str]:
    assert executable
    return Program().help


def options(help_text: str) -> set[str]:
    """All options that a command's help lists, short and long."""
    return {option for listed in re.findall(r"^  (-.*?)(?:  |$)", help_text, re.MULTILINE) for option in OPTION.findall(listed)}


def commands(text: str) -> list[tuple[int, str]]:
    """Line numbers and commands."""
    prose = BLOCK.sub(lambda block: re.sub(r".", " ", block[0]), text)  # replaced by blanks of the same length
    found = [(match.start(), match[1]) for match in IN_TEXT.finditer(prose)]
    for block in BLOCK.finditer(text):
        found += [(block.start() + match.start(), match[1]) for match in IN_BLOCK.finditer(block[0])]
    return [(text.count("\n", 0, place) + 1, " ".join(command.split())) for place, command in sorted(found)]


def faults(text: str, helps: dict[str, str]) -> list[tuple[int, str]]:
    """Line numbers, and what is wrong with the command there."""
    found = []
    for line, command in commands(text):
        if command in NO_COMMANDS:
            continue
        # What follows these words, or is quoted, belongs to another program.
        typed = re.sub(r"'[^']*'|\"[^\"]*\"", "", re.split(r" -- | \| | > | #", command)[0])
        name = words = re.match(r"linebounce(?:-record|-probe)?(?: [a-z][a-z-]*)*", typed)[0]
        while name not in helps:
            name = name.rpartition(" ")[0]
        following = words.removeprefix(name).split()
        if subcommands(helps[name]) and following and not options(helps[name]) - {"-h", "--help", "--version"}:
            found.append((line, f"{name} has no subcommand {following[0]}"))
        found += [
            (line, f"{name} has no option {given}") for given in OPTION.findall(typed) if given not in options(helps[name])
        ]
    return found


def test_every_command_in_documentation_is_one_that_the_program_knows(helps: dict[str, str]) -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pages = [ROOT / name for name in listed.splitlines() if (ROOT / name).exists()]
    wrong = [f"{page.relative_to(ROOT)}:{line}: {fault}" for page in pages for line, fault in faults(page.read_text(), helps)]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```\nlinebounce rum x\n```\n", (2, "linebounce has no subcommand rum")),
        ("```\nlinebounce trace recrod x\n```\n", (2, "linebounce trace has no subcommand recrod")),
        ("```\nlinebounce run x --machin y\n```\n", (2, "linebounce run has no option --machin")),
        ("Type `linebounce lines out -t 3`.\n", (1, "linebounce lines has no option -t")),
        ("```\nlinebounce run x \\\n  --machin y\n```\n", (2, "linebounce run has no option --machin")),
        ("`linebounce\nrun x --machin y`\n", (1, "linebounce run has no option --machin")),
        ("```\nlinebounce report out/x --figure y\n```\n", (2, "linebounce report has no option --figure")),
        ("```\nlinebounce-record --windows 1:2 -- ./x\n```\n", (2, "linebounce-record has no option --windows")),
    ],
)
def test_a_wrong_command_is_reported_with_its_line(helps: dict[str, str], text: str, fault: tuple[int, str]) -> None:
    assert faults(text, helps) == [fault]


@pytest.mark.parametrize(
    "text",
    [
        "linebounce run my_lock.lua --machine p3_xeon_8way      all CPUs take it -as they do-\n",
        "linebounce trace synth dentry -o lookups.lbt --threads 8\n",
        "linebounce-record -o x.lbt -- ./server --port 1\n",
        "`linebounce COMMAND --help`, `linebounce run FILE [-o DIR] [--set PATH=VALUE]... [-j N]`\n",
        'linebounce compare A B --fail-on "throughput > -5%"\n',
        "A text on linebounce --nothing\n",
        "`linebounce advise T.lbt --recheck '$CC -O2 program.c'`\n",
    ],
)
def test_right_commands_and_other_text_are_left_alone(helps: dict[str, str], text: str) -> None:
    assert faults(text, helps) == []


# What names a thing of `linebounce list KIND` in a command, by kind.
NAMED = {
    "machines": (r"--machines? (\S+)", r"describe machine (\S+)", r"(?<=set machine=)(\S+)"),
    "experiments": (r"linebounce (?:run|ab|sweep|explain|steps|trace record|describe experiment) (\S+)",),
    "locks": (r"workload\.lock=(\S+)", r"trace replay .*--lock (?:\w+=)?(\S+)", r"check-lock (\S+)", r"describe lock (\S+)"),
    "protocols": (r"linebounce check (\S+)", r"describe protocol (\S+)", r"--bus (\S+)", r"--protocol (mesi\S+)"),
    "layouts": (r"describe layout (\S+)",),
    "workloads": (r"describe workload (\S+)", r"workload\.name=(\S+)"),
}
NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+(?:/[a-z0-9_]+)?")  # without an underscore it may be a word of the reader's


def unknown_names(text: str, known: dict[str, set[str]]) -> list[tuple[int, str]]:
    """Line numbers, and what is named there that does not exist. Paths and placeholders are the reader's own."""
    found = []
    for line, command in commands(text):
        for kind, patterns in NAMED.items():
            words = [
                word
                for pattern in patterns
                for match in re.findall(pattern, command)
                for word in re.split(r"[\[\],'\"]+", match)
            ]
            for word in words:
                if NAME.fullmatch(word) and not word.startswith(("my_", "out/")) and word not in known[kind]:
                    found.append((line, f"{word} is not one of the {kind}"))
    return found


@pytest.fixture(scope="module")
def known(executable: Path) -> dict[str, set[str]]:
    assert executable
    return {kind: {entry["name"] for entry in Program().json("list", kind)} for kind in NAMED}


def test_every_name_in_a_documented_command_exists(known: dict[str, set[str]]) -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pages = [ROOT / name for name in listed.splitlines() if (ROOT / name).exists()]
    wrong = [
        f"{page.relative_to(ROOT)}:{line}: {fault}" for page in pages for line, fault in unknown_names(page.read_text(), known)
    ]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("linebounce run two_socks", "two_socks is not one of the experiments"),
        ("linebounce run two_sockets --machine xeon_e7_8867l", "xeon_e7_8867l is not one of the machines"),
        ("linebounce ab two_sockets --set 'workload.lock=[mcs,no_lock]'", "no_lock is not one of the locks"),
        ("linebounce check mesi_snop", "mesi_snop is not one of the protocols"),
        ("linebounce describe workload no_load", "no_load is not one of the workloads"),
    ],
)
def test_a_name_that_does_not_exist_is_reported(known: dict[str, set[str]], command: str, fault: str) -> None:
    assert unknown_names(f"`{command}`\n", known) == [(1, fault)]
