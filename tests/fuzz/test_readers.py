"""Each reader of readers.cpp for some time with libFuzzer, from what ships or what its tools print. Coverage leads it;
sanitizers and the program's own "a bug in Linebounce" stop it, with the file that did it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from program import ROOT

FUZZER = ROOT / "build" / "fuzzer" / "fuzz_readers"
SECONDS = os.environ.get("LINEBOUNCE_FUZZ_SECONDS", "60")
SHIPPED = {
    "experiment": "configs/experiments/*.toml",
    "machine": "configs/machines/*.toml",
    "protocol": "models/protocols/*_*.md",
    "layout": "configs/layouts/*.toml",
    "pahole": "configs/layouts/*.pahole",
    "matrix": "docs/examples/*.csv",
    "trace": "tests/fuzz/corpus/*",
}
WRITTEN = {
    "probe": "format = 1\n[machine]\nmodel = 'x'\nclock_mhz = 1000\n",
    "dinero": "0 1000\n1 2000\n2 3000\n",
    "lackey": "==7== Lackey\nI  04001090,3\n S 1ffefff8,8\n L 1ffefff8,8\n M 04222000,4\n",
    "champsim": "\x01" * 128,
    "perf_script": "x 1/2 [003] 4.5: cpu/mem-loads/P: ffff 1 |OP LOAD|LVL L1 hit ffff main\n",
    "drmemtrace": "Output format:\n<--record#-> <--instr#->: <---tid--->\n  1  1:  7 read 8 byte(s) @ 0x1000 by PC 0x2\n",
    "lock_statistics": "lock_stat version 0.4\n class name con-bounces contentions\n  &x->lock: 1 2 0.1 0.2 3.4 0.5 6 7 8 9\n",
    "manifest": '{"schema": "linebounce.manifest/1", "hash": "", "files": {}}',
    "seed_file": '{"schema": "linebounce.seed/1", "metrics": {}}',
}


@pytest.mark.thorough
@pytest.mark.parametrize("reader", [*SHIPPED, *WRITTEN])
def test_whatever_a_file_holds_it_is_taken_or_refused(tmp_path: Path, reader: str) -> None:
    assert FUZZER.exists(), "./dev fuzz builds it"
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    if reader in WRITTEN:
        (corpus / "written").write_text(WRITTEN[reader])
    else:
        for file in sorted(ROOT.glob(SHIPPED[reader])):
            shutil.copy(file, corpus)
    limits = [f"-max_total_time={SECONDS}", "-timeout=20", "-rss_limit_mb=3000", f"-artifact_prefix={tmp_path}/"]
    environment = {**os.environ, "LINEBOUNCE_READER": reader, "LINEBOUNCE_ROOT": str(ROOT), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [FUZZER, *limits, "-verbosity=0", corpus],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
