"""Prints how many faults the tests inject into each command, as the table of README.md.

python tests/faults/counts.py build/release/linebounce
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests" / folder) for folder in ("end_to_end", "faults")]

from faulty_disk import FaultyDisk, faults_of, numbers, transfers  # noqa: E402
from test_faulty_disk import CASES, FEW_ALLOCATIONS, IN_CPP, SAMPLED_ALLOCATIONS, make_disk  # noqa: E402

HEAD = ["command", "calls on files", "failing", "short or interrupted", "failing allocations", "in `./dev test`"]


def counts(disk: FaultyDisk, name: str) -> list[int]:
    case = CASES[name]
    disk.run(case, disk.directory(case))
    calls = disk.calls()
    allocations = len(numbers(disk.allocations())) if name in IN_CPP else 0
    failing = len([*faults_of(calls)])
    quick = min(failing, case.faults) + 1 + (FEW_ALLOCATIONS if name in SAMPLED_ALLOCATIONS else 0)
    return [len(calls), failing, 2 * len(transfers(calls)) + 1, allocations, quick]


def main() -> None:
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    with tempfile.TemporaryDirectory() as place:
        disk = make_disk(Path(sys.argv[1]).absolute(), Path(place))
        rows = {name: counts(disk, name) for name in CASES}
    for name, row in [*rows.items(), ("all", [sum(column) for column in zip(*rows.values(), strict=True)])]:
        print(f"| {name} | {' | '.join(f'{number:,}' for number in row)} |")


if __name__ == "__main__":
    main()
