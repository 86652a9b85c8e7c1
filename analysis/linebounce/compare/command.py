"""The command `linebounce compare`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import linebounce
from linebounce.commands import CHECK_FAILED, DONE, exit_code, parser_of
from linebounce.errors import UsageError
from linebounce.files import write_file
from linebounce.json_text import json_text
from linebounce.results import Results
from linebounce.supervised import PREFIX
from linebounce.usage import output_file
from linebounce.visible import print_line, visible_name

_EXAMPLES = """Examples:
  linebounce compare out/before out/after                       headlines at every point, then the largest changes
  linebounce compare out/before out/after --all-metrics         headlines, then every metric
  linebounce compare out/ticket out/mcs out/clh -o locks.html   several against the first, as an HTML page of all metrics
  linebounce compare out/before out/after --fail-on "locks.dcache_lock.con_pct > +5%"
  linebounce compare out/locks --by lock                        values of a sweep against its first value
  linebounce compare out/main out/mine --json --fail-on "throughput.operations_per_s < -2%" --fail-on "time.idle_pct > 90"

--fail-on compares every run after the first with it, at every point of the first, by the means over seeds:
  METRIC > +5%    the metric rose by more than 5 %
  METRIC < -5%    the metric fell by more than 5 %
  METRIC > +2     the metric rose by more than 2, in its own unit
  METRIC > 20     the metric is above 20: a number without a sign is a value, not a change
A point also fails if it did not finish or is missing, or if only one of the two runs has the metric.

Points are matched by their position in the sweep, and differences are paired by seed; +- is the 95 % interval of their mean
(Student's t). A headline, one of the metrics that the workload names first, is better or worse if that interval excludes 0, and
the same otherwise; other metrics get a star instead. With one seed there is no interval, so there is no verdict.

Exit codes: 0 done; 1 a condition holds or can't be judged; 2 wrong usage or nothing in common; 3 results that can't be read."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce compare", lambda: _compare(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Say what differs between results, and which are better"
    parser = parser_of("linebounce compare", description, _EXAMPLES, usage="[OPTIONS] A [B...]")
    parser.add_argument("base", metavar="A", type=Path, help="A results directory, as `linebounce run` writes it")
    parser.add_argument("others", metavar="B", nargs="*", type=Path, help="Results directories to compare with A")
    parser.add_argument("--by", metavar="PATH", help="Compare the values of this swept path of A with its first value")
    parser.add_argument(
        "--fail-on",
        metavar="CONDITION",
        action="append",
        default=[],
        help="End with exit code 1 if this holds; may be repeated",
    )
    parser.add_argument("--all-metrics", action="store_true", help="Print every metric of every point")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=output_file("a page", ".html", ".htm"),
        help="Write an HTML page with all metrics",
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON document")
    return parser.parse_args(arguments)


def _runs(arguments: argparse.Namespace) -> list[Results]:
    """The runs to compare, the base first: the directories given, or the parts of one run with `--by`."""
    if (arguments.by is None) != bool(arguments.others):
        raise UsageError("give two or more runs, A B, or one run and a swept path, A --by PATH")
    runs = [linebounce.open(directory) for directory in (arguments.base, *arguments.others)]
    if arguments.by is None:
        return runs
    from linebounce.compare.parts import parts_by  # noqa: PLC0415

    return parts_by(runs[0], arguments.by)


def _compare(arguments: argparse.Namespace) -> int:
    from linebounce.compare.answer import answers_document  # noqa: PLC0415
    from linebounce.compare.changes import compare, hits  # noqa: PLC0415
    from linebounce.compare.conditions import parse_condition  # noqa: PLC0415
    from linebounce.compare.rows import document_of, hit_text, rows_of  # noqa: PLC0415

    conditions = [parse_condition(text) for text in arguments.fail_on]
    base, *others = _runs(arguments)
    comparisons = [compare(base, other) for other in others]
    found = hits(comparisons, conditions)
    rows = rows_of(comparisons)
    if arguments.output:
        from linebounce.compare.page import make_page  # noqa: PLC0415

        write_file(arguments.output, make_page(comparisons, rows, found).encode(errors="backslashreplace"))
    if arguments.json:
        print(json_text(document_of(comparisons, found) | answers_document(comparisons), indent=1))
    else:
        from linebounce.compare.terminal import print_comparison  # noqa: PLC0415

        print_comparison(comparisons, rows, arguments.all_metrics)
        if arguments.output:
            print_line(arguments.output)
    for hit in found:
        print(f"{PREFIX}failed on {visible_name(hit_text(hit))}", file=sys.stderr)
    return CHECK_FAILED if found else DONE


if __name__ == "__main__":
    sys.exit(main())
