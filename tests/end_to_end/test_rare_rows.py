"""Every row of every protocol runs in a simulation; rare rows run under the traffic that their mark names.

`linebounce check` proves rows in a model without time. Here they run in the simulator itself. After a change of times or
tables, renew the marks:

./dev build && .venv/bin/python tests/end_to_end/rare_rows.py
"""

import pytest
from program import Program
from rare_rows import CHECKER, COMPOSITIONS, PLAIN, PROTOCOLS, TRAFFIC, Composition, Row, files_of, rows, rows_that_run

# Rows without a mark run in at least a third of the runs, marked ones in at least one of eight.
MOST_RUNS = 10
MOST_RUNS_OF_RARE = 60


def expected_rows(together: Composition) -> dict[str, set[Row]]:
    """Rows by the traffic that must run them."""
    expected: dict[str, set[Row]] = {}
    for file in files_of(together):
        for row in rows(file):
            if row.runs and row.mark != CHECKER:
                expected.setdefault(row.mark or PLAIN, set()).add(row)
    return expected


@pytest.mark.parametrize("together", COMPOSITIONS, ids=str)
def test_every_row_runs_under_the_traffic_that_its_mark_names(linebounce: Program, together: Composition) -> None:
    for name, expected in expected_rows(together).items():
        assert name in TRAFFIC, f"{min(map(str, expected))}: no traffic {name}; legal: {', '.join(TRAFFIC)}, {CHECKER}"
        runs = MOST_RUNS_OF_RARE if name != PLAIN else MOST_RUNS
        ran: set[Row] = set()
        seed = 0
        while seed < runs and not expected <= ran:
            seed += 1
            ran |= rows_that_run(linebounce, together, TRAFFIC[name], seed)
        missing = "".join(f"\n{row}" for row in sorted(map(str, expected - ran)))
        assert not missing, f"did not run in {runs} runs with {name} traffic; mark these rows with what runs them:{missing}"


def test_every_protocol_belongs_to_a_machine() -> None:
    covered = {file for together in COMPOSITIONS for file in together.files}
    no_machines = {path.stem for path in PROTOCOLS.glob("*_atomic.md")}  # machines have split buses
    assert covered == {path.stem for path in PROTOCOLS.glob("*.md")} - {"README"} - no_machines


def test_rare_marks_are_only_on_rows_that_run() -> None:
    wrong = [str(row) for path in PROTOCOLS.glob("*_*.md") for row in rows(path.stem) if row.mark and not row.runs]
    assert not wrong
