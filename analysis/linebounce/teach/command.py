"""The command `linebounce teach`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from linebounce.commands import exit_code, parser_of
from linebounce.errors import UsageError
from linebounce.files import read_file, scratch_folder, write_file
from linebounce.teach.engine import Engine

_EXAMPLES = """Examples:
  linebounce teach                      lists the lessons
  linebounce teach -o site              writes the page: site/index.html opens in any browser, without a network
  linebounce teach --serve              serves it on this machine, and says where
  linebounce teach --lesson 1           plays lesson 1 in the terminal
  linebounce teach --lesson pre-test    ten questions to ask before the lessons
  linebounce teach --new my_lesson.md   a lesson to start from, which passes
  linebounce teach --check my_lesson.md  runs its scenes, holds its answers against them
  linebounce teach --hand-out coherence-1  an assignment for students, without its answers, in a folder
  linebounce teach --grade answers.toml  grades a student's answers (docs/teaching.md)

In the terminal: Enter goes on, b goes back, n leaves a question out, q ends.

Exit codes: 0 done; 1 an answer is wrong (--grade); 2 wrong usage, a lesson with a mistake, or a file that can't be
written; 3 a file that can't be read."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce teach", lambda: _teach(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Lessons on cache coherence: a page, played step by step by the simulator itself, or in the terminal."
    parser = parser_of("linebounce teach", description, _EXAMPLES, usage="[-o DIR | --serve | --lesson N | OPTION ...]")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-o", "--output", metavar="DIR", type=Path, help="Write the page into this folder")
    what.add_argument("--serve", action="store_true", help="Serve the page on 127.0.0.1 until Ctrl-C")
    what.add_argument("--lesson", metavar="N", help="Play a lesson in the terminal: its number, its name, or a file")
    what.add_argument("--new", metavar="FILE", type=Path, help="Write a lesson to start from")
    what.add_argument("--check", metavar="FILE", type=Path, nargs="+", help="Check lessons: scenes, moments and answers")
    what.add_argument("--grade", metavar="FILE", type=Path, help="Grade the answers in this file")
    what.add_argument(
        "--hand-out", metavar="NAME", help="Write an assignment's folder for students: questions, files to change"
    )
    what.add_argument("--lessons-js", metavar="FILE", type=Path, help="Write only the lessons, as the page reads them")
    parser.add_argument("--assignment", metavar="FILE", type=Path, help="With --grade: use this file's questions and answers")
    parser.add_argument("--port", metavar="N", type=int, default=0, help="Port for --serve; default: any free one")
    parser.add_argument("--json", action="store_true", help="With --grade, or alone: print one JSON document")
    parsed = parser.parse_args(arguments)
    if parsed.assignment and not parsed.grade:
        parser.error("--assignment needs --grade")
    if not 0 <= parsed.port <= 65535:
        parser.error(f"--port: {parsed.port} is out of range; legal: 0 to 65535")
    return parsed


def _teach(arguments: argparse.Namespace) -> int:
    engine = Engine()
    for name, work in _WORK.items():
        if getattr(arguments, name):
            return work(engine, arguments)
    return _list(engine, arguments)


# Each subcommand imports its own modules: the Markdown parser and Rich load slowly.


def _list(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.listing import list_lessons  # noqa: PLC0415

    return list_lessons(engine, arguments.json)


def _write(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.site import write_site  # noqa: PLC0415

    print(write_site(engine, arguments.output))
    return 0


def _serve(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.site import serve, write_site  # noqa: PLC0415

    with scratch_folder() as directory:
        write_site(engine, directory)
        serve(directory, arguments.port)
    return 0


def _play(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.library import Library  # noqa: PLC0415
    from linebounce.teach.player import play  # noqa: PLC0415

    return play(engine, Library(engine).find(arguments.lesson))


def _new(engine: Engine, arguments: argparse.Namespace) -> int:
    path = arguments.new if arguments.new.suffix == ".md" else arguments.new.with_name(f"{arguments.new.name}.md")
    if path.exists():
        raise UsageError(f"{path} exists already; nothing was written")
    write_file(path, read_file(engine.root / "teach" / "new-lesson.md"))
    print(path)
    return 0


def _check(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.compiler import compile_lesson  # noqa: PLC0415
    from linebounce.teach.lesson import read_lesson  # noqa: PLC0415

    for path in arguments.check:
        lesson = compile_lesson(engine, read_lesson(path))
        kinds = [part["kind"] for part in lesson["parts"]]
        counts = f"{kinds.count('scene')} scenes, {kinds.count('question')} questions, {kinds.count('break')} to break"
        print(f"{path}: {counts}: all hold")
    return 0


def _grade(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.grade import grade  # noqa: PLC0415

    return grade(engine, arguments.grade, arguments.assignment, as_json=arguments.json)


def _hand_out(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.handout import hand_out  # noqa: PLC0415
    from linebounce.teach.library import Library  # noqa: PLC0415

    named = Path(arguments.hand_out)
    file = named if named.suffix == ".md" else Library(engine).assignment(arguments.hand_out)
    print(hand_out(engine, file, Path(file.stem)))
    return 0


def _lessons_js(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.library import Library, script  # noqa: PLC0415

    write_file(arguments.lessons_js, script(Library(engine).compiled()).encode())
    print(arguments.lessons_js)
    return 0


_WORK: dict[str, Callable[[Engine, argparse.Namespace], int]] = {
    "output": _write,
    "serve": _serve,
    "lesson": _play,
    "new": _new,
    "check": _check,
    "grade": _grade,
    "hand_out": _hand_out,
    "lessons_js": _lessons_js,
}


if __name__ == "__main__":
    sys.exit(main())
