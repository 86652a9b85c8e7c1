"""run --vcd: waveforms of a run, read back."""

import errno
import os
import re
from collections import defaultdict
from pathlib import Path

import pytest
from program import Program

# CPUs 0 and 1 write one word in turn; CPU 2 only reads another.
TURNS = """
ends = true
function setup() ball = place_array("ball", 8) other = place_array("other", 8) end
function run(cpu)
  if cpu.id == 2 then cpu:load(other) end
  for round = 0, cpu.id < 2 and 4 or -1 do
    cpu:spin_until(ball, "==", 2 * round + cpu.id)
    cpu:fetch_add(ball, 1)
  end
end
"""


class Waves:
    """Signals by their full names, each a list of (picoseconds, value)."""

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="ascii")
        head, body = text.split("$enddefinitions")
        assert "1 ps" in re.search(r"\$timescale\s+(.*?)\s*\$end", head, re.DOTALL)[1]
        names: dict[str, str] = {}
        scopes: list[str] = []
        for line in head.splitlines():
            words = line.split()
            if words[:1] == ["$scope"]:
                scopes.append(words[2])
            elif words[:1] == ["$upscope"]:
                scopes.pop()
            elif words[:1] == ["$var"]:
                names[words[3]] = ".".join([*scopes[1:], words[4]])
        self.comments = re.findall(r"\$comment\s*(.*?)\s*\$end", text, re.DOTALL)
        self.signals: dict[str, list[tuple[int, int]]] = defaultdict(list)
        now = 0
        for line in body.splitlines():
            if line.startswith("#"):
                now = int(line[1:])
            elif found := re.fullmatch(r"b([01]+) (\S+)|([01])(\S+)", line):
                value, code = (found[1], found[2]) if found[1] else (found[3], found[4])
                self.signals[names[code]].append((now, int(value, 2)))

    def values(self, name: str) -> list[int]:
        return [value for _, value in self.signals[name]]


@pytest.fixture
def turns(linebounce: Program) -> Path:
    return linebounce.file("turns.lua", TURNS)


def test_a_line_that_two_cpus_write_in_turn_is_modified_in_one_cache_at_a_time(linebounce: Program, turns: Path) -> None:
    result = linebounce("run", turns, "--machine", "p3_xeon_4way", "--vcd", "turns.vcd")
    assert result.code == 0, result.stderr
    waves = Waves(linebounce.directory / "turns.vcd")
    states = next(comment for comment in waves.comments if comment.startswith("lines:"))
    modified = int(re.search(r"(\d+) M\b", states)[1])
    holders = {cache: waves.values(f"lines.ball_line0.cache{cache}") for cache in range(4)}
    assert holders[0].count(modified) >= 5, "each turn of CPU 0"
    assert holders[1].count(modified) >= 5
    assert modified not in holders[2] + holders[3]
    # Replayed in the order of time, no two caches have the line modified.
    now = dict.fromkeys(range(4), 0)
    events = sorted((at, cache, value) for cache in range(4) for at, value in waves.signals[f"lines.ball_line0.cache{cache}"])
    for at in sorted({at for at, _, _ in events}):
        now |= {cache: value for when, cache, value in events if when == at}
        assert list(now.values()).count(modified) <= 1, f"at {at} ps"


def test_the_bus_carries_the_requests_of_the_cores_that_miss(linebounce: Program, turns: Path) -> None:
    assert linebounce("run", turns, "--machine", "p3_xeon_4way", "--vcd", "turns.vcd").code == 0
    waves = Waves(linebounce.directory / "turns.vcd")
    assert set(waves.values("bus0.address")) == {0, 1, 2, 3}, "nobody, and cores 0, 1 and 2, plus 1"
    starts = [at for at, value in waves.signals["bus0.address"] if value > 0]
    assert all(at % 10_000 == 0 for at in starts), "the bus has a clock of 100 MHz"
    assert max(waves.values("bus0.waiting")) >= 1


def test_links_between_nodes_carry_messages(linebounce: Program, turns: Path) -> None:
    result = linebounce("run", turns, "--machine", "generic_2socket_32core", "--set", "machine.cpus=18", "--vcd", "turns.vcd")
    assert result.code == 0, result.stderr
    waves = Waves(linebounce.directory / "turns.vcd")
    links = [name for name in waves.signals if name.startswith("links.")]
    assert links
    assert max(value for name in links for value in waves.values(name)) >= 1
    assert all(waves.values(name)[-1] == 0 for name in links), "in the end nothing is under way"


def test_one_point_is_drawn_and_the_choice_is_required(linebounce: Program, turns: Path) -> None:
    sweep = ("run", turns, "--machine", "p3_xeon_4way", "--set", "machine.cpus=[2,4]", "--vcd")
    assert "--vcd draws one point, and the experiment has 2" in linebounce.refused(*sweep, "turns.vcd")
    assert linebounce(*sweep, "turns.vcd", "--point", "cpus=2").code == 0
    assert "lines.ball_line0.cache1" in Waves(linebounce.directory / "turns.vcd").signals
    assert "lines.ball_line0.cache2" not in Waves(linebounce.directory / "turns.vcd").signals
    assert "a waveform file's name ends in .vcd" in linebounce.refused(*sweep, "turns.txt")


def test_a_full_disk_is_an_error_and_leaves_no_file(linebounce: Program, turns: Path, tiny_disk: Path) -> None:
    (tiny_disk / "filler").write_bytes(b"x" * 14 * 1024)
    message = linebounce.refused("run", turns, "--machine", "p3_xeon_4way", "-o", "out", "--vcd", tiny_disk / "turns.vcd")
    assert os.strerror(errno.ENOSPC) in message
    assert [path.name for path in tiny_disk.iterdir()] == ["filler"]
