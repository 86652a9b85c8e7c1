"""The charts in the report of each fixture's run."""

ALWAYS = ("cpi_cpus", "cpi_functions", "latency_histogram", "latency_cdf", "latency_tail", "structures")
PAPER = ("paper_ratios", "paper_points")
CHARTS = {
    "costs_run": {*ALWAYS, "paper_ratios"},
    "locks_run": {*ALWAYS, "sweep", "contention"},
    "crossbar_run": {*ALWAYS, "matrix"},
    "matrix_run": {*ALWAYS, "matrix"},
    "series_run": {*ALWAYS, "series program.emptied", "series program.filled"},
    "oltp_run": {*ALWAYS, *PAPER, "subsystems"},
    "timeline_run": {*ALWAYS, *PAPER, "subsystems", "ownership"},
}
