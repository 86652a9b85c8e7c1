"""`linebounce run TRACE`: traces as courses hand them out, and counters that a model of the textbook counts alike."""

import json
import random
import re
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import pytest
from program import ROOT, Program

Access = tuple[int, bool, int]  # CPU, whether it writes, address

NAMES = (
    "reads", "read_misses", "writes", "write_misses", "evictions", "write_backs", "bus_rd", "bus_rdx",
    "bus_upgr", "bus_upd", "bus_wr", "cache_to_cache", "memory_reads", "memory_writes", "interventions",
    "invalidations", "flushes", "updates", "silent_upgrades", "sc_failures", "bus_bytes",
)  # fmt: skip
CACHE, WAYS, LINE = 1024, 2, 64
CPUS = 4


class Model:
    """The textbook's protocols, written down without their tables: who has a line, and whether its copy is dirty."""

    def __init__(self, protocol: str, *, flush_to_writers: bool) -> None:
        self.updates, self.exclusive = protocol == "dragon", protocol != "msi"
        self.owned = protocol in ("moesi", "dragon")
        self.through, self.allocates = protocol.startswith("write_through"), protocol != "write_through"
        self.clean_answers = protocol == "illinois"
        # Whether memory receives the dirty data that another cache's write fetches.
        self.flush_to_writers = flush_to_writers and not self.owned
        # For each cache: set, then line (oldest first), then state.
        self.sets: list[dict[int, dict[int, str]]] = [{} for _ in range(CPUS)]
        self.counts = [Counter() for _ in range(CPUS)]

    def lines(self, cpu: int, line: int) -> dict[int, str]:
        return self.sets[cpu].setdefault(line % (CACHE // WAYS // LINE), {})

    def access(self, cpu: int, write: bool, address: int) -> None:
        line, count, mine = address // LINE, self.counts[cpu], self.lines(cpu, address // LINE)
        count["writes" if write else "reads"] += 1
        state = mine.pop(line, None)
        if state is None:
            count["write_misses" if write else "read_misses"] += 1
            if self.allocates or not write:
                state = self.fetch(cpu, line, to_write=write and not self.updates and not self.through)
        elif write and state == "exclusive":
            count["silent_upgrades"] += 1
        if write and self.through:
            self.write_through(cpu, line)
        elif write and state in ("shared", "owner"):
            state = self.tell_others(cpu, line)
        elif write:
            state = "modified"
        if state is not None:
            mine[line] = state

    def others(self, cpu: int, line: int) -> list[tuple[int, dict[int, str]]]:
        return [(one, self.lines(one, line)) for one in range(CPUS) if one != cpu and line in self.lines(one, line)]

    def fetch(self, cpu: int, line: int, *, to_write: bool) -> str:
        count, mine, others = self.counts[cpu], self.lines(cpu, line), self.others(cpu, line)
        if len(mine) == WAYS:
            count["evictions"] += 1
            if mine.pop(next(iter(mine))) in ("modified", "owner"):
                count.update({"write_backs": 1, "memory_writes": 1, "bus_bytes": LINE})
        dirty = [one for one, lines in others if lines[line] in ("modified", "owner")]
        count.update({"bus_rdx" if to_write else "bus_rd": 1, "bus_bytes": LINE})
        count["cache_to_cache" if dirty or (self.clean_answers and others) else "memory_reads"] += 1
        for one, lines in others:
            if lines[line] == "modified" and (self.flush_to_writers if to_write else not self.owned):
                self.counts[one].update({"flushes": 1, "memory_writes": 1})
            if to_write:
                del lines[line]
                self.counts[one]["invalidations"] += 1
            else:
                self.counts[one]["interventions"] += lines[line] in ("modified", "exclusive")
                lines[line] = "owner" if one in dirty and self.owned else "shared"
        if to_write:
            return "modified"
        return "shared" if others or self.through or not self.exclusive else "exclusive"

    def write_through(self, cpu: int, line: int) -> None:
        self.counts[cpu].update({"bus_wr": 1, "memory_writes": 1, "bus_bytes": 8})
        for one, lines in self.others(cpu, line):
            del lines[line]
            self.counts[one]["invalidations"] += 1

    def tell_others(self, cpu: int, line: int) -> str:
        others = self.others(cpu, line)
        self.counts[cpu]["bus_upd" if self.updates else "bus_upgr"] += 1
        for one, lines in others:
            if self.updates:
                lines[line] = "shared"
                self.counts[one]["updates"] += 1
            else:
                del lines[line]
                self.counts[one]["invalidations"] += 1
        if not self.updates or not others:
            return "modified"
        self.counts[cpu]["bus_bytes"] += 8
        return "owner"


def accesses(seed: int, count: int = 1500) -> list[Access]:
    """Few lines that all CPUs use, and more of each CPU's own, so that lines are shared, written and evicted."""
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        cpu = draw.randrange(CPUS)
        line = draw.randrange(6) if draw.random() < 0.6 else 6 + cpu * 14 + draw.randrange(14)
        made.append((cpu, draw.random() < 0.4, 0x40000 + line * LINE + 4 * draw.randrange(LINE // 4)))
    return made


def counted(program: Program, files: list[str], protocol: str, *more: str) -> list[dict[str, int]]:
    form = program.file("form.txt", "[each cache]\n" + " ".join(f"{{{name}}}" for name in NAMES) + "\n[end]\n")
    shape = ["--cache-bytes", str(CACHE), "--ways", str(WAYS), "--line-bytes", str(LINE)]
    done = program("run", *files, "--protocol", protocol, *shape, "--listing", form, *more)
    assert done.code == 0, done.stderr
    rows = [dict(zip(NAMES, map(int, line.split()), strict=True)) for line in done.stdout.splitlines()]
    return rows[:CPUS]


def expected(protocol: str, order: list[Access], *, flush_to_writers: bool) -> list[dict[str, int]]:
    model = Model(protocol, flush_to_writers=flush_to_writers)
    for access in order:
        model.access(*access)
    return [{name: count[name] for name in NAMES} for count in model.counts]


def ordered(order: list[Access]) -> str:
    return "".join(f"{cpu} {'w' if write else 'r'} {address:x}\n" for cpu, write, address in order)


# For the forms that have a file for each CPU: how a read of a line is written, and a write.
PER_CPU = {"read-write": ("r {:x}", "w {:x}"), "per-core": ("0 0x{:x}", "1 0x{:x}"), "smpcache": ("2 {:x}", "3 {:x}")}


@pytest.mark.parametrize("protocol", ["msi", "mesi", "moesi", "dragon"])
def test_counters_of_an_ordered_trace_are_the_models_on_both_buses(linebounce: Program, protocol: str) -> None:
    order = accesses(1)
    trace = str(linebounce.file("ordered.txt", ordered(order)))
    found = counted(linebounce, [trace], f"{protocol}_atomic")
    assert found == expected(protocol, order, flush_to_writers=True)
    found = counted(linebounce, [trace], f"{protocol}_snoop", "-o", str(linebounce.directory / "out"), "--fresh")
    assert found == expected(protocol, order, flush_to_writers=False)


@pytest.mark.parametrize("protocol", ["illinois", "write_through", "write_through_allocate"])
def test_counters_of_protocols_that_only_the_atomic_bus_has(linebounce: Program, protocol: str) -> None:
    order = accesses(4)
    trace = str(linebounce.file("ordered.txt", ordered(order)))
    assert counted(linebounce, [trace], protocol) == expected(protocol, order, flush_to_writers=True)


@pytest.mark.parametrize("form", PER_CPU)
@pytest.mark.parametrize("protocol", ["msi", "mesi", "moesi", "dragon"])
def test_files_of_one_cpu_each_take_turns(linebounce: Program, protocol: str, form: str) -> None:
    by_cpu: list[list[Access]] = [[one for one in accesses(2) if one[0] == cpu] for cpu in range(CPUS)]
    files = [
        str(linebounce.file(f"core_{cpu}.txt", "".join(PER_CPU[form][one[1]].format(one[2]) + "\n" for one in of_cpu)))
        for cpu, of_cpu in enumerate(by_cpu)
    ]
    order = [one for turn in zip_longest(*by_cpu) for one in turn if one is not None]
    found = counted(linebounce, files, f"{protocol}_atomic", "--as", form)
    assert found == expected(protocol, order, flush_to_writers=True)


def test_an_experiment_prints_the_same_counters_that_its_results_have(linebounce: Program) -> None:
    text = linebounce.file("few.txt", ordered(accesses(3, 200)))
    out = linebounce.directory / "out"
    shown = linebounce("run", text, "--counters", "-o", out, "--quiet")
    assert shown.code == 0, shown.stderr
    rows = {re.split(r"\s{2,}", line.strip())[0]: line.split()[-1] for line in shown.stdout.splitlines() if line.strip()}
    metrics = json.loads((out / "results.json").read_text())["points"][0]["metrics"]
    for words, name in (("read misses", "read_misses"), ("BusUpgr", "bus_upgr"), ("bytes on the bus", "bus_bytes")):
        assert int(rows[words]) == sum(metrics[f"caches.{cache}.{name}"]["value"] for cache in range(CPUS))
    assert sum(metrics[f"caches.{cache}.reads"]["value"] for cache in range(CPUS)) == sum(
        not write for _, write, _ in accesses(3, 200)
    )


@pytest.mark.parametrize("template", sorted(path.stem for path in (ROOT / "configs" / "counters").glob("*.txt")))
def test_shipped_templates_have_a_part_for_each_cache(linebounce: Program, template: str) -> None:
    trace = linebounce.file("few.txt", "0 r 100\n1 w 100\n0 r 100\n")
    done = linebounce("run", trace, "--protocol", "mesi_atomic", "--listing", template)
    assert done.code == 0, done.stderr
    assert "{" not in done.stdout
    assert done.stdout.count("\n") > 2
    if template == "numbered":
        assert "Results of cache 1" in done.stdout
        assert "10. invalidations:                  1" in done.stdout  # cache 0 loses its copy to the write


def test_a_template_with_an_unknown_counter_is_refused_with_its_line(linebounce: Program) -> None:
    trace = linebounce.file("few.txt", "0 r 100\n1 w 100\n")
    form = linebounce.file("form.txt", "a line\n{misess}\n")
    done = linebounce("run", trace, "--protocol", "mesi_atomic", "--listing", form)
    assert done.code == 2
    assert "form.txt:2: unknown counter 'misess'; legal: accesses" in done.stderr


STREAM = "1 r 100\n1 w 100\n1 r 100\n1 w 100\n2 r 100\n2 w 100\n2 r 100\n2 w 100\n"


def costs(program: Program, protocol: str, *arguments: str) -> list[str]:
    """The last row of the table: the name and what each cache has, then all."""
    done = program("run", program.file("stream.txt", STREAM), "--protocol", protocol, *arguments)
    assert done.code == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


# CPU 1 misses, then hits, but for MSI's upgrade of its first write. CPU 2 misses, and its first write tells CPU 1; under
# Dragon each of its writes does.
@pytest.mark.parametrize(
    ("protocol", "first", "second"),
    [("msi", 150 + 20 + 2, 150 + 20 + 2), ("mesi", 150 + 3, 150 + 20 + 2), ("dragon", 150 + 3, 150 + 20 + 1 + 20)],
)
def test_a_cost_is_computed_for_each_cache_and_all(linebounce: Program, protocol: str, first: int, second: int) -> None:
    formula = "cycles = hits*1 + (bus_upgr + bus_upd)*20 + misses*150"
    assert costs(linebounce, protocol, "--cost", formula) == ["cycles", "0", str(first), str(second), str(first + second)]
    # Where one wrote first, the other's miss is served by its cache.
    short = "cycles = hits*1 + c2c*20 + memory*150"
    assert costs(linebounce, "mesi", "--cost", short) == ["cycles", "0", "153", "22", "175"]


def test_a_cost_may_use_another_and_is_a_mean_over_all(linebounce: Program) -> None:
    more = ("--cost", "cycles=hits-(-2*misses)", "--cost", "each = cycles / accesses")
    assert costs(linebounce, "mesi", *more) == ["each", "0", "1.25", "1", "1.12"]


def test_a_template_may_have_costs(linebounce: Program) -> None:
    trace = linebounce.file("stream.txt", STREAM)
    form = linebounce.file("form.txt", "[costs]\ncycles = hits + misses*9\n[end]\n{cycles}\n[each cache]\n{cycles:4}\n[end]\n")
    done = linebounce("run", trace, "--protocol", "mesi", "--listing", form)
    assert done.stdout.splitlines() == ["23", "   0", "  12", "  11"]
    form = linebounce.file("form.txt", "first\n[costs]\ncycles 3\n[end]\n")
    assert (
        "form.txt:3: 'cycles 3': expected NAME = COSTS"
        in linebounce("run", trace, "--protocol", "mesi", "--listing", form).stderr
    )


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("cycles", "expected NAME = COSTS"),
        ("2x = hits", "expected NAME = COSTS"),
        ("x = hits +", "ends where a counter or a number is expected"),
        ("x = (hits", "')' is missing"),
        ("x = hits misses", "'misses' is not expected"),
        ("x = hitz", "unknown counter 'hitz'; legal: accesses"),
        ("x = 1.2.3", "'1.2.3' is not a number"),
        ("reads = 1", "reads: is there already"),
        ("x = " + "(" * 1000, "too many parentheses"),
    ],
)
def test_a_cost_that_cannot_be_computed_is_refused(linebounce: Program, formula: str, message: str) -> None:
    done = linebounce("run", linebounce.file("stream.txt", STREAM), "--protocol", "mesi", "--cost", formula)
    assert done.code == 2
    assert message in done.stderr


def test_options_of_traces_are_refused_for_experiments(linebounce: Program) -> None:
    done = linebounce("run", "operation_costs", "--protocol", "mesi_atomic")
    assert done.code == 2
    assert "operation_costs is not a trace" in done.stderr


def test_a_machine_of_several_buses_has_no_such_counters(linebounce: Program) -> None:
    done = linebounce("run", "operation_costs", "--machine", "numaq_16way", "--counters", "-o", linebounce.directory / "out")
    assert done.code == 2
    assert "--counters: counts caches on one bus" in done.stderr


def test_the_log_has_a_line_for_each_transition_in_the_wanted_form(linebounce: Program, tmp_path: Path) -> None:
    program = tmp_path / "one.lua"
    program.write_text(
        'ends = true\nfunction setup() x = place_array("x", 8) end\n'
        "function run(cpu) if cpu.id == 0 then cpu:load(x) cpu:store(x, 1) end end\n"
    )
    machine = ["--machine", "course_8way", "--set", "machine.cpus=2"]
    done = linebounce("steps", program, *machine, "--log-form", "{number} {name} {from} {to} {event}")
    assert done.code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "0 x I IS_AD Load",
        "0 x IS_AD IE_D Own_GetS [alone]",
        "0 x IE_D E Data",
        "0 x E M Store",
    ]
    assert "known: controller, event" in linebounce("steps", program, *machine, "--log-form", "{what}").stderr
