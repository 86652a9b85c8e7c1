"""`linebounce teach --leaderboard`: a class's locks, checked and then ranked on a machine that the students don't have."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import gradescope_schema
import pytest
from linebounce.teach.leaderboard import Ranked, rank
from linebounce.teach.lock_source import refusal
from program import ROOT, Program, Result

Command = Callable[..., Result]

LOCKS = ROOT / "programs" / "locks"
HIDDEN = ROOT / "configs" / "machines" / "p3_xeon_4way.toml"


def test_locks_that_hold_are_ranked_and_others_say_why_not(command: Command, tmp_path: Path) -> None:
    test_of_turn = "if cpu:load_acquire(lock.serving) == mine then return false end"
    texts = {
        "ada": (LOCKS / "mcs.lua").read_text(),
        "bob": (LOCKS / "tas.lua").read_text(),
        "dan": (LOCKS / "ticket.lua").read_text().replace(test_of_turn, "do return false end"),  # enters before its turn
        "eve": "no lock",
    }
    for student, text in texts.items():
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / "lock.lua").write_text(text)
    shutil.copy(HIDDEN, tmp_path / "hidden.toml")
    (tmp_path / "scores").mkdir()
    scores = ["--gradescope", tmp_path / "scores"]
    done = command("teach", "--leaderboard", tmp_path / "in", "--machine", tmp_path / "hidden.toml", "--json", *scores)
    assert done.code == 0, done.stderr
    ranked = {one["student"]: one for one in json.loads(done.stdout)}
    assert sorted((ranked["ada"]["rank"], ranked["bob"]["rank"])) == [1, 2]
    assert min(ranked["ada"]["per_s"], ranked["bob"]["per_s"]) > 1000
    assert [ranked[student]["rank"] for student in ("dan", "eve")] == [0, 0]
    assert "hold the lock" in ranked["dan"]["says"]
    assert "/" not in ranked["dan"]["says"]
    assert ranked["eve"]["says"]
    eve = json.loads((tmp_path / "scores" / "eve.json").read_text())
    assert eve["tests"][0]["status"] == "failed"
    ada = json.loads((tmp_path / "scores" / "ada.json").read_text())
    assert ada["leaderboard"][0]["value"] == round(ranked["ada"]["per_s"])
    assert "hidden" not in (tmp_path / "scores" / "ada.json").read_text()
    for student in texts:
        gradescope_schema.require_valid(json.loads((tmp_path / "scores" / f"{student}.json").read_text()))


@pytest.mark.parametrize("name", ["lock.lua", "lock.c"])
@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "device"])
def test_a_pipe_in_place_of_a_lock_keeps_nobody_waiting(linebounce: Program, tmp_path: Path, name: str, kind: str) -> None:
    """A student's folder could otherwise stop the grading of the whole class."""
    lock = tmp_path / "in" / "eve" / name
    lock.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(lock)
    else:
        os.mkfifo(tmp_path / "pipe")
        lock.symlink_to(tmp_path / "pipe" if kind == "link to a pipe" else "/dev/zero")
    (tmp_path / "in" / "ada").mkdir()
    shutil.copy(LOCKS / "tas.lua", tmp_path / "in" / "ada" / "lock.lua")
    done = linebounce("teach", "--leaderboard", tmp_path / "in", "--machine", HIDDEN, "--native", "--json", timeout=120)
    assert done.code == 0, done.stderr
    ranked = {one["student"]: one for one in json.loads(done.stdout)}
    assert ranked["ada"]["rank"] == 1
    assert "not a regular file" in ranked["eve"]["says"] or "is a link" in ranked["eve"]["says"]


