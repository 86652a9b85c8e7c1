"""The command `linebounce report`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import linebounce
from linebounce.commands import exit_code, parser_of
from linebounce.errors import UsageError
from linebounce.files import write_file
from linebounce.report.advice import is_advice, make_advice_page, read_advice
from linebounce.report.validation import is_validation, make_validation_page, read_validation, write_validation_figures
from linebounce.usage import output_file
from linebounce.visible import print_line

_EXAMPLES = """Examples:
  linebounce report out/oltp                          writes out/oltp.html, which opens in any browser, offline
  linebounce report out/oltp -o oltp.html             writes another file
  linebounce report out/before out/after -o both.html  several runs in one file, with a menu
  linebounce report out/my_locks/points/3             one point of a sweep
  linebounce report out/validate                      all predictions beside the published figures
  linebounce report out/advise/server                 what `linebounce advise server.lbt` advises, to be passed on
  linebounce explain out/oltp && linebounce report out/oltp   adds a typical and a slow miss, stage by stage
  linebounce report out/core_to_core --measured mine.probe   the measured matrix beside the simulated one
  linebounce report out/oltp --figures figures        also the charts, as figures/oltp/sweep.svg and so on

For a sweep, charts of a single point show the one whose misses cost the most; give another point's directory to see that point.

Exit codes: 0 done; 2 wrong usage or a file that can't be written; 3 results that can't be read."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce report", lambda: _report(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Draw results as one HTML file: the paper's figures, latencies, locks, cache lines, the machine"
    parser = parser_of("linebounce report", description, _EXAMPLES, usage="[OPTIONS] DIR...")
    parser.add_argument(
        "directories",
        metavar="DIR",
        nargs="+",
        type=Path,
        help="A results directory, as `linebounce run`, `validate` or `advise` writes it",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=output_file("a page", ".html", ".htm"),
        help="The HTML file; default: the first DIR's name with .html",
    )
    parser.add_argument(
        "--figures", metavar="DIR", type=Path, help="Also write every chart as SVG and PNG, in one folder for each run"
    )
    parser.add_argument(
        "--measured",
        metavar="FILE",
        type=Path,
        help="Draw this measured core-to-core matrix beside the simulated one: linebounce-probe's file, or CSV",
    )
    return parser.parse_args(arguments)


def _report(arguments: argparse.Namespace) -> int:
    if arguments.figures is not None and arguments.figures.is_file():
        raise UsageError(f"--figures {arguments.figures}: this is a file; give a folder")
    for directory in arguments.directories:
        command = "validate" if is_validation(directory) else "advise" if is_advice(directory) else ""
        if not command:
            continue
        if len(arguments.directories) > 1:
            raise UsageError(f"{directory}: results of `linebounce {command}` have their own page; give no other directory")
        return _report_validation(directory, arguments) if command == "validate" else _report_advice(directory, arguments)
    runs = [linebounce.open(directory) for directory in arguments.directories]
    # Polars and Jinja load slowly, so they are imported only after the directories have been checked.
    from linebounce.report.measured import read_measured  # noqa: PLC0415
    from linebounce.report.page import make_page  # noqa: PLC0415

    measured = read_measured(arguments.measured) if arguments.measured else None
    output = arguments.output or _default_output(arguments.directories[0])
    page = make_page(runs, measured)
    write_file(output, page.encode(errors="backslashreplace"))
    print_line(output)
    if arguments.figures:
        from linebounce.report.figures import write_figures  # noqa: PLC0415

        for file in write_figures(runs, arguments.figures, measured):
            print_line(file)
    return 0


def _report_validation(directory: Path, arguments: argparse.Namespace) -> int:
    document = read_validation(directory)
    output = arguments.output or _default_output(directory)
    write_file(output, make_validation_page(document).encode(errors="backslashreplace"))
    print_line(output)
    if arguments.figures:
        for file in write_validation_figures(document, arguments.figures):
            print_line(file)
    return 0


def _report_advice(directory: Path, arguments: argparse.Namespace) -> int:
    if arguments.figures:
        raise UsageError(f"--figures: the page of {directory} has no charts")
    output = arguments.output or _default_output(directory)
    write_file(output, make_advice_page(directory, read_advice(directory)).encode(errors="backslashreplace"))
    print_line(output)
    return 0


def _default_output(directory: Path) -> Path:
    resolved = directory.resolve()
    return resolved.with_name(resolved.name + ".html") if directory.name in ("", ".", "..") else Path(f"{directory}.html")


if __name__ == "__main__":
    sys.exit(main())
