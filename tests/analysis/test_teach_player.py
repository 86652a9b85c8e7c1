"""`linebounce teach --lesson`: a lesson played to its end in the terminal, with right, wrong and missing answers."""

import io
import os
import signal
import subprocess
import sys
import tarfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from linebounce.teach import site
from linebounce.teach.compiler import compile_lesson
from linebounce.teach.engine import Engine
from linebounce.teach.lesson import read_lesson
from program import ROOT, Result

Command = Callable[..., Result]

LESSONS = ROOT / "teach" / "lessons"


def typed(path: Path, *, wrong_first: bool) -> list[str]:
    """The keys typed by a reader who plays the lesson: Enter at each moment, and at each question the number of the answer."""
    lines = []
    for part in compile_lesson(Engine(), read_lesson(path))["parts"]:
        if part["kind"] in ("moment", "break"):
            lines.append("")
        elif part["kind"] == "question":
            lines += answers_to(part, wrong_first=wrong_first)
    return lines


def answers_to(part: dict, *, wrong_first: bool) -> list[str]:
    choices, answer = part["choices"], part["answer"]
    if part["type"] == "multiple":
        right = " ".join(str(choices.index(one) + 1) for one in answer)
        every = " ".join(str(number + 1) for number in range(len(choices)))
        return [*([every if every != right else "1"] if wrong_first and len(choices) > 1 else []), right]
    if choices:
        right = str(choices.index(answer) + 1)
        return [*(["2" if right == "1" else "1"] if wrong_first else []), right]
    right = str(answer[0] if isinstance(answer, list) else answer)
    return [*(["12345"] if wrong_first else []), right]


def play(command: Command, monkeypatch: pytest.MonkeyPatch, lesson: str, lines: list[str]) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    result = command("teach", "--lesson", lesson)
    assert result.code == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("path", sorted(LESSONS.glob("*.md")), ids=lambda path: path.stem)
