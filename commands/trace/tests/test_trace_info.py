"""`trace info` and `trace convert`, as a user meets them."""

import json
import os
import shutil
from pathlib import Path

import pytest
from program import ROOT, Program

CORPUS = ROOT / "tests" / "fuzz" / "corpus"


@pytest.fixture
def in_corpus(linebounce: Program) -> Program:
    """The program, in a directory with the corpus's traces."""
    for file in CORPUS.glob("*.*"):
        shutil.copy(file, linebounce.directory)
    return linebounce


def done(linebounce: Program, *arguments: str) -> str:
    result = linebounce("trace", *arguments)
    assert result.code == 0, result.stderr
    return result.stdout


def test_info_shows_what_is_in_a_trace(in_corpus: Program) -> None:
    shown = done(in_corpus, "info", "all_kinds.lbt", "--check")
    for part in (
        "43 in 3 streams; 2 058 accesses to memory",
        "dbench 8",
        "linebounce trace record dcache_dbench",
        "p3_xeon_8way; misses: 17 local_c2c, 4 memory",
        "No kernel.",
        "worker                any             6",
        "rq                              2           1           2           3",
        "mutex#1                 1              0              1              1  pthread_mutex",
        "lists::Table<int, long>::find(int const&)             1",
        "checked",
    ):
        assert part in shown


def test_info_is_the_same_for_text_and_binary_traces(in_corpus: Program) -> None:
    shown = [json.loads(done(in_corpus, "info", name, "--json")) for name in ("all_kinds.lbt", "all_kinds.txt")]
    for each in shown:
        del each["file"], each["fingerprint"]
    assert shown[0] == shown[1]
    assert shown[0]["schema"] == "linebounce.trace_info/1"
    assert shown[0]["kinds"]["fetch_add"] == 1
    assert shown[0]["objects"][1] == {
        "structure": "rq",
        "objects": 2,
        "bytes": 256,
        "loads": 1,
        "stores": 2,
        "atomics": 3,
        "streams": 1,
        "writers": 1,
    }


def test_top_shortens_tables_and_says_so(in_corpus: Program) -> None:
    shown = done(in_corpus, "info", "all_kinds.lbt", "--top", "1")
    assert "and 2 more streams" in shown
    assert "and 2 more locks" in shown
    assert "rq[0].lock" not in shown


def test_nothing_is_lost_from_one_form_to_the_other_and_back(in_corpus: Program) -> None:
    done(in_corpus, "convert", "all_kinds.txt", "a.lbt")
    done(in_corpus, "convert", "a.lbt", "a.txt")
    done(in_corpus, "convert", "a.txt", "b.lbt")
    done(in_corpus, "convert", "b.lbt", "b.txt")

    def bytes_of(name: str) -> bytes:
        return (in_corpus.directory / name).read_bytes()

    assert bytes_of("a.lbt") == bytes_of("b.lbt")
    assert bytes_of("a.txt") == bytes_of("b.txt")
    assert sorted(bytes_of("a.txt").splitlines()) == sorted(bytes_of("all_kinds.txt").splitlines())


def test_a_cut_off_trace_is_refused_and_recovered(in_corpus: Program) -> None:
    refused = in_corpus.refused("trace", "info", "cut_off.lbt", code=3)
    assert "cut_off.lbt: byte 700: no index at the end" in refused
    assert "--recover" in refused
    assert "damaged" in done(in_corpus, "info", "cut_off.lbt", "--recover")
    assert "cut_off.lbt is damaged:\nbyte 700" in in_corpus("trace", "convert", "--recover", "cut_off.lbt", "whole.lbt").stderr
    assert "What was lost with a damaged file" in done(in_corpus, "info", "whole.lbt", "--check")


def test_check_refuses_a_lock_held_at_the_end_with_its_line(in_corpus: Program) -> None:
    in_corpus.file("wrong.txt", "linebounce trace 1\nlock l\nstream main\nmain acquire l\nend\n")
    done(in_corpus, "info", "wrong.txt")
    refused = in_corpus.refused("trace", "info", "wrong.txt", "--check", code=3)
    assert "wrong.txt: line 4: stream 0 (main), operation 0: the stream ends here and holds l" in refused


def test_the_trace_in_the_documentation_is_valid(linebounce: Program) -> None:
    """The trace in the documentation."""
    text = (ROOT / "docs" / "trace-format.md").read_text().split("```")[1].lstrip("\n")
    linebounce.file("lesson.txt", text)
    assert "11 in 2 streams" in done(linebounce, "info", "lesson.txt", "--check")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("info", "nothing.lbt"), 3, "nothing.lbt: there is no such file"),
        (("info", "."), 3, ".: this is a folder, not a file"),
        (("info", "manifest.json"), 3, "manifest.json: byte 0: this is not a trace"),
        (("convert", "all_kinds.lbt", "all_kinds.lbt"), 2, "OUT is the file that is read; name another"),
        (("convert", "all_kinds.lbt", "no/such/place.lbt"), 2, "no/such/place.lbt: cannot be written: No such"),
        (("convert", "all_kinds.lbt", "/dev/full"), 2, "/dev/full: cannot be written: No space left on device"),
        (("convert", "--from", "tracee", "all_kinds.lbt", "b.lbt"), 2, 'form "tracee" is not known'),
    ],
)
def test_an_impossible_request_is_reported(in_corpus: Program, arguments: tuple[str, ...], code: int, said: str) -> None:
    in_corpus.file("manifest.json", "{}\n")
    assert said in in_corpus.refused("trace", *arguments, code=code)


def test_a_pipe_is_not_waited_for(in_corpus: Program) -> None:
    os.mkfifo(in_corpus.directory / "pipe.lbt")
    refused = in_corpus.refused("trace", "info", "pipe.lbt", code=3, timeout=30)
    assert refused == "linebounce: pipe.lbt: a trace is a regular file, which this is not\n"


def test_a_killed_writers_file_can_be_recovered(in_corpus: Program) -> None:
    content = (in_corpus.directory / "all_kinds.lbt").read_bytes()
    for length in range(28, len(content), 50):
        torn: Path = in_corpus.file("torn.lbt", content[:length])
        assert in_corpus("trace", "info", torn, "--recover").code == 0
