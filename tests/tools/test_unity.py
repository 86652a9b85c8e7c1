"""A workload is one new file, and moves others into another unit of the unity build. So no two files may have a name in
common, whether or not they are in the same unit today."""

import json
import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "release"
UNIT = re.compile(r"lb_workloads\.dir/Unity/unity_\d+_cxx\.cxx$")


def test_all_workloads_compile_as_one_unit(tmp_path: Path) -> None:
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    units = [entry for entry in commands if UNIT.search(entry["file"])]
    whole = tmp_path / "workloads.cpp"
    whole.write_text("".join(sorted(Path(entry["file"]).read_text() for entry in units)))
    command = shlex.split(units[0]["command"])
    options = command[1 : command.index("-o")]
    checked = subprocess.run(
        [command[0], *options, "-w", "-fsyntax-only", str(whole)], cwd=BUILD, capture_output=True, text=True, check=False
    )
    assert len(units) > 1
    assert checked.returncode == 0, checked.stderr