def test_a_lesson_is_played_to_its_end(command: Command, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    lines = typed(path, wrong_first=False)
    text = play(command, monkeypatch, path.stem, lines)
    questions = len(lines) - sum(line == "" for line in lines)
    assert f"{questions} of {questions} right at the first try" in text
    assert "Not quite." not in text
    assert "\x1b" not in text, "no colour in a pipe"
    assert all(len(line) <= 100 for line in text.splitlines() if "http" not in line)


def test_a_wrong_answer_is_explained_and_asked_again(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    path = LESSONS / "02-msi-by-hand.md"
    lines = typed(path, wrong_first=True)
    text = play(command, monkeypatch, "2", lines)
    flat = " ".join(text.split())
    assert flat.count("Not quite.") == 8
    assert "With GetS it would get a copy to read" in flat
    assert "0 of 8 right at the first try" in flat


def test_steps_are_shown_with_their_states(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    text = play(command, monkeypatch, "1", ["", "2", "q"])
    assert "CPU 0 reads 0 from x." in text
    assert "x: CPU 0 S, CPU 1 I, x = 0" in text


def test_a_reader_can_go_back_skip_a_question_and_quit(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    text = play(command, monkeypatch, "1", ["", "b", "", "n", "7", "3", "q"])
    assert text.count("CPU 0 reads x, which no cache has. Where does the value come from?") == 2
    assert "The answer: From memory" in text
    assert "0 of 2 right at the first try" in text, "left out, or wrong at first, is not right"


def test_a_question_without_choices_says_what_it_expects(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    text = play(command, monkeypatch, "4", [""] * 12)
    assert "A number, or n, b, q." in text
    assert "from 1 to 0" not in text


def test_the_lesson_ends_at_the_end_of_the_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "right at the first try" not in play(command, monkeypatch, "1", [])


def test_a_changed_table_goes_through_the_checker(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = LESSONS / "01-why-coherence.md"
    task = compile_lesson(Engine(), read_lesson(path))["parts"][-1]
    (tmp_path / "same.md").write_text(task["text"])
    (tmp_path / "changed.md").write_text(task["solution"])
    lines = [*typed(path, wrong_first=False)[:-1], "nowhere.md", str(tmp_path / "same.md"), str(tmp_path / "changed.md")]
    text = " ".join(play(command, monkeypatch, "1", lines).split())
    assert "nowhere.md: there is no such file" in text
    assert "It holds." in text
    assert "can write while cache 0 (in S) can read" in text


def test_a_missing_lesson_is_named(command: Command) -> None:
    result = command("teach", "--lesson", "99")
    assert result.code == 2
    assert "01-why-coherence" in result.stderr


def test_teach_lists_all_lessons_and_tests(command: Command) -> None:
    text = command("teach").stdout
    assert "Why coherence" in text
    assert "post-test" in text
    assert '"name": "01-why-coherence"' in command("teach", "--json").stdout


# ---- the page's files ----


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the built page, which takes minutes to build: two files, and outdated lessons."""
    folder = tmp_path / "built"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>the page")
    (folder / "assets" / "x.js").write_text("1")
    (folder / "lessons.js").write_text("old")
    monkeypatch.setattr(site, "built_page", lambda _engine: folder)
    return folder


@pytest.mark.usefixtures("page")
def test_the_page_is_written_with_the_lessons_of_now(command: Command, tmp_path: Path) -> None:
    result = command("teach", "-o", tmp_path / "out")
    assert result.stdout == f"{tmp_path / 'out' / 'index.html'}\n"
    assert (tmp_path / "out" / "assets" / "x.js").read_text() == "1"
    assert (tmp_path / "out" / "lessons.js").read_text().startswith("window.LINEBOUNCE_LESSONS_PACKED=")


def test_without_a_built_page_the_message_says_where_to_get_one(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "_INDEX", "no_such_index.html")
    monkeypatch.setattr(site, "ARCHIVE", "no_such_archive.tar.gz")
    result = command("teach", "-o", "anywhere")
    assert result.code == 2
    assert "Put no_such_archive.tar.gz" in result.stderr
    assert "linebounce teach --lesson 1" in result.stderr


def _archive(folder: Path, name: str = "teach/index.html") -> None:
    with tarfile.open(folder / site.ARCHIVE, "w:gz") as archive:
        for file, text in {name: b"the page", "teach/assets/x.js": b"1", "teach/lessons.js": b"old"}.items():
            member = tarfile.TarInfo(file)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))


def test_the_archive_of_a_release_stands_in_for_the_built_page(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(site, "_INDEX", "no_such_index.html")
    _archive(tmp_path)
    result = command("teach", "-o", "out")
    assert result.code == 0, result.stderr
    assert (tmp_path / "out" / "index.html").read_text() == "the page"
    assert (tmp_path / "out" / "assets" / "x.js").read_text() == "1"
    assert (tmp_path / "out" / "lessons.js").read_text().startswith("window.LINEBOUNCE_LESSONS_PACKED=")
    _archive(tmp_path, "teach/../../stranger.html")
    assert command("teach", "-o", "out").code == 2
    assert not (tmp_path.parent / "stranger.html").exists()
    (tmp_path / site.ARCHIVE).write_bytes((tmp_path / site.ARCHIVE).read_bytes()[:60])
    damaged = command("teach", "-o", "out")
    assert damaged.code == 2
    assert "cannot be unpacked" in damaged.stderr


def test_the_page_is_served_on_this_machine_until_ctrl_c(executable: Path, page: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from linebounce.teach import site\n"
        f"site.built_page = lambda engine: Path({str(page)!r})\n"
        "from linebounce.teach.command import main; sys.exit(main(['--serve']))"
    )
    environment = {**os.environ, "LINEBOUNCE": str(executable), "PYTHONPATH": str(ROOT / "analysis")}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout
        assert server.stderr
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            assert answer.read() == b"<!doctype html>the page"
        with urllib.request.urlopen(f"{address}lessons.js") as answer:
            assert answer.read(40).startswith(b"window.LINEBOUNCE")
        server.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 60
        while server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (server.returncode, server.stderr.read()) == (0, "")
