"""What starts without SystemC, and what needs it."""

import os
import shutil
import subprocess

from program import ROOT, Program


def test_only_simulations_need_systemc(linebounce: Program) -> None:
    alone = Program(linebounce.directory / "linebounce", linebounce.directory)
    shutil.copy2(linebounce.executable, alone.executable)
    environment = os.environ | {"LINEBOUNCE_ROOT": str(ROOT)}
    for command in (["--version"], ["list", "machines"], ["describe", "lock", "mcs"], ["check", "mesi_snoop"]):
        assert alone(*command, env=environment).code == 0
    for output in (["-o", "out"], ["--vcd", "waves.vcd"]):
        said = alone.refused("run", "operation_costs", "--quiet", "--set", "run.measure_us=1", *output, env=environment)
        assert "liblinebounce_systemc.so" in said
        assert len(said.splitlines()) == 1
    needed = subprocess.run(["readelf", "--dynamic", alone.executable], capture_output=True, text=True, check=True).stdout
    assert "systemc" not in needed
