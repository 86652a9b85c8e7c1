"""Sensitivity: which parameters move a metric, and by how much.

The experiment is run as it is and with each parameter a little lower and higher, as one sweep whose lists are taken in step: a
file in the results directory, which `linebounce run` takes as well. The elasticity is the metric's relative change from the lower
to the higher value, over the parameter's: 1 means that the metric follows it, 0 that it doesn't care.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import linebounce
from linebounce.compare.changes import interval95
from linebounce.errors import UsageError
from linebounce.program import Experiment
from linebounce.records import At, Point, setting_text
from linebounce.results import Results
from linebounce.sweep.cluster import ClusterOptions
