"""Prepares a lesson for playing. Runs every scene, finds the step of every moment, and checks every answer against the run.
Checks every table that the reader is asked to break with the protocol checker."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linebounce.errors import malformed, meant
from linebounce.files import scratch_folder, write_file
from linebounce.own_folder import inner_path
from linebounce.teach import answers
from linebounce.teach.engine import Document, Engine, EngineError, Verdict, place_in
from linebounce.teach.lesson import Break, Lesson, Moment, Question, Scene
from linebounce.teach.source import Block, LessonError, html, read_text

Compiled = dict[str, Any]

_STATE_CONTROLLER = "cache"


@dataclass
class Played:
    """A scene with its finished run."""

    scene: Scene
    experiment: str  # the experiment's whole text
    file: Path
    run: Document
    steps: dict[str, int] = field(default_factory=dict)  # the step of each requested moment


@dataclass
class Compiler:
    engine: Engine
    lesson: Lesson
    folder: Path
    played: dict[str, Played] = field(default_factory=dict)
    place: dict[str, str] = field(default_factory=dict)  # by scene: the moment up to which the lesson has been read

    @property
    def path(self) -> Path:
        return self.lesson.path

    def compile(self) -> Compiled:
        for name, block in self.lesson.programs.items():
            write_file(inner_path(self.folder, f"{name}.lua"), block.text.encode())
        for scene in self.lesson.scenes.values():
            self.played[scene.name] = self._play(scene)
        self._find_moments()
        table = self.lesson.table
        return {
            "number": self.lesson.number,
            "slug": self.lesson.slug,
            "title": self.lesson.title,
            "minutes": table.values["minutes"],
            "goal": table.text("goal"),
            "command": table.text("command"),
            "shows": str(table.values.get("shows", "")).strip("\n"),
            "papers": html(table.text("papers")),
            "parts": [self._part(part) for part in self.lesson.parts],
        }

    # ---- scenes ----

    def _play(self, scene: Scene) -> Played:
        text = self._experiment(scene)
        file = inner_path(self.folder, f"{scene.name}.toml")
        write_file(file, text.encode())
        try:
            run = self.engine.steps(file)
        except EngineError as error:
            raise self._scene_error(scene, str(error)) from None
        if run.get("cut"):
            raise LessonError(self.path, scene.block.line, "this scene has more steps than a lesson can show: make it shorter")
        return Played(scene, text, file, run)

    def _experiment(self, scene: Scene) -> str:
        """The scene's text with what all scenes share. The shared part comes where it leaves the scene's line numbers
        unchanged."""
        try:
            values = tomllib.loads(scene.block.text)
        except tomllib.TOMLDecodeError as error:
            found = str(error).partition("(at line ")[2].partition(",")[0]
            line = scene.block.line + (int(found) - 1 if found.isdecimal() else 0)
            raise LessonError(self.path, line, malformed("TOML", scene.block.text, error, numbered=False)) from None
        head = "".join(f'{key} = "{scene.name}"\n' for key in ("name", "title") if key not in values)
        tail = ""
        if "workload" not in values:
            if scene.program is None:
                known = ", ".join(sorted(self.lesson.programs)) or "none"
                message = f'there is no block "lua program {scene.name}", and no [workload] that names one (there: {known})'
                raise LessonError(self.path, scene.block.line - 1, message)
            tail += f'\n[workload]\nprogram = "{scene.name}.lua"\n'
        if "run" not in values:
            tail += "\n[run]\nmeasure_us = 0\n"
        return head + scene.block.text.rstrip("\n") + "\n" + tail

    def _scene_error(self, scene: Scene, message: str) -> LessonError:
        """Converts the program's error to one at the line of the lesson's file: that of the scene, or of its program."""
        for name, block in self.lesson.programs.items():
            line, said = place_in(message, f"{name}.lua")
            if line:
                return LessonError(self.path, block.line + line - 1, said)
        line, said = place_in(message, f"{scene.name}.toml")
        added = self._experiment(scene).index(scene.block.text.rstrip("\n")) if scene.block.text.strip() else 0
        before = self._experiment(scene).count("\n", 0, added)
        inside = 0 <= line - before - 1 < max(scene.block.text.count("\n"), 1)
        return LessonError(self.path, scene.block.line + line - before - 1 if line and inside else scene.block.line - 1, said)

    # ---- moments ----

    def _find_moments(self) -> None:
        """Finds all moments of a scene with one run of the program. If that fails, runs the program for each moment to
        find the wrong one."""
        wanted: dict[str, dict[str, LessonError]] = {name: {} for name in self.played}
        for scene, moment, error in self._wanted():
            wanted[scene].setdefault(moment, error)
        for name, moments in wanted.items():
            played = self.played[name]
            try:
                found = self.engine.positions(played.file, list(moments)) if moments else []
            except EngineError:
                found = [self._position(played, moment, error) for moment, error in moments.items()]
            played.steps = dict(zip(moments, found, strict=True))

    def _position(self, played: Played, moment: str, error: LessonError) -> int:
        try:
            return self.engine.positions(played.file, [moment])[0]
        except EngineError as said:
            raise LessonError(self.path, error.line, str(said)) from None

    def _wanted(self) -> Iterator[tuple[str, str, LessonError]]:
        for part in self.lesson.parts:
            if isinstance(part, Moment):
                yield part.scene, part.at, part.table.error("at", "")
            elif isinstance(part, Question) and part.scene:
                for key, moment in (("at", part.at), ("then", part.then)):
                    if moment:
                        yield part.scene, moment, part.table.error(key, "")

    def _step(self, scene: str, moment: str) -> int:
        return self.played[scene].steps[moment] if moment else 0

    # ---- parts ----

    def _part(self, part: Any) -> Compiled:
        if isinstance(part, Block):
            return {"kind": "prose", "html": part.html, "text": part.plain}
        if isinstance(part, Scene):
            return self._scene(part)
        if isinstance(part, Moment):
            return self._moment(part)
        if isinstance(part, Question):
            return self._question(part)
        return self._break(part)

    def _scene(self, scene: Scene) -> Compiled:
        played = self.played[scene.name]
        self.place[scene.name] = ""
        files = [name for name in self.lesson.programs if f'"{name}.lua"' in played.experiment]
        text = self.lesson.programs[files[0]].text if files else ""
        return {
            "kind": "scene",
            "name": scene.name,
            "experiment": played.experiment,
            "program": text,
            "file": f"{files[0]}.lua" if files else "",
        }

    def _moment(self, moment: Moment) -> Compiled:
        self.place[moment.scene] = moment.at
        return {
            "kind": "moment",
            "scene": moment.scene,
            "at": moment.at,
            "step": self._step(moment.scene, moment.at),
            "say": html(moment.say),
            "text": moment.say,
        }

    def _question(self, question: Question) -> Compiled:
        at, then = question.at or self.place.get(question.scene, ""), question.then
        begin = self._step(question.scene, question.at) if question.at else self._standing(question.scene)
        end = self._step(question.scene, then) if then else begin
        if end < begin:
            raise question.table.error("then", f'"{then}" (step {end}) comes before the moment of the question (step {begin})')
        answer = self._answer(question, begin, end)
        if question.scene:
            self.place[question.scene] = then or at
        table = question.table
        return {
            "kind": "question",
            "id": question.id,
            "scene": question.scene,
            "at": at or "start",
            "step": begin,
            "ask": html(table.text("ask")),
            "text": table.text("ask"),
            "type": question.kind,
            "choices": list(question.choices or self._states(question)),
            "answer": answer,
            "right": html(table.text("right")),
            "wrong": {key: html(value) for key, value in question.wrong.items()},
            "then": then,
            "then_step": end,
            "points": question.points,
            "within": question.within,
            "unit": table.text("unit"),
        }

    def _standing(self, scene: str) -> int:
        return self._step(scene, self.place.get(scene, "")) if scene else 0

    def _states(self, question: Question) -> list[str]:
        if question.kind != "state" or not question.scene:
            return []
        tables = self.played[question.scene].run["tables"]
        return [state for table in tables if table["name"] == _STATE_CONTROLLER for state in table["states"]]

    def _answer(self, question: Question, begin: int, end: int) -> Any:
        """The answer in the file, or the one read from the run if the file has none. Raises LessonError if the two
        differ."""
        table = question.table
        if not question.scene:
            return question.answer
        span = answers.Span(self.played[question.scene].run, begin, end)
        for claim in question.holds:
            self._require(question, claim, span)
        if not question.answer_from:
            return question.answer
        try:
            read = answers.read(question.answer_from, span)
        except answers.UnreadableError as error:
            raise table.error("answer_from", str(error)) from None
        if isinstance(read, float) and read.is_integer():
            read = int(read)
        if question.answer is not None and not answers.same(read, str(question.answer)):
            raise table.error("answer", f"the answer is {question.answer}, but in the run {question.answer_from} is {read}")
        if question.kind in ("choice", "state") and question.choices and str(read) not in question.choices:
            listed = ", ".join(question.choices)
            raise table.error("choices", f"in the run {question.answer_from} is {read}, not one of the choices: {listed}")
        return question.answer if question.answer is not None else self._of_kind(question, read)

    def _of_kind(self, question: Question, read: answers.Answer) -> answers.Answer:
        if question.kind == "number" and isinstance(read, str):
            raise question.table.error("answer_from", f"{question.answer_from} is {read}, which is not a number")
        return read if question.kind == "number" else str(read)

    def _require(self, question: Question, claim: str, span: answers.Span) -> None:
        try:
            read, value = answers.read_is(claim, span)
        except answers.UnreadableError as error:
            raise question.table.error(claim, str(error)) from None
        if not answers.same(read, value):
            raise question.table.error(claim, f'"{claim}" does not hold: in the run it is {read}')

    # ---- tables and locks to break ----

    def _break(self, task: Break) -> Compiled:
        path, text = self._target(task)
        given = self._edited(task, "given", text, task.given)
        solution = self._edited(task, "solution", given, task.solution)
        table = task.table
        self._require_verdict(task, "given", given, "holds" if task.until == "broken" else "broken")
        self._require_verdict(task, "solution", solution, task.until)
        return {
            "kind": "break",
            "id": task.id,
            "target": task.target,
            "name": task.name,
            "path": path,
            "text": given,
            "ask": html(table.text("ask")),
            "question": table.text("ask"),
            "hint": html(table.text("hint")),
            "until": task.until,
            "finds": table.text("finds"),
            "options": table.text("options"),
            "changes": table.values.get("changes", 0),
            "right": html(table.text("right")),
            "wrong": html(table.text("wrong")),
            "solution": solution,
            "points": task.points,
        }

    def _target(self, task: Break) -> tuple[str, str]:
        if task.target == "lock" and task.name in self.lesson.locks:
            return f"programs/locks/{task.name}.lua", self.lesson.locks[task.name].text
        if task.target == "protocol" and task.table.text("table"):
            return f"models/protocols/{task.name}.md", task.table.text("table") + "\n"
        folder, suffix = ("models/protocols", ".md") if task.target == "protocol" else ("programs/locks", ".lua")
        files = sorted(file.stem for file in (self.engine.root / folder).glob(f"*{suffix}") if file.stem != "README")
        if task.name not in files:
            message = f'there is no {task.target} "{task.name}": {meant(task.name, files)}'
            raise task.table.error(task.target, message)
        path = f"{folder}/{task.name}{suffix}"
        return path, read_text(self.engine.root / path)

    def _edited(self, task: Break, key: str, text: str, edits: tuple[tuple[str, str], ...]) -> str:
        for old, new in edits:
            # Any number of blanks matches between words, where a table has them for its layout. Blanks at the start of a line
            # must match, because there they belong to a program.
            pattern = re.compile(re.sub(r"(?<=[^ ])(\\ )+", lambda _: " +", re.escape(old)))
            found = pattern.findall(text)
            if len(found) != 1:
                where = f"is there {len(found)} times" if found else "is not there"
                raise task.table.error(key, f'{key}: the text to replace {where} in {task.name}: "{old.strip()}"')
            text = pattern.sub(lambda _found, new=new: new, text)  # type: ignore[misc]
        return text

    def _require_verdict(self, task: Break, key: str, text: str, wanted: str) -> None:
        try:
            verdict = verdict_of(self.engine, task, text, self.folder)
        except EngineError as error:
            raise task.table.error(key, f"the checker refuses this text: {error}") from None
        found = "holds" if verdict.holds else "broken"
        if found != wanted:
            place = key if task.table.values.get(key) else "until"
            raise task.table.error(place, f"with this text the checker says {found}, not {wanted}: {verdict.text}".rstrip(": "))
        finds = task.table.text("finds")
        if wanted == task.until and finds not in (verdict.promise, ""):
            raise task.table.error("finds", f'the checker finds "{verdict.promise}", not "{finds}": {verdict.text}')


def verdict_of(engine: Engine, task: Break, text: str, folder: Path) -> Verdict:
    """The checker's verdict on a protocol's table or a lock."""
    if task.target == "protocol":
        file = inner_path(folder, f"{task.name}.md")
        write_file(file, text.encode())
        return engine.check(file)
    file = inner_path(folder, f"{task.name}.lua")
    write_file(file, text.encode())
    return engine.check_lock(file, *task.table.text("options").split())


def compile_lesson(engine: Engine, lesson: Lesson) -> Compiled:
    """Compiles a lesson. Raises LessonError for the first mistake."""
    with scratch_folder() as folder:
        return Compiler(engine, lesson, folder).compile()
