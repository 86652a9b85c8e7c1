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
