"""Core-to-core matrices of all spellings."""

import json
import re

import pytest
from imported import imported
from program import Program

MATRIX = [[0, 40, 90, 92], [41, 0, 91, 89], [90, 91, 0, 39], [92, 89, 40, 0]]


def matrix_text(separator: str, *, numbered: bool = False, upper: bool = False) -> str:
    rows = [[str(ns) if not upper or j > i else "" for j, ns in enumerate(row)] for i, row in enumerate(MATRIX)]
    if numbered:
        rows = [["CPU", *(str(i) for i in range(4))], *([str(i), *row] for i, row in enumerate(rows))]
    return "\n".join(separator.join(row) for row in rows) + "\n"


MCTOP = (
    "#box #HWCs 4 #Nodes 1 SMT 1\n"
    + "".join(f"{i}    {j}    {3 * MATRIX[i][j]}\n" for i in range(4) for j in range(4))
    + "#Mem_latencies 1\n0    0    290\n"
)


@pytest.mark.parametrize(
    "text",
    [
        matrix_text(","),
        matrix_text("\t"),
        matrix_text(";", upper=True),
        matrix_text(";", numbered=True).replace("40", "40,0"),
        matrix_text("  ", numbered=True),
        "0\n40 0\n90 91 0\n92 89 40 0\n",
        "> " + matrix_text(" ", numbered=True).strip().replace("\n", "\n> ") + "\n",
        MCTOP,
    ],
    ids=["commas", "tabs", "upper", "numbered", "c2clat", "triangle", "quoted", "mctop"],
)
def test_matrices_of_all_forms_give_one_machine(linebounce: Program, text: str) -> None:
    linebounce.file("m.txt", text)
    result = linebounce("import", "m.txt", "-o", "m.toml", "--family", "intel_mesh")
    assert result.code == 0, result.stderr
    assert (linebounce.directory / "m.toml").exists()
    shown = linebounce("describe", "machine", "m.toml", "--json")
    assert json.loads(shown.stdout)["cpus"] == 4
    assert ("3000 MHz is assumed" in result.stdout) == (text is MCTOP)


TABLE = [[0, 40, 90, 92], [40, 0, 91, 89], [90, 91, 0, 39], [92, 89, 39, 0]]

PINGPONG = """avg latency to communicate a modified line from one core to another
times are in ns

          1       2       3
 0:    40.0    90.0    92.0
 1:            91.0    89.0
 2:                    39.0

"""

PAIRS = [(a, b, TABLE[a][b]) for a in range(4) for b in range(a + 1, 4)]

MATRICES = {
    "pingpong of multichase": PINGPONG,
    "a list of pairs": "from,to,latency_ns\n" + "".join(f"{a},{b},{ns}\n" for a, b, ns in PAIRS),
    "Markdown": "| CPU | 0 | 1 | 2 | 3 |\n|---|---|---|---|---|\n"
    + "".join(f"| {i} | {' | '.join(map(str, row))} |\n" for i, row in enumerate(TABLE)),
    "upper triangle, last row cut": "\t0\t1\t2\t3\n0\t\t40\t90\t92\n1\t\t\t91\t89\n2\t\t\t\t39\n3\n",
    "lower triangle, rows cut": ",0,1,2,3\n0\n1,40\n2,90,91\n3,92,89,39\n",
    "labels with colons": "cpu: 0 1 2 3\n" + "".join(f"{i}: {' '.join(map(str, row))}\n" for i, row in enumerate(TABLE)),
}


@pytest.mark.parametrize("text", MATRICES.values(), ids=MATRICES.keys())
def test_other_spellings_of_a_matrix_are_the_same_machine(linebounce: Program, text: str) -> None:
    said = imported(linebounce, "m.txt", text, "-o", "mine.toml", "--family", "intel_mesh")
    assert "4 CPUs: 2 nodes, 2 buses" in said
    assert re.search(r"one bus +2 +39\.5", said), "the means of the pairs 0-1 and 2-3"


def test_a_list_with_a_pair_twice_is_not_a_matrix(linebounce: Program) -> None:
    linebounce.file("m.csv", "from,to,latency_ns\n0,1,40\n0,1,41\n1,2,5\n")
    linebounce.refused("import", "m.csv", "-o", "mine.toml", "--family", "intel_mesh")
