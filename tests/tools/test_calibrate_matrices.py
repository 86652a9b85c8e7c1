"""The columns of the table printed by tools/calibrate_matrices.py, taken from the output of `linebounce calibrate`."""

from calibrate_matrices import figures_of

REPORT = """  8 CPUs: 1 node, 1 bus, 2 threads a core
  RMS of all pairs 3.00 ns, 6.0 % of their mean. Worst: CPUs 1 and 2 of the file
  {} 4 parameters were
  chosen by 28 pairs.
"""
MACHINE = "# RMS of all pairs 3.00 ns, of a mean of 50.0 ns.\n"


def bound_in(verdict: str) -> float | None:
    bound: float | None = figures_of(REPORT.format(verdict), MACHINE)["bound_pct"]
    return bound


def test_figures_are_found_wherever_the_report_is_wrapped() -> None:
    figures = figures_of(REPORT.format(""), MACHINE)
    assert figures["rms_pct"] == 6
    assert (figures["parameters"], figures["pairs"]) == (4, 28)
    assert figures["bound_pct"] is None


def test_only_sentences_about_threads_are_a_bound() -> None:
    assert bound_in("The matrix contradicts\n  itself by 5.1 %: the nearest CPUs") == 5.1
    assert bound_in("At least 4.3 % of the mean is the measurement") == 4.3
    assert bound_in("The two directions of a pair differ by 12.0 % (RMS): noise") is None
