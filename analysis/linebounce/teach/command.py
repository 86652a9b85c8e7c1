"""The command `linebounce teach`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from linebounce.commands import exit_code, parser_of
from linebounce.errors import UsageError
from linebounce.files import read_file, scratch_folder, write_file
from linebounce.own_folder import require_own_folder
from linebounce.teach.engine import Engine
from linebounce.usage import output_file, require_owners, whole_number
from linebounce.visible import print_line

_EXAMPLES = """Examples:
  linebounce teach                      lists the lessons
  linebounce teach -o site              writes the page: site/index.html opens in any browser, without a network
  linebounce teach --serve              serves it on this machine, and says where
  linebounce teach --lesson 1           plays lesson 1 in the terminal
  linebounce teach --lesson pre-test    ten questions to ask before the lessons
  linebounce teach --new my_lesson.md   a lesson to start from, which passes
  linebounce teach --check my_lesson.md  runs its scenes, holds its answers against them
  linebounce teach --hand-out coherence-1  an assignment for students, without its answers, in a folder
  linebounce teach --hand-out coherence-2 --roster ids.txt --seed SECRET  one of its own for each student
  linebounce teach --grade answers.toml  grades a student's answers (docs/teaching.md)
  linebounce teach --grade answers.toml --gradescope results.json        for an autograder; --junit, --csv alike
  linebounce teach --grade handed-in --class --csv grades.csv            a folder of answers, with statistics of each task
  linebounce teach --leaderboard handed-in --machine hidden.toml           the fastest of a class's locks that hold
  linebounce teach --questions 20 --protocol MOESI --seed 1 -o bank.xml  questions as .md, .xml (Moodle), .html or .json
  linebounce teach --slides slides       three lectures; notes and solutions are in slides-teacher

In the terminal: Enter goes on, b goes back, n leaves a question out, q ends.

Exit codes: 0 done; 1 an answer is wrong (--grade); 2 wrong usage, a lesson with a mistake, or a file that can't be
written; 3 a file that can't be read."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce teach", lambda: _teach(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Lessons on cache coherence: a page, played step by step by the simulator itself, or in the terminal"
    parser = parser_of("linebounce teach", description, _EXAMPLES, usage="[-o DIR | --serve | --lesson N | OPTION ...]")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="Write the page into this folder")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--serve", action="store_true", help="Serve the page on 127.0.0.1 until Ctrl-C")
    what.add_argument("--lesson", metavar="N", help="Play a lesson in the terminal: its number, its name, or a file")
    what.add_argument("--new", metavar="FILE", type=output_file("a lesson", ".md"), help="Write a lesson to start from")
    what.add_argument("--check", metavar="FILE", type=Path, nargs="+", help="Check lessons: scenes, moments and answers")
    what.add_argument("--grade", metavar="FILE", type=Path, help="Grade the answers in this file")
    what.add_argument(
        "--hand-out", metavar="NAME", help="Write an assignment's folder for students: questions, files to change"
    )
    what.add_argument(
        "--questions",
        metavar="N",
        type=whole_number(1, _MOST_QUESTIONS),
        help="Make N questions on --protocol; -o names their file",
    )
    what.add_argument(
        "--leaderboard", metavar="DIR", type=Path, help="Rank the locks STUDENT/lock.lua or lock.c in this folder on --machine"
    )
    what.add_argument(
        "--slides", metavar="DIR", type=Path, help="Write the slides of three lectures, and their solutions into DIR-teacher"
    )
    what.add_argument("--lessons-js", metavar="FILE", type=Path, help="Write only the lessons, as the page reads them")
    parser.add_argument("--assignment", metavar="FILE", type=Path, help="With --grade: use this file's questions and answers")
    _add_grading(parser)
    _add_making(parser)
    parser.add_argument("--port", metavar="N", type=whole_number(0, 65535), help="Port for --serve; default: any free one")
    parser.add_argument("--json", action="store_true", help="With --grade, or alone: print one JSON document")
    parsed = parser.parse_args(arguments)
    _require_fitting(parser, parsed)
    return parsed


