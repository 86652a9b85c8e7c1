"""The ways to run a simulation. Every input must give the same bytes in all of them (modelled on RE2's tester).

The C++ library is not among them, because it reads no experiments: test_library.py runs a program in both C++ and Lua.
"""

import json
import tempfile
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

from program import ROOT, Program
from results import assert_same_data
from web_assembly import engine


def engine_settings(*settings: str) -> tuple[str, ...]:
    return tuple(word for setting in settings for word in ("--set", f"engine.{setting}"))


class Way(Enum):
    """A way's value is its additional arguments, or the folder of another build below build/."""

    PLAIN = ("-j", "1")
    RUN_AHEAD_OFF = engine_settings("run_ahead=false")
    PARKED_SPINS_OFF = engine_settings("parked_spins=false")
    BOTH_OFF = engine_settings("run_ahead=false", "parked_spins=false")
    REVERSED = engine_settings("reverse_construction=true")
    STEP_LISTENER = engine_settings("step_listener=true")
    TWO_PROCESSES = ("-j", "2", "--quiet")
    ALL_OTHERS = (*REVERSED, *STEP_LISTENER, *TWO_PROCESSES)
    DEV_BUILD = "dev"
    CLANG_BUILD = "clang"
    SANITIZED_BUILD = "asan"
    WEB_ASSEMBLY = "wasm"

    def call(self, program: Program) -> tuple[Program, tuple[str, ...]]:
        """Returns the program to run and the arguments to add for this way."""
        if isinstance(self.value, tuple):
            return program, self.value
        return Program(ROOT / "build" / self.value / "linebounce", program.directory), ()

    def run(self, program: Program, experiment: str | Path, output: str, *arguments: str, **options) -> Path:
        program, more = self.call(program)
        return program.run(experiment, output, *arguments, *more, **options)

    def steps(self, program: Program, experiment: str | Path, *arguments: str) -> str:
        """The document that `linebounce steps` prints."""
        if self is not Way.WEB_ASSEMBLY:
            program, more = self.call(program)
            done = program("steps", experiment, *arguments, *more)
            assert done.stdout, done.stderr
            return done.stdout
        assert not arguments, "the engine in WebAssembly takes the experiment as it is"
        document = program.directory / "web_assembly.json"
        engine()({"run": str(experiment), "out": str(document)})
        return document.read_text()


# Each way changes one thing. All of them apply to every experiment.
EVERY_WAY = (Way.RUN_AHEAD_OFF, Way.PARKED_SPINS_OFF, Way.BOTH_OFF, Way.REVERSED, Way.STEP_LISTENER, Way.TWO_PROCESSES)
# Three ways that together change everything that EVERY_WAY changes one by one.
USUAL_WAYS = (Way.RUN_AHEAD_OFF, Way.PARKED_SPINS_OFF, Way.ALL_OTHERS)
# For tests with many inputs: half of them use the first pair, half the second.
QUICK_WAYS = ((Way.RUN_AHEAD_OFF, Way.PARKED_SPINS_OFF), (Way.BOTH_OFF, Way.ALL_OTHERS))
BUILDS = (Way.DEV_BUILD, Way.CLANG_BUILD, Way.SANITIZED_BUILD)


def existing_builds() -> list[Way]:
    return [build for build in BUILDS if (ROOT / "build" / build.value / "linebounce").exists()]


def assert_every_way_agrees(
    program: Program,
    experiment: str | Path,
    *arguments: str,
    ways: Iterable[Way] = USUAL_WAYS,
    plain: Path | None = None,
    **options,
) -> Path:
    """Compares all data files of each way with those of the plain run, which is made unless given as `plain`. Returns the
    plain run's directory."""
    folder = Path(tempfile.mkdtemp(prefix="ways_", dir=program.directory)).name  # new, so that nothing is resumed
    if plain is None:
        plain = Way.PLAIN.run(program, experiment, f"{folder}/plain", *arguments, **options)
    for number, way in enumerate(ways):
        assert_same_data(plain, way.run(program, experiment, f"{folder}/{number}_{way.name}", *arguments, **options))
    return plain


def assert_every_way_has_the_same_steps(
    program: Program, experiment: str | Path, *arguments: str, ways: Iterable[Way] = (Way.BOTH_OFF, Way.REVERSED)
) -> dict:
    """Compares the documents of `steps`, which attaches its own listener and uses one process. Returns the plain document."""
    plain = program("steps", experiment, *arguments)
    assert plain.stdout, plain.stderr
    for way in ways:
        assert way.steps(program, experiment, *arguments) == plain.stdout, way
    return json.loads(plain.stdout)
