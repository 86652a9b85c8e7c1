"""Figures for readers; tests/sim/answer/quantity_test.cpp tests the program with the same table."""

import csv
from pathlib import Path

from linebounce.quantity import quantity


def test_figures_are_those_of_the_table() -> None:
    with Path(__file__).with_name("quantities.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            assert quantity(float(row["value"]), row["unit"]) == row["text"]