def _add_grading(parser: argparse.ArgumentParser) -> None:
    grading = parser.add_argument_group("With --grade")
    grading.add_argument("--variants", metavar="DIR", type=Path, help="Use each student's own assignment, from DIR/STUDENT.md")
    grading.add_argument(
        "--class", dest="whole_class", action="store_true", help="Grade a folder, with statistics of each task"
    )
    grading.add_argument(
        "--gradescope", metavar="FILE", type=Path, help="Write Gradescope's results.json; with --leaderboard a folder of them"
    )
    grading.add_argument("--junit", metavar="FILE", type=Path, help="Write JUnit's XML")
    grading.add_argument("--csv", metavar="FILE", type=Path, help="Write a line for each student, for a gradebook")
    grading.add_argument("--no-feedback", action="store_true", help="Leave replies and counterexamples out of these files")
    grading.add_argument(
        "--hidden", metavar="TASK", action="append", default=[], help="Show this task only after grades are out"
    )


def _add_making(parser: argparse.ArgumentParser) -> None:
    making = parser.add_argument_group("With --hand-out or --questions")
    making.add_argument(
        "--roster", metavar="FILE", type=Path, help="The students' IDs, one a line: each gets their own assignment"
    )
    making.add_argument("--student", metavar="ID", help="Write only this student's folder")
    making.add_argument(
        "--seed", metavar="TEXT", default="", help="What variants and questions are drawn from; students don't get it"
    )
    parser.add_argument("--machine", metavar="M", help="With --leaderboard: a name, or a file that students don't have")
    parser.add_argument("--native", action="store_true", help="With --leaderboard: compile and run locks in C, STUDENT/lock.c")
    making.add_argument(
        "--protocol",
        metavar="P",
        help="With --questions: MSI, MESI, MESIF, MOESI, Dragon, Illinois, or any other table for a bus",
    )
    making.add_argument(
        "--level",
        choices=("easy", "mixed", "hard"),
        help="Difficulty of the questions: easy, mixed or hard; default: mixed",
    )


_MOST_QUESTIONS = 2000
# From an option to those to which it belongs: it has no effect without one of them.
_OWNERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("assignment", "variants", "whole_class", "junit", "csv", "no_feedback", "hidden"), ("grade",)),
    "gradescope": ("grade", "leaderboard"),
    "roster": ("hand_out",),
    "seed": ("hand_out", "questions"),
    **dict.fromkeys(("protocol", "level"), ("questions",)),
    **dict.fromkeys(("machine", "native"), ("leaderboard",)),
    "port": ("serve",),
}
_WITHOUT_JSON = ("serve", "lesson", "new", "check", "hand_out", "questions", "slides", "lessons_js", "output")


