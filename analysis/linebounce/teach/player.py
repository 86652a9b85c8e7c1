"""Plays a lesson in the terminal, with the same steps, sentences and questions as the page."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.syntax import Syntax

from linebounce.console import output
from linebounce.errors import InputError
from linebounce.files import scratch_folder
from linebounce.teach import answers
from linebounce.teach.compiler import Compiled, Compiler, verdict_of
from linebounce.teach.engine import Engine, EngineError
from linebounce.teach.lesson import Break, Lesson, Moment, Question, Scene, read_lesson
from linebounce.teach.marking import mark
from linebounce.teach.source import Block, read_text

_COLUMNS = 100
# The number of steps shown of a longer span: its last ones.
_MOST_STEPS = 24
_HELP = "Enter: continue, b: back, n: skip, q: quit"


class _EndError(Exception):
    """Raised when the reader quits, or when the input ends."""


class _BackError(Exception):
    """Raised when the reader goes back to the previous part."""


class _SkipError(Exception):
    """Raised when the reader skips the question."""


@dataclass
class Player:
    console: Console
    engine: Engine
    lesson: Lesson
    compiler: Compiler
    compiled: Compiled
    folder: Path
    first_tries: dict[str, bool] = field(default_factory=dict)
    shown: tuple[str, int] = ("", -1)  # the scene and step shown last

    def play(self) -> None:
        table = self.lesson.table
        self.console.print(Markdown(f"# {self.lesson.title}"))
        self.console.print(Markdown(table.text("goal")))
        self._say(f"\nAbout {table.values['minutes']} minutes. {_HELP}")
        try:
            self._all_parts()
            self._ending()
        except _EndError:
            self._say("")
        self._score()

    def _all_parts(self) -> None:
        place = 0
        while place < len(self.lesson.parts):
            try:
                self._part(place)
                place += 1
            except _SkipError:
                place += 1
            except _BackError:
                place = self._before(place)

    def _before(self, place: int) -> int:
        """The last part before `place` that waits for the reader. Prose and scenes don't wait."""
        place -= 1
        while place > 0 and isinstance(self.lesson.parts[place], Block | Scene):
            place -= 1
        return max(place, 0)

    def _part(self, place: int) -> None:
        part, compiled = self.lesson.parts[place], self.compiled["parts"][place]
        self._say("")
        if isinstance(part, Block):
            self.console.print(Markdown(part.plain))
        elif isinstance(part, Scene):
            self._scene(part, compiled)
        elif isinstance(part, Moment):
            self._steps(part.scene, compiled["step"], compiled["step"])
            self.console.print(Markdown(part.say))
            self._pause()
        elif isinstance(part, Question):
            self._question(part, compiled)
        else:
            self._break(part, compiled)

    # ---- what is shown ----

    def _scene(self, scene: Scene, compiled: Compiled) -> None:
        self._say(f"[bold]The machine[/bold] of {escape(scene.name)}")
        self.console.print(Syntax(scene.block.text.rstrip(), "toml", background_color="default"))
        if compiled["program"]:
            self._say(f"[bold]Its program[/bold], {escape(compiled['file'])}")
            self.console.print(Syntax(compiled["program"].rstrip(), "lua", background_color="default", line_numbers=True))

    def _steps(self, scene: str, begin: int, end: int) -> None:
        """Shows the steps of a scene from `begin` to `end`, and the copies in the caches at `end`."""
        if not scene or (begin == end and self.shown == (scene, end)):
            return
        self.shown = (scene, end)
        run = self.compiler.played[scene].run
        told = run["sentences"][begin:end]
        if len(told) > _MOST_STEPS:
            self._say(f"  … {len(told) - _MOST_STEPS} steps, and then")
            told = told[-_MOST_STEPS:]
        for sentence in told:
            self._say(f"  {escape(sentence)}")
        self._say(f"[bold]Step {end} of {len(run['log'])}[/bold]")
        for line in answers.copies(answers.Span(run, begin, end)):
            self._say(f"  {escape(line)}")

    def _question(self, question: Question, compiled: Compiled) -> None:
        self._steps(question.scene, compiled["step"], compiled["step"])
        self.console.print(Markdown(question.table.text("ask")))
        for number, choice in enumerate(compiled["choices"], 1):
            self._say(f"  {number}  {escape(choice)}")
        while True:
            given = self._given(question, compiled)
            marked = mark(question, compiled, given)
            self.first_tries.setdefault(question.id, marked.right)
            self._say("[green]Right.[/green]" if marked.right else "[red]Not quite.[/red]")
            if marked.right:
                break
            self.console.print(Markdown(marked.says))
        self._steps_of(question, compiled)
        self.console.print(Markdown(marked.says))

    def _steps_of(self, question: Question, compiled: Compiled) -> None:
        if compiled["then_step"] > compiled["step"]:
            self._steps(question.scene, compiled["step"], compiled["then_step"])

    def _given(self, question: Question, compiled: Compiled) -> Any:
        """The answer as the text of its choice. Choices are given by number or by words; several are separated by
        commas or blanks."""
        several = question.kind == "multiple"
        prompt = {"multiple": "Numbers of all that are right", "number": "A number", "text": "Your answer"}
        while True:
            text = self._input(f"{prompt.get(question.kind, 'Number of the answer')}: ")
            if text == "n":
                self._solution(question, compiled)
                raise _SkipError
            words = text.replace(",", " ").split() if several else [text]
            given = [_choice(word, compiled["choices"]) for word in words if word]
            if given and (question.kind in ("number", "text") or all(one is not None for one in given)):
                return given if several else given[0]
            choices = f" from 1 to {len(compiled['choices'])}" if compiled["choices"] else ""
            expected = {"multiple": "Numbers", "text": "A word or more"}.get(question.kind, "A number")
            self._say(f"  {expected}{choices}, or n, b, q.")

    def _solution(self, question: Question, compiled: Compiled) -> None:
        self.first_tries.setdefault(question.id, False)
        answer = compiled["answer"]
        self._say(f"  The answer: {escape(', '.join(map(str, answer)) if isinstance(answer, list) else str(answer))}")
        self._steps_of(question, compiled)
        self.console.print(Markdown(question.table.text("right")))

    def _break(self, task: Break, compiled: Compiled) -> None:
        self.console.print(Markdown(task.table.text("ask")))
        file = self.engine.root / compiled["path"]
        where = str(file) if file.is_file() and not task.given else compiled["path"]
        self._say(f"  The file: {escape(where)}. Change a copy of it.")
        while True:
            text = self._input("Your changed copy (Enter: show what to change): ", keep=True)
            if text in ("", "n"):
                self._show_change(task)
                return
            if self._tried(task, Path(text).expanduser()):
                return

    def _show_change(self, task: Break) -> None:
        for old, new in task.solution:
            self._say(f"[red]- {escape(old.strip())}[/red]\n[green]+ {escape(new.strip())}[/green]")
        self.console.print(Markdown(task.table.text("right")))

    def _tried(self, task: Break, file: Path) -> bool:
        try:
            verdict = verdict_of(self.engine, task, read_text(file), self.folder)
        except (EngineError, InputError) as error:
            self._say(f"  {escape(str(error))}")
            return False
        reached = verdict.holds == (task.until == "holds")
        self._say(escape(verdict.text or ("It holds." if verdict.holds else "It is broken.")))
        self.console.print(Markdown(task.table.text("right" if reached else "wrong")))
        return reached

    def _ending(self) -> None:
        table = self.lesson.table
        if table.text("command"):
            self._say("\n[bold]The same, large[/bold]")
            self._say(f"  {escape(table.text('command'))}\n")
            self._say(escape(self.compiled["shows"]))
        if table.text("papers"):
            self.console.print(Markdown(f"**Measured**: {table.text('papers')}"))

    def _score(self) -> None:
        if self.first_tries:
            right = sum(self.first_tries.values())
            self._say(f"\n{right} of {len(self.first_tries)} right at the first try")

    # ---- input ----

    def _pause(self) -> None:
        self._input("", keep=False)

    def _input(self, prompt: str, *, keep: bool = True) -> str:
        """Reads a line. If it comes from a pipe, prints it, as a terminal would have shown it."""
        shown = prompt or f"({_HELP}) "
        self.console.print(escape(shown), end="")
        line = sys.stdin.readline()
        if not line:
            self._say("")
            raise _EndError
        text = line.strip()
        if not sys.stdin.isatty():
            self._say(escape(text))
        if text == "q":
            raise _EndError
        if text == "b":
            raise _BackError
        return text if keep else ""

    def _say(self, text: str) -> None:
        self.console.print(text, soft_wrap=False)


def _choice(word: str, choices: list[str]) -> str | None:
    """The choice with this number or these words. Without choices, returns the word itself."""
    if not choices:
        return word or None
    if word.isdecimal() and 1 <= int(word) <= len(choices):
        return choices[int(word) - 1]
    same = [choice for choice in choices if choice.casefold() == word.casefold()]
    return same[0] if same else None


def play(engine: Engine, path: Path) -> int:
    """Returns 0 however many answers are right."""
    lesson = read_lesson(path)
    with scratch_folder() as folder:
        compiler = Compiler(engine, lesson, folder)
        compiled = compiler.compile()
        Player(output(_COLUMNS), engine, lesson, compiler, compiled, folder).play()
    return 0
