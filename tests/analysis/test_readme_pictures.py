"""The reports' pictures in README.md and docs are the output of the commands beside them."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import validation_page
from program import ROOT, Result

PICTURES = ROOT / "docs" / "pictures"


def section(page: str, title: str) -> str:
    """The text of a page's section."""
    found = re.search(rf"^## {title}\n(.*?)(^## |\Z)", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def run_commands(text: str, executable: Path, process: Callable[..., Result], directory: Path) -> None:
    for line in re.findall(r"^linebounce .*$", text, re.MULTILINE):
        name, *arguments = shlex.split(line, comments=True)[1:]
        if name == "report":
            # Runs in a separate process, because the numbers of gradients go on from picture to picture within a process.
            assert process(name, *arguments, cwd=directory).code == 0
        else:
            subprocess.run([executable, name, *arguments, "--quiet"], cwd=directory, check=True)


def check_picture(made: Path, picture: str) -> None:
    assert made.read_bytes() == (PICTURES / picture).read_bytes(), (
        f"copy {made.name} to docs/pictures/{picture} after looking at it"
    )


def test_the_commands_in_the_readme_make_its_pictures(executable: Path, process: Callable[..., Result], tmp_path: Path) -> None:
    text = section("docs/first-experiment.md", "Seeing it")
    run_commands(text, executable, process, tmp_path)
    pictures = re.findall(r"!\[.+\]\(pictures/(.+)\)", text)
    assert len(pictures) == 2
    for picture in pictures:
        (named,) = re.findall(rf"`(figures/[a-z_]+/{picture})`", text)
        check_picture(tmp_path / named, picture)


def test_the_lock_in_readme_holds_and_makes_the_picture_of_its_speed(
    executable: Path, process: Callable[..., Result], tmp_path: Path
) -> None:
    readme = section("README.md", "Your own lock")
    programs = section("docs/programs.md", r"Is the lock fast\?")
    for text, language, file in ((readme, "lua", "my_lock.lua"), (programs, "toml", "mine.toml")):
        (block,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
        (tmp_path / file).write_text(block)
    checked = subprocess.run(
        [executable, "check-lock", "my_lock.lua"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    (shown,) = re.findall(r"^```\n(  my_lock.lua  holds.*?)```", readme, re.DOTALL | re.MULTILINE)
    printed = checked.stdout.splitlines()
    assert [line for line in shown.splitlines() if line.strip() != "..." and line not in printed] == []
    run_commands(programs, executable, process, tmp_path)
    check_picture(tmp_path / "figures" / "mine_or_mcs" / "sweep.svg", "my_lock.svg")


def test_readme_shows_the_answer_that_its_first_command_gives(executable: Path, tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    (answer,) = re.findall(r"^```\n(  At 32 CPUs .*?)```", text, re.DOTALL | re.MULTILINE)
    run = [executable, "run", "two_sockets"]
    printed = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert " ".join(answer.split()) in (line.strip() for line in printed)


def test_validation_makes_its_tables_and_picture(executable: Path, process: Callable[..., Result], tmp_path: Path) -> None:
    done = subprocess.run([executable, "validate"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # 1: a fitted row is out of tolerance, which the page shows
    document = json.loads((tmp_path / "out/validate/validation.json").read_text())
    text = validation_page.PAGE.read_text()
    assert validation_page.page(text, document) == text, (
        "docs/validation-results.md is out of date: run tools/validation_page.py"
    )
    about = validation_page.README.read_text()
    assert validation_page.COUNTS.search(about), "README has no counts of validate"
    assert validation_page.PREDICTIONS.search(about), "README has no figures for predictions"
    assert validation_page.readme(about, document) == about, "README's counts are out of date: run tools/validation_page.py"
    result = process("report", "out/validate", "--figures", "figures", cwd=tmp_path)
    assert result.code == 0, result.stderr
    if document["rows"]:
        check_picture(tmp_path / "figures" / "validation.svg", "validation.svg")
