"""The package starts fast: slow imports happen only where they are needed."""

import resource
import subprocess
import sys
from pathlib import Path

from program import ROOT

HEAVY = {
    "altair",
    "distributed",
    "jinja2",
    "markdown_it",
    "numpy",
    "pandas",
    "perfetto",
    "polars",
    "pyarrow",
    "rich",
    "scipy",
    "vl_convert",
}
HELP = """
import contextlib, importlib, sys
for name in ("compare", "gate", "report", "sweep", "tables", "teach", "trace_export"):
    with contextlib.suppress(SystemExit):
        importlib.import_module(f"linebounce.{name}.command").main(["--help"])
"""


def loaded_by(code: str, *arguments: str | Path) -> set[str]:
    """The packages that a program has loaded when it ends."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print('LOADED', *sys.modules)", *arguments]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT / "analysis")}, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.rpartition("LOADED")[2].split()}


def test_the_package_is_imported_in_half_a_second() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    loaded = loaded_by("import linebounce")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "linebounce" in loaded
    assert not loaded & HEAVY
    # CPU time, because wall time depends on the machine's load.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


def test_points_and_metrics_are_read_without_data_frames(locks_run: Path) -> None:
    code = "import linebounce, sys; linebounce.open(sys.argv[1]).point(0)['throughput.operations_per_s']"
    assert not loaded_by(code, locks_run) & HEAVY


def test_commands_have_read_their_words_before_anything_that_takes_long() -> None:
    assert not loaded_by(HELP) & HEAVY
