"""Additions to the Python package."""

from addition import Clone, addition, after, before, instead, row


@addition(
    "Python command",
    "analysis/README.md",
    files={
        "analysis/linebounce/sample/__init__.py": "",
        "analysis/linebounce/sample/command.py": '''"""The command `linebounce sample-words`."""

import argparse
import sys
from collections.abc import Sequence

from linebounce.commands import exit_code, parser_of
from linebounce.visible import print_line

_EXAMPLES = """Examples:
  linebounce sample-words one two      how many there are

Exit codes: 0 done; 2 wrong usage."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce sample-words", lambda: _count(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("linebounce sample-words", "Count words, as a sample", _EXAMPLES, usage="WORD...")
    parser.add_argument("words", metavar="WORD", nargs="+", help="Any word")
    return parser.parse_args(arguments)


def _count(arguments: argparse.Namespace) -> int:
    print_line(f"{len(arguments.words)} words")
    return 0


if __name__ == "__main__":
    sys.exit(main())
''',
        "tests/analysis/test_sample.py": '''"""linebounce sample-words."""

from collections.abc import Callable

from program import Result


def test_words_are_counted(command: Callable[..., Result]) -> None:
    assert command("sample", "one", "two").stdout == "2 words\\n"
''',
    },
    edits=(
        before(
            "analysis/linebounce/entry.py",
            "def sweep() -> int:\n",
            'def sample() -> int:\n    return _run("sample-words", "sample")\n\n\n',
        ),
        before(
            "pyproject.toml",
            'linebounce-sweep = "linebounce.entry:sweep"\n',
            'linebounce-sample-words = "linebounce.entry:sample"\n',
        ),
        before(
            "commands/command_line.cpp",
            '    PythonCommand{"tables", ',
            '    PythonCommand{"sample-words", "Count words, as a sample", HelpGroup::results},\n',
        ),
    ),
)
def python_command(clone: Clone) -> None:
    program_help = clone.linebounce("--help")
    assert "sample-words" in program_help.partition("Look into results:\n")[2].partition("\n\n")[0]
    assert "2 words" in clone.linebounce("sample-words", "one", "two")
    clone.pytest("tests/analysis/test_sample.py")


@addition(
    "rule of the gate",
    "analysis/linebounce/gate/README.md",
    edits=(
        before(
            "analysis/linebounce/gate/budget.py",
            '    "all-sharing": "Sharing as a whole',
            '    "sample": "All costs once more, as a sample",\n',
        ),
        before(
            "analysis/linebounce/gate/judge.py",
            '        yield self._change("all-sharing", "", items)\n',
            '        yield self._change("sample", "", items)\n',
        ),
        before(
            "analysis/linebounce/gate/verdict.py",
            '    "all-sharing": "all sharing together",\n',
            '    "sample": "the sample",\n',
        ),
        row("docs/ci.md", "| `crosses-line` |", "| `sample` | all once more, as a sample |"),
        before(
            "tests/analysis/test_gate.py",
            "def test_a_field_that_crosses_a_lines_end_now_is_found(",
            """def test_the_sample_has_a_sentence_a_budget_and_words() -> None:
    budget = Budget()
    assert budget.of("sample", "") == DEFAULT_PCT
    assert subject(Change("sample", "", [], [])) == "the sample"


""",
        ),
        before(
            "tests/analysis/test_gate.py",
            "from linebounce.gate.judge import ",
            "from linebounce.gate.budget import DEFAULT_PCT, Budget\n",
        ),
        instead(
            "tests/analysis/test_gate.py",
            "from linebounce.gate.verdict import Verdict\n",
            "from linebounce.gate.verdict import Verdict, subject\n",
        ),
    ),
)
def rule(clone: Clone) -> None:
    clone.pytest("tests/analysis/test_gate.py", "sample or crosses")


@addition(
    "report chart",
    "analysis/README.md",
    files={
        "analysis/linebounce/report/charts/sample.py": '''"""How many accesses each source served, as a sample."""

from linebounce.report.charts.base import COLOURS, Spec, chart, layer, number, word


def sample() -> Spec:
    bar = layer("bar", {"x": number("count", title="accesses"), "y": word("source")}, color=COLOURS["local_c2c"])
    return chart("sample", bar, height=110)
'''
    },
    edits=(
        after(
            "analysis/linebounce/report/charts/__init__.py",
            "from linebounce.report.charts.paper import paper_points, paper_ratios\n",
            "from linebounce.report.charts.sample import sample\n",
        ),
        after("analysis/linebounce/report/charts/__init__.py", '    "series": series,\n', '    "sample": sample,\n'),
        before(
            "analysis/linebounce/report/tables.py",
            "def latency_bins(",
            '''def sample(latency: pl.DataFrame) -> pl.DataFrame:
    """Accesses by point and source."""
    return latency.group_by("point", "source", maintain_order=True).agg(pl.col("count").sum())


''',
        ),
        before(
            "analysis/linebounce/report/page.py",
            '        "latency_bins": ',
            '        "sample": _columns(tables.sample(results.latency)),\n',
        ),
        before(
            "analysis/linebounce/report/templates/sections/latency.html",
            '<div class="pair">',
            '<figure data-chart="sample" data-describe="Accesses by source"></figure>\n',
        ),
        before(
            "analysis/linebounce/report/templates/sections/latency.js",
            "    const curves = ",
            '    view.draw("sample", "sample", rowsWhere(run.sample, { point: view.number }));\n',
        ),
        before(
            "analysis/linebounce/report/figures.py",
            "    series = tables.series(results).filter(point=point.number)\n",
            "    if rows := tables.sample(results.latency).filter(point=point.number).to_dicts():\n"
            '        yield _figure("sample", "sample", rows)\n',
        ),
        instead(
            "tests/analysis/charts.py", '"latency_histogram", "latency_cdf"', '"latency_histogram", "sample", "latency_cdf"'
        ),
    ),
)
def chart(clone: Clone) -> None:
    clone.pytest("tests/analysis/test_axis_labels.py", "sample")
    clone.linebounce("run", "two_sockets", "--set", "run.measure_us=20", "-o", "out/chart")
    clone.linebounce("report", "out/chart", "--figures", "out/figures")
    assert list((clone.folder / "out/figures").rglob("sample.svg"))