def test_a_students_name_stays_in_the_folder_of_scores(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "in" / "a\x1b[2Jb"
    folder.mkdir(parents=True)
    shutil.copy(LOCKS / "tas.lua", folder / "lock.lua")
    scores = ["--gradescope", tmp_path / "scores"]
    done = command("teach", "--leaderboard", tmp_path / "in", "--machine", HIDDEN, *scores)
    assert (done.code, done.stderr.count("\n")) == (2, 1)
    assert "it has a character that acts on a terminal" in done.stderr
    assert not (tmp_path / "scores").exists()


def test_locks_in_c_run_only_with_consent_and_without_the_teachers_files(command: Command, tmp_path: Path) -> None:
    ticket = (LOCKS / "ticket.c").read_text()
    secret = tmp_path / "secret.h"
    secret.write_text("the_hidden_machine")
    texts = {
        "ada": ticket,
        "bob": ticket.replace("!= mine) linebounce_pause();", "!= mine) break;"),  # enters before its turn
        "dan": f'#include "{secret}"\n{ticket}',
        "eve": f"{ticket}\nint system(const char *);\n__attribute__((constructor)) void f(void) {{ system(0); }}\n",
    }
    for student, text in texts.items():
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / "lock.c").write_text(text)
    words = ["teach", "--leaderboard", tmp_path / "in", "--machine", HIDDEN, "--json"]
    assert {(one["rank"], "--native" in one["says"]) for one in json.loads(command(*words).stdout)} == {(0, True)}
    ranked = {one["student"]: one for one in json.loads(command(*words, "--native").stdout)}
    assert {student: one["rank"] for student, one in ranked.items()} == {"ada": 1, "bob": 0, "dan": 0, "eve": 0}
    assert ranked["ada"]["per_s"] > 1000
    assert "hold the lock" in ranked["bob"]["says"]
    assert "includes <linebounce/lock.h>" in ranked["dan"]["says"]
    assert "calls system" in ranked["eve"]["says"]
    assert "the_hidden_machine" not in json.dumps(ranked)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("#include <linebounce/lock.h>\n # include <stdint.h> // why\n#define A 1\n#if A\n#endif\n#pragma once\n", False),
        ("#define LONG(a) \\\n  (a + #a)\nint a;  // as in #include\n", False),
        ('const char *a = "/*";\nint b; /*\n#include "x"\n*/', True),
        ('\ufeff#include "x"', True),
        ('// x??/\n#include "x"', True),
        ('#define A "/*\n#include "x"\n#define B */', True),
        ('#define A \'/*\n#include "x"\n#define B */', True),
        ('const char *a = R"(" /* )";\n#include "x"\n/* */', True),
        ('\0#include "x"', True),
        ('_Pragma("GCC dependency \\"x\\"")', True),
        ("#if __has_include(</etc/passwd>)\n#endif", True),
        ("// linebounce includes from: /etc", True),
        ('#line 1 "/etc/passwd"', True),
        ('# 1 "/etc/passwd"', True),
        ('#inc\\ \nlude "x"', True),
        ('#include "/etc/passwd"', True),
        ("#include </etc/passwd>", True),
        ('#define A "/etc/passwd"\n#include A', True),
        ('#inc\\\nlude "x"', True),
        ('%:include "x"', True),
        ('/* */ #include "x"', True),
        ('#/**/include "x"', True),
        ('const char *a = "/*";\n#include "x"\n// */', True),
        ('#embed "x"', True),
        ('#include_next "x"', True),
        ('#pragma GCC dependency "x"', True),
    ],
)
def test_a_lock_in_c_includes_only_what_a_lock_needs(text: str, refused: bool) -> None:
    assert bool(refusal(text)) == refused


def test_equal_locks_share_a_rank_and_broken_ones_come_last() -> None:
    tried = [Ranked("a", 0, 5, ""), Ranked("b", 0, 0, "why"), Ranked("c", 0, 7, ""), Ranked("d", 0, 5, "")]
    assert [(one.student, one.rank) for one in rank(tried)] == [("c", 1), ("a", 2), ("d", 2), ("b", 0)]


def test_a_folder_without_locks_and_a_missing_machine_are_refused(command: Command, tmp_path: Path) -> None:
    done = command("teach", "--leaderboard", tmp_path, "--machine", "p3_xeon_4way")
    assert done.code == 3
    assert "no STUDENT/lock.lua or STUDENT/lock.c" in done.stderr
    assert command("teach", "--leaderboard", tmp_path).code == 2
