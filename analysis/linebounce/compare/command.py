"""`linebounce compare`: the command."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import linebounce
from linebounce.commands import CHECK_FAILED, DONE, exit_code, parser_of
from linebounce.errors import UsageError
from linebounce.files import write_file
from linebounce.results import Results

_EXAMPLES = """examples:
  linebounce compare out/before out/after                       the headlines at every point, then what changed most
  linebounce compare out/before out/after --all-metrics         then every metric
  linebounce compare out/ticket out/mcs out/clh -o locks.html   several against the first, as a page with every metric
  linebounce compare out/before out/after --fail-on "locks.dcache_lock.con_pct > +5%"
  linebounce compare out/locks --by lock                        the values of a sweep against its first one
  linebounce compare out/main out/mine --json --fail-on "throughput.operations_per_s < -2%" --fail-on "litmus.forbidden > 0"

Conditions of --fail-on are for the second run and all behind it, at every point of the first, on means over the seeds:
  METRIC > +5%    it rose by more than 5 %
  METRIC < -5%    it fell by more than 5 %
  METRIC > +2     it rose by more than 2, in its own unit
  METRIC > 20     it is above 20: a number without a sign is a value
A point that failed or is missing, or that has the metric in one of the two runs alone, fails as well.

Points are matched by where they lie in their sweeps. Differences are paired over seeds: +-, the 95 % interval of their mean
(Student's t). Headlines, the metrics that the workload names first, are better or worse where that interval does not hold 0,
else the same; other metrics have a star there. With one seed there is no interval: differences are shown without a verdict.

Exit codes: 0 done, 1 a condition holds or can't be judged, 2 wrong usage or nothing in common, 3 results that can't be read."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("linebounce compare", lambda: _compare(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    description = "Compares the metrics of runs with those of the first."
    parser = parser_of("linebounce compare", description, _EXAMPLES)
    parser.add_argument("base", metavar="A", type=Path, help="a results directory made by `linebounce run`")
    parser.add_argument("others", metavar="B", nargs="*", type=Path, help="others, to compare with it")
    parser.add_argument("--by", metavar="PATH", help="take A apart by a swept path: its values against the first one")
    parser.add_argument(
        "--fail-on", metavar="CONDITION", action="append", default=[], help="exit code 1 if this holds; may be repeated"
    )
    parser.add_argument("--all-metrics", action="store_true", help="print every metric of every point")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write an HTML page with all metrics")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser.parse_args(arguments)


def _runs(arguments: argparse.Namespace) -> list[Results]:
    """The base, and what is compared with it."""
    if (arguments.by is None) != bool(arguments.others):
        raise UsageError("compare takes two runs or more, A B, or one run taken apart, A --by PATH")
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
        print(json.dumps(document_of(comparisons, found) | answers_document(comparisons), indent=1))
    else:
        from linebounce.compare.terminal import print_comparison  # noqa: PLC0415

        print_comparison(comparisons, rows, arguments.all_metrics)
        if arguments.output:
            print(arguments.output)
    for hit in found:
        print(f"linebounce compare: failed on {hit_text(hit)}", file=sys.stderr)
    return CHECK_FAILED if found else DONE


if __name__ == "__main__":
    sys.exit(main())