def _require_fitting(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> None:
    require_owners(parser, parsed, _OWNERS)
    if parsed.json and any(getattr(parsed, one) for one in _WITHOUT_JSON):
        parser.error("--json is for the list of lessons, --grade and --leaderboard")
    if parsed.leaderboard and not parsed.machine:
        parser.error("--leaderboard needs --machine")
    if parsed.student and not parsed.roster:
        parser.error("--student needs --roster: which mistake a student gets depends on the class")
    if parsed.questions is not None and not parsed.protocol:
        parser.error("--questions needs --protocol")
    others = ("lesson", "new", "check", "grade", "leaderboard", "slides", "lessons_js")
    if parsed.output and (parsed.serve or any(getattr(parsed, one) is not None for one in others)):
        parser.error("--output is for the page, --hand-out and --questions")


def _teach(arguments: argparse.Namespace) -> int:
    for folder in _folders(arguments):
        require_own_folder(folder)
    engine = Engine()
    for name, work in _WORK.items():
        if getattr(arguments, name):
            return work(engine, arguments)
    return _list(engine, arguments)


def _folders(arguments: argparse.Namespace) -> list[Path]:
    """The folders that the command fills. --hand-out refuses any folder that exists."""
    if arguments.slides:
        from linebounce.teach.handout import folder_for_teacher  # noqa: PLC0415

        return [arguments.slides, folder_for_teacher(arguments.slides)]
    if arguments.leaderboard:
        return [arguments.gradescope] if arguments.gradescope else []
    is_page = arguments.output and arguments.hand_out is None and arguments.questions is None
    return [arguments.output] if is_page else []


# Each subcommand imports its own modules: the Markdown parser and Rich load slowly.


def _list(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.listing import list_lessons  # noqa: PLC0415

    return list_lessons(engine, arguments.json)


def _write(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.site import write_site  # noqa: PLC0415

    print_line(write_site(engine, arguments.output))
    return 0


def _serve(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.site import serve, write_site  # noqa: PLC0415

    with scratch_folder() as directory:
        write_site(engine, directory)
        serve(directory, arguments.port or 0)
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
    print_line(path)
    return 0


def _check(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.compiler import compile_lesson  # noqa: PLC0415
    from linebounce.teach.lesson import read_lesson  # noqa: PLC0415

    for path in arguments.check:
        lesson = compile_lesson(engine, read_lesson(path))
        kinds = [part["kind"] for part in lesson["parts"]]
        counts = f"{kinds.count('scene')} scenes, {kinds.count('question')} questions, {kinds.count('break')} to break"
        print_line(f"{path}: {counts}: all hold")
    return 0


def _grade(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.grade import Sheet, grade  # noqa: PLC0415
    from linebounce.teach.grade_files import GradeFiles  # noqa: PLC0415
    from linebounce.teach.item_statistics import grade_class  # noqa: PLC0415

    files = GradeFiles(arguments.gradescope, arguments.junit, arguments.csv, not arguments.no_feedback, tuple(arguments.hidden))
    sheet = Sheet(arguments.assignment, arguments.variants)
    work = grade_class if arguments.whole_class else grade
    return work(engine, arguments.grade, sheet, as_json=arguments.json, files=files)


def _hand_out(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.handout import Class, hand_out, hand_out_class  # noqa: PLC0415
    from linebounce.teach.library import Library  # noqa: PLC0415
    from linebounce.teach.variant import is_varied, read_roster  # noqa: PLC0415

    named = Path(arguments.hand_out)
    file = named if named.suffix == ".md" else Library(engine).assignment(arguments.hand_out)
    folder = arguments.output or Path(file.stem)
    if is_varied(file) and not arguments.roster:
        raise UsageError(f"{file.stem} is another one for each student: give --roster FILE with their IDs, and --seed TEXT")
    if arguments.roster and not arguments.seed:
        raise UsageError("--roster needs --seed TEXT, from which the variants are drawn; keep it from the students")
    if not arguments.roster:
        print_line(hand_out(engine, file, folder))
        return 0
    to = Class(read_roster(arguments.roster), arguments.seed, arguments.student or "")
    for written in hand_out_class(engine, file, folder, to):
        print_line(written)
    return 0


def _leaderboard(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.leaderboard import Race, leaderboard  # noqa: PLC0415

    race = Race(arguments.machine, arguments.native)
    return leaderboard(engine, arguments.leaderboard, race, arguments.gradescope, as_json=arguments.json)


def _questions(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.question_files import FORMS  # noqa: PLC0415
    from linebounce.teach.questions import make_questions  # noqa: PLC0415

    form = FORMS.get(arguments.output.suffix if arguments.output else ".md")
    if form is None:
        raise UsageError(f"{arguments.output}: the file's extension says what to write; legal: {', '.join(FORMS)}")
    questions = make_questions(engine, arguments.questions, arguments.protocol, arguments.seed, arguments.level or "mixed")
    text = form(questions, f"Questions on {arguments.protocol}")
    if arguments.output:
        write_file(arguments.output, text.encode())
        print_line(arguments.output)
    else:
        print(text, end="")
    return 0


def _slides(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.slide_page import write_slides  # noqa: PLC0415

    for written in write_slides(engine, arguments.slides):
        print_line(written)
    return 0


def _lessons_js(engine: Engine, arguments: argparse.Namespace) -> int:
    from linebounce.teach.library import Library, script  # noqa: PLC0415

    write_file(arguments.lessons_js, script(Library(engine).compiled()).encode())
    print_line(arguments.lessons_js)
    return 0


_WORK: dict[str, Callable[[Engine, argparse.Namespace], int]] = {
    "questions": _questions,
    "leaderboard": _leaderboard,
    "serve": _serve,
    "lesson": _play,
    "new": _new,
    "check": _check,
    "grade": _grade,
    "hand_out": _hand_out,
    "lessons_js": _lessons_js,
    "slides": _slides,
    "output": _write,
}


if __name__ == "__main__":
    sys.exit(main())
