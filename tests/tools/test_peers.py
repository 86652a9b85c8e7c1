"""./dev bench --peers: the references that peers replay, and what is said where no peer is installed."""

import subprocess
import sys
from pathlib import Path

import peers
import pytest
from peers import CASES, LINE, PRIVATE_AREA, SHARED_LINES, Access, references

COUNT = 20_000


@pytest.mark.parametrize(("case", "shared_pct", "writes_pct"), [("private", 0, 30), ("mixed", 10, 32), ("contended", 100, 50)])
def test_peers_replay_references_in_the_proportions_of_bench(case: str, shared_pct: float, writes_pct: float) -> None:
    found = list(references(CASES[case], 3, COUNT))
    shared = [access for access in found if access.address < SHARED_LINES * LINE]
    private = [access.address - 4 * PRIVATE_AREA for access in found if access.address >= PRIVATE_AREA]
    assert 100 * len(shared) / COUNT == pytest.approx(shared_pct, abs=1)
    assert 100 * sum(access.writes for access in found) / COUNT == pytest.approx(writes_pct, abs=1.5)
    assert all(0 <= offset < 72 * 1024 for offset in private)
    if private:
        assert 100 * sum(offset < 8 * 1024 for offset in private) / len(private) == pytest.approx(87.5, abs=1.5)


def test_a_trace_for_sst_has_a_line_for_each_access(tmp_path: Path) -> None:
    peers.write_sst_trace(tmp_path / "0.trace", iter([Access(64, True), Access(1048584, False)]))
    assert (tmp_path / "0.trace").read_text() == "0 W 64 8\n0 R 1048584 8\n"


def test_a_trace_for_gem5_has_a_header_and_a_packet_for_each_access(tmp_path: Path) -> None:
    peers.write_gem5_trace(tmp_path / "0.trace", iter([Access(64, True), Access(1048584, False)]))
    header = b"\x0a\x0alinebounce\x18" + bytes.fromhex("80a094a58d1d")
    packets = b"\x08\x08\x00\x10\x04\x18\x40\x20\x08" + b"\x0a\x08\x00\x10\x01\x18\x88\x80\x40\x20\x08"
    assert (tmp_path / "0.trace").read_bytes() == b"gem5" + bytes([len(header)]) + header + packets


def test_without_peers_our_rates_and_published_ones_with_their_sources_are_printed(executable: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, peers.__file__, "--scale", "0.02", "--program", executable],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    for case in CASES:
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"  {case} ")]
        assert line.endswith("M/s")
    assert "gem5 is not installed here" in done.stdout
    assert "SST is not installed here" in done.stdout
    for source in ("0746e92cd3c0", "0aaa7d10d8ce", "issue 2157"):
        assert source in done.stdout
