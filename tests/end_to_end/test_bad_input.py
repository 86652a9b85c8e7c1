"""Mistakes in files and on the command line give exit code 2 and a message with the thing, the place and the legal values."""

import json
import re
import resource
import shlex
from pathlib import Path

import pytest
from experiments import experiment, line_of, machine_file
from program import ROOT, Program


def assert_says(message: str, *parts: str) -> None:
    for part in parts:
        assert re.search(part, message, re.IGNORECASE), f'"{part}" is not in:\n{message}'


def place(path: Path, text: str, part: str) -> str:
    """A pattern for "FILE:LINE:" at the line that contains `part`, followed by a column."""
    return rf"{re.escape(path.name)}:{line_of(text, part)}:\d+"


def refused(linebounce: Program, text: str | bytes, *arguments: str) -> str:
    path = linebounce.file("small.toml", text)
    message = linebounce.refused("run", path, "-o", "out", *arguments)
    assert not (linebounce.directory / "out" / "results.json").exists()
    return message


# For each kind of mistake: the change, the line at fault, and what the message must say.
WRONG_EXPERIMENTS = {
    "unknown key, with a suggestion": (
        experiment(run="warmpu_us = 5\nmeasure_us = 20"),
        "warmpu_us",
        ["warmpu_us", "did you mean.*warmup_us"],
    ),
    "unknown key at the top": (experiment(top="sede = 1"), "sede", ["sede", "did you mean.*seed"]),
    "unknown table": (experiment(more="[swep]\n"), "[swep]", ["swep", "sweep"]),
    "wrong type: text for a number": (
        experiment(run='measure_us = "long"'),
        '"long"',
        [r"run\.measure_us", "number", "string|text"],
    ),
    "wrong type: a number for text": (experiment(workload="name = 3"), "name = 3", ["workload.name", "string|text"]),
    "wrong type: fraction for a count": (
        experiment(run="measure_us = 20\nseeds = 1.5"),
        "seeds",
        [r"run\.seeds", "integer|whole"],
    ),
    "another unit": (experiment(run="measure_ms = 1"), "measure_ms", ["measure_ms", "measure_us"]),
    "duplicate key": (experiment(run="measure_us = 20\nmeasure_us = 30"), "measure_us = 30", ["measure_us"]),
    "TOML syntax": (experiment(run="measure_us = = 20"), "= = 20", []),
    "unclosed text": (experiment(top='source = "open'), '"open', []),
    "negative time": (experiment(run="measure_us = -1"), "measure_us = -1", [r"run\.measure_us", "0"]),
    "no number": (experiment(run="measure_us = nan"), "= nan", [r"run\.measure_us"]),
    "no seeds": (experiment(run="measure_us = 20\nseeds = 0"), "seeds", [r"run\.seeds", "1"]),
    "negative seed": (experiment(top="seed = -1"), "seed = -1", ["seed", "0"]),
    "unknown machine": (experiment(top='machine = "p4_xeon"'), "p4_xeon", ["p4_xeon", "did you mean p4_xeon_ht"]),
    "unknown workload": (
        experiment(workload='name = "critical_sction"'),
        "critical_sction",
        ["critical_sction", "did you mean.*critical_section", "operation_costs", "false_sharing"],
    ),
    "unknown parameter of a workload": (
        experiment(workload='name = "critical_section"\ninside_cycle = 3'),
        "inside_cycle ",
        [r"workload\.inside_cycle\b", "did you mean.*inside_cycles"],
    ),
    "what only the workload can refuse": (
        experiment(workload='name = "locks_per_4k_write"\nwriters = 5'),
        "writers = 5",
        [r"workload\.writers", "4 CPUs", "legal: 1 to 4"],
    ),
    "unknown lock": (
        experiment(workload='name = "critical_section"\nlock = "tickt"'),
        "tickt",
        [r"workload\.lock", "tickt", "ticket", "mcs", "tas"],
    ),
    "sweep over a key that does not exist": (
        experiment(more='[sweep]\n"machine.memory.latency" = [100]'),
        "machine.memory.latency",
        [r"machine\.memory\.latency", r"latency_ns"],
    ),
    "sweep over nothing": (experiment(more='[sweep]\n"machine.cpus" = []'), "machine.cpus", [r"machine\.cpus"]),
    "sweep with a wrong type": (
        experiment(more='[sweep]\n"machine.cpus" = [1, "two"]'),
        "machine.cpus",
        [r"machine\.cpus", "integer|whole|number"],
    ),
    "sweep beyond what the machine has": (
        experiment(more='[sweep]\n"machine.cpus" = [1, 64]'),
        "machine.cpus",
        [r"machine\.cpus", "64", r"\b4\b"],
    ),
    "lists of unequal length swept together": (
        experiment(more='[[sweep.together]]\n"machine.cpus" = [1, 2]\n"run.measure_us" = [10, 20, 30]'),
        "",
        ["together", r"\b2\b", r"\b3\b"],
    ),
    "unknown kind of a paper row": (
        experiment(
            more='[[paper]]\nid = "a"\nmetric = "cost.x"\nvalue = 1\ntolerance = 0.1\nkind = "guessed"\nsource = "none"'
        ),
        "guessed",
        ["guessed", "predicted", "calibrated", "input"],
    ),
    "unknown shape of a paper row": (
        experiment(more='[[paper]]\nid = "a"\nmetric = "cost.x"\nshape = "wavy"\nover = "machine.cpus"\nsource = "none"'),
        "wavy",
        ["wavy", "increasing", "decreasing", "flat"],
    ),
    "a paper row without an id": (
        experiment(more='[[paper]]\nmetric = "cost.x"\nvalue = 1\ntolerance = 0.1\nsource = "none"'),
        "",
        [r"\bid\b"],
    ),
}


@pytest.mark.parametrize("case", WRONG_EXPERIMENTS)
def test_a_wrong_experiment_is_refused_with_place_and_reason(linebounce: Program, case: str) -> None:
    text, at_fault, says = WRONG_EXPERIMENTS[case]
    message = refused(linebounce, text)
    where = place(Path("small.toml"), text, at_fault) if at_fault else r"small\.toml"
    assert_says(message, where, *says)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n \n", b"\x7fELF\x02\x01\x01\x00\x00\xff\xfe\x80\x81", b'name = "\xff\xfe"\n', bytes(range(256)) * 100],
    ids=["empty", "blank", "binary", "not UTF-8", "long binary"],
)
def test_a_file_that_is_not_an_experiment_is_refused(linebounce: Program, content: bytes) -> None:
    message = refused(linebounce, content)
    assert_says(message, r"small\.toml")
    assert len(message) < 2000, "shows the file's content"


WRONG_MACHINES = {
    "sets that are not a power of two": ("size_kib = 16\n", "size_kib = 17\n", [r"cache\.L1D", "power of two"]),
    "inner line longer than the coherence line": (
        "line_bytes = 32\nhit_latency_cycles = 3",
        "line_bytes = 64\nhit_latency_cycles = 3",
        [r"line_bytes", "64", "32"],
    ),
    "a line that is not a power of two": (
        "line_bytes = 32\nhit_latency_cycles = 9",
        "line_bytes = 48\nhit_latency_cycles = 9",
        [r"cache\.L2\.line_bytes", "48", "power of two"],
    ),
    "no ways": ("ways = 4", "ways = 0", [r"cache\.L1D\.ways", r"\b1\b"]),
    "no CPUs": ("cpus   = 4", "cpus   = 0", ["cpus", r"\b1\b"]),
    "wrong type": ("cpus   = 4", 'cpus   = "four"', ["cpus", "integer|whole|number"]),
    "unknown key, with a suggestion": ("banks = 4", "bancs = 4", ["bancs", "did you mean.*banks"]),
    "another unit": ("latency_ns = 100", "latency_us = 100", ["latency_us", "latency_ns"]),
    "duplicate key": ("banks = 4", "banks = 4\nbanks = 5", ["banks"]),
    "a clock that stands still": ("clock_mhz = 700", "clock_mhz = 0", ["clock_mhz"]),
    "unknown replacement": ('"tree_plru"', '"random"', ["random", "lru", "tree_plru"]),
    "unknown consistency": ('"tso"', '"pso"', ["pso", "sc", "tso", "ia64"]),
    "unknown protocol": ('"mesi_snoop"', '"mesy_snoop"', ["mesy_snoop", "mesi_snoop"]),
    "nodes without controllers": ("cpus   = 4", "nodes = 2\ncpus   = 4", ["nodes", r"node\.protocol", r"directory\.protocol"]),
    "no such topology": (
        "cpus   = 4",
        'network.topology = "star"\ncpus   = 4',
        [r"network\.topology", "crossbar, fully_connected, ring, mesh, torus, hypercube, links"],
    ),
    "a bus without width": ("width_bytes = 8", "width_bytes = 0", ["width_bytes"]),
}


@pytest.mark.parametrize("case", WRONG_MACHINES)
def test_a_wrong_machine_is_refused_with_place_and_reason(linebounce: Program, case: str) -> None:
    old, new, says = WRONG_MACHINES[case]
    path = machine_file(linebounce, lambda text: text.replace(old, new, 1))
    message = refused(linebounce, experiment(top=f'machine = "{path}"'))
    at_fault = new.splitlines()[-1 if case == "duplicate key" else 0]
    assert_says(message, *says)
    text = path.read_text()
    if text.count(at_fault) == 1:
        assert_says(message, place(path, text, at_fault))
    else:
        assert_says(message, r"machine\.toml:\d+:\d+")


# By name: arguments after `run small.toml`, and what the message must say.
WRONG_ARGUMENTS = {
    "no CPUs": (["--set", "machine.cpus=0"], [r"machine\.cpus", r"\b1\b"]),
    "more CPUs than the machine has": (["--set", "machine.cpus=5"], [r"machine\.cpus", "5", r"\b4\b"]),
    "fewer than no CPUs": (["--set", "machine.cpus=-1"], [r"machine\.cpus"]),
    "half a CPU": (["--set", "machine.cpus=1.5"], [r"machine\.cpus", "integer|whole"]),
    "a key that does not exist": (["--set", "machine.memory.latency=3"], [r"machine\.memory\.latency", "latency_ns"]),
    "a table": (["--set", "machine.memory=3"], [r"machine\.memory"]),
    "no value": (["--set", "machine.cpus="], [r"machine\.cpus"]),
    "no equals sign": (["--set", "machine.cpus"], [r"machine\.cpus", "="]),
    "no path": (["--set", "=3"], ["="]),
    "text for a number": (["--set", "machine.memory.latency_ns=slow"], [r"machine\.memory\.latency_ns", "number"]),
    "unknown protocol": (["--set", "machine.bus.protocol=mesi"], [r"machine\.bus\.protocol", "mesi_snoop"]),
    "coherence lines of two sizes on one bus": (
        ["--set", "machine.bus.line_bytes=64"],
        [r"machine\.bus\.line_bytes", "64", "32"],
    ),
    "a home that is not a place": (
        ["--set", "placement.protected_data=node 1"],
        [r"placement\.protected_data", "node 1", "local, first_touch, interleaved", "node 0"],
    ),
    "an object that the workload does not have": (
        ["--set", "placement.protected_dta=local"],
        [r"placement\.protected_dta", "critical_section", "objects: .*protected_data", "did you mean protected_data"],
    ),
    "unknown workload": (["--set", "workload.name=critical"], ["critical", "critical_section"]),
    "unknown machine": (["--machine", "pdp11"], ["pdp11", r"`linebounce list machines` shows all \d+"]),
    "a seed that is not a number": (["--seed", "abc"], ["seed", "abc"]),
    "no processes": (["-j", "0"], ["-j|jobs"]),
    "unknown option": (["--verbos"], ["--verbos"]),
    "a point that does not exist": (["--point", "7"], ["7"]),
}


@pytest.mark.parametrize("case", WRONG_ARGUMENTS)
def test_a_wrong_argument_is_refused_with_its_name(linebounce: Program, case: str) -> None:
    arguments, says = WRONG_ARGUMENTS[case]
    assert_says(refused(linebounce, experiment(), *arguments), *says)


def test_a_missing_experiment_is_refused_with_the_known_ones(linebounce: Program) -> None:
    assert_says(linebounce.refused("run", "operation_cots"), "operation_cots", "operation_costs")
    assert_says(linebounce.refused("run", "nowhere/none.toml"), r"nowhere/none\.toml")
    assert_says(linebounce.refused("run", "."), r"\.")


@pytest.mark.parametrize("kind", ["machine", "experiment", "workload", "lock", "protocol"])
def test_describing_an_unknown_name_is_refused_with_the_known_ones_or_their_list(linebounce: Program, kind: str) -> None:
    listed = linebounce("list", f"{kind}s", "--json")
    assert listed.code == 0
    names = [entry["name"] for entry in json.loads(listed.stdout)]
    few = [re.escape(name) for name in names] if kind == "lock" else [f"`linebounce list {kind}s` shows all {len(names)}$"]
    assert_says(linebounce.refused("describe", kind, "no_such_thing").strip(), "no_such_thing", *few)


def test_describing_or_listing_an_unknown_kind_is_refused_with_the_known_ones(linebounce: Program) -> None:
    assert_says(linebounce.refused("describe", "printer", "x"), "printer", "machine", "experiment", "workload")
    assert_says(
        linebounce.refused("list", "printers"),
        'kind "printers" is not known; known: ',
        "machines",
        "experiments",
        "workloads",
        "locks",
        "protocols",
    )


def test_a_workload_that_never_ends_needs_a_time(linebounce: Program) -> None:
    path = linebounce.file("endless.toml", experiment(run="warmup_us = 5"))
    assert_says(linebounce.refused("run", path, "-o", "out"), r"run\.measure_us", "never end")


DEEP = ".".join(["a"] * 20_000)
DEEP_TEXTS = {
    "header": f"[{DEEP}]\n",
    "header of a list": f"[[{DEEP}]]\n",
    "key": f"{DEEP} = 1\n",
    "key before a mistake": f"{DEEP} = = 1\n",
    "key in quotes": '"a"' + ' . "a"' * 20_000 + " = 1\n",
    "lists": "a = " + "[" * 20_000 + "]" * 20_000 + "\n",
    "keys in tables in tables": "a = " + f"{{{'b.' * 30}b = " * 200 + "1" + "}" * 200 + "\n",
}


@pytest.mark.parametrize("deep", DEEP_TEXTS)
@pytest.mark.parametrize("arguments", [("run",), ("describe", "machine"), ("describe", "layout")], ids=" ".join)
def test_text_that_nests_without_bound_is_refused(linebounce: Program, deep: str, arguments: tuple[str, ...]) -> None:
    linebounce.file("deep.toml", DEEP_TEXTS[deep])
    message = linebounce.refused(*arguments, "deep.toml")
    assert_says(message, r"deep\.toml:1:\d+", "more than 32")
    assert len(message) < 1000


def test_dots_and_brackets_in_text_do_not_count_as_depth(linebounce: Program) -> None:
    dots = "." * 100 + "[" * 100
    for title in (f"'{dots}'", f'"\\"{dots}"', f'"""{dots} \\""" {dots} """""'):
        text = experiment(top=f"# {dots}").replace('"A small run"', title)
        assert linebounce("run", linebounce.file("small.toml", text), "--plan").code == 0, title


WRONG_PARTNER = {"bus": "mesi_directory", "directory": "mesi_snoop"}
NODE_PROTOCOL = (ROOT / "models" / "protocols" / "mesi_node.md").read_text()


@pytest.mark.parametrize("key", ["bus", "directory"])
@pytest.mark.parametrize("command", [("check",), ("describe", "protocol")], ids=" ".join)
def test_protocols_that_name_one_another_are_refused(linebounce: Program, key: str, command: tuple[str, ...]) -> None:
    partners = {"self": "self.md", "first": "second.md", "second": "first.md", "swapped": WRONG_PARTNER[key]}
    for name, partner in partners.items():
        linebounce.file(f"{name}.md", re.sub(rf"\| {key} +\| \w+ \|", f"| {key} | {partner} |", NODE_PROTOCOL))
    for name, partner in partners.items():
        message = linebounce.refused(*command, f"{name}.md")
        assert_says(message, rf"{name}\.md: {key}: {re.escape(partner)} is not a protocol of a {key}")


def test_a_long_chain_of_experiments_is_refused(linebounce: Program) -> None:
    for number in range(1000):
        linebounce.file(f"{number}.toml", f'name = "x"\ntitle = "X"\nextends = "{number + 1}.toml"\n')
    assert_says(linebounce.refused("run", "0.toml", "--plan"), r"31\.toml:3:\d+", "extends", "more than 32 files")


@pytest.mark.uninstrumented
def test_running_out_of_memory_is_not_a_bug(linebounce: Program) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (120 << 20, 120 << 20))

    result = linebounce("run", "oltp", "--point", "0", "-o", "out", preexec_fn=little)
    assert result.code in {2, 3, 4}, result.stderr
    assert_says(result.stderr, "memory")


@pytest.mark.parametrize("measure_us", [0.001, 3, 40])
def test_a_value_without_samples_has_no_metric(linebounce: Program, measure_us: float) -> None:
    out = linebounce.run("operation_costs", "out", "--set", f"run.measure_us={measure_us}", "--set", "run.seeds=2")
    metrics = json.loads((out / "results.json").read_text())["points"][0]["metrics"]
    assert "cost.atomic_increment_cache_transfer" not in metrics
    assert all(metric["value"] > 0 for name, metric in metrics.items() if name.startswith("cost."))


@pytest.mark.parametrize("measure_us", [0.001, 20])
def test_a_matrix_that_was_cut_short_has_the_rows_that_were_measured(linebounce: Program, measure_us: float) -> None:
    linebounce.run("core_to_core", "out", "--set", f"run.measure_us={measure_us}", "--set", "run.seeds=2")


def test_an_endless_file_is_not_an_experiment(linebounce: Program) -> None:
    assert_says(linebounce.refused("run", "/dev/zero", "-o", "out"), "/dev/zero", "16 MiB")


def test_an_unknown_command_is_refused_with_the_nearest_one(linebounce: Program) -> None:
    assert_says(linebounce.refused("rnu"), '"rnu" is not known; did you mean run?', "linebounce --help")
    assert "did you mean report?" in linebounce.refused("repotr")
    assert "did you mean export?" in linebounce.refused("trace", "exprt")


def test_a_list_on_the_command_line_is_not_blamed_on_the_experiments_file(linebounce: Program) -> None:
    for value in ["[]", "[1,1]", "[1,one]"]:
        assert linebounce.refused("run", "two_sockets", "--set", f"machine.cpus={value}").startswith(
            "linebounce: --set: machine.cpus: "
        )


def test_no_subcommand_shows_the_help(linebounce: Program) -> None:
    result = linebounce()
    assert result.code in {0, 2}
    assert_says(result.stdout + result.stderr, "run", "reproduce", "list", "describe", "bench")


def test_reproducing_an_unknown_experiment_is_refused(linebounce: Program) -> None:
    assert_says(linebounce.refused("reproduce", "no.such.row"), r"no\.such\.row")


def test_ab_refuses_two_equal_sides(linebounce: Program) -> None:
    assert "both sides have workload.lock=mcs; give two different values" in linebounce.refused(
        "ab", "two_sockets", "--set", "workload.lock=mcs", "--set", "workload.lock=mcs"
    )


def test_an_experiment_may_use_windows_line_ends_a_byte_order_mark_and_floats_for_integers(linebounce: Program) -> None:
    text = experiment(run="warmup_us = 5.0\nmeasure_us = 20").replace("\n", "\r\n")
    linebounce.run(linebounce.file("small.toml", b"\xef\xbb\xbf" + text.encode()), "out")


def test_every_configuration_file_that_is_cut_short_is_refused_or_works(linebounce: Program) -> None:
    """A truncated file never crashes the program or makes it print its internals (Program checks that)."""
    text = experiment(more='[sweep]\n"machine.cpus" = [1, 2]\n')
    for length in range(0, len(text), 11):
        linebounce.file("small.toml", text[:length])
        assert linebounce("run", "small.toml", "--plan").code in {0, 2}, text[:length]


# By command line: the exit code, and what the message must be or contain.
WRONG_COMMAND_LINES = {
    "run two_sockets --seed": (2, "--seed needs a value: --seed N"),
    "run two_sockets --seed abc": (2, '--seed: "abc" is not a whole number; legal: 0 to 9007199254740992'),
    "trace expotr": (
        2,
        'command "expotr" is not known; known: record, replay, info, convert, synth, export; did you mean export?',
    ),
    "layout optimise job --accesses .": (3, ".: this is a folder, not a file"),
    "run two_sockets --seed 1 --seed 2": (2, "--seed is given more than once; give it once"),
    "run two_sockets --output ''": (2, "--output: the value is empty"),  # from -o "$DIR" in a script
    "run two_sockets --quiet=loud": (2, "--quiet takes no value"),
    "trace": (2, "trace needs a subcommand: record, replay, info, convert, synth"),
    "--versoin": (2, "there is no option --versoin; did you mean --version?"),
    "run two_sockets --point 0 --set run.measure_us=1e-9": (2, "--set: run.measure_us: 1e-09 is less than a tick"),
    "run two_sockets --point 99": (2, "--point: 99 is out of range; legal: 0 to 23"),
    "check --seed 1 msi_atomic": (2, "--seed needs --random"),
    "check --random 1000 --machine p3_xeon_4way --murphi m": (2, "--murphi has no effect with --random"),
    "check-lock mcs --machine p3_xeon_4way": (2, "--machine needs --weaken"),
    "check-lock mcs --weaken --machine p3_xeon": (2, '--machine: machine "p3_xeon" is not known; did you mean '),
    "check-lock mcs --quick --machines 2": (2, "--machines has no effect with --quick"),
    "advise t.lbt --yes": (2, "--yes needs --recheck or --plain"),
    "advise t.lbt --time --orders 3": (2, "--orders has no effect with --time"),
    "run t.lbt --vcd x.vcd": (2, "--vcd is for experiments, and t.lbt is a trace"),
    "bench --case replay --cpus 4": (2, "--cpus and --nodes leave no case; legal, CPUs on nodes: 1 on 1 (replay)"),
    "bench --cpus 3": (2, '--cpus: "3" is not known; known: 1, 4, 8, 16, 32, 64'),
    "ab two_sockets --set workload.lock=mcs --set workload.lock=tas --set workload.lock=ticket": (
        2,
        "workload.lock is given 3 times, and ab compares two values; for more: "
        "linebounce run two_sockets --set 'workload.lock=[mcs, tas, ticket]'",
    ),
    # A file is named as it was typed, though the replay is told its whole path.
    "trace replay t.lbt --machine p3_xeon_4way --set machine.cpus=1": (
        3,
        "t.lbt: the trace has 2 threads and the machine 1 CPU",
    ),
    "run t.lbt --as lackey": (2, "--as lackey: t.lbt is a trace of Linebounce's own, which has one form"),
    "run notes.txt": (2, "notes.txt: not a trace in a known form, and an experiment's file must be called NAME.toml, "),
    "steps notes.txt": (2, "notes.txt: an experiment's file must be called NAME.toml"),
    "run .": (2, ".: this is a folder; give an experiment's file, NAME.toml"),
    "trace convert t.lbt t.xyz": (2, "OUT t.xyz: a trace's name ends in .lbt, or in .txt to be written as text"),
    "trace synth -o t.xyz": (2, "--output t.xyz: a trace's name ends in .lbt, or in .txt to be written as text"),
    "trace record two_sockets -o t.xyz": (2, "--output t.xyz: a trace's name ends in .lbt, or in .txt to be written as text"),
    "trace record two_sockets -o x.lbt --for 0": (2, "--for: 0 is out of range; legal: 1 to 100"),
    "trace record two_sockets -o x.lbt --for long": (2, '--for: "long" is not a number; legal: 1 to 100'),
    # The option that was typed is named, not the setting that it stands for.
    "trace replay t.lbt --machine p3_xeon_4way --lock msc": (2, '--lock msc: "msc" is not known; known: recorded, bakery, '),
    "trace replay t.lbt --machine p3_xeon_4way --threads all": (2, '--threads: "all" is none of these; legal: one_each, '),
    "trace replay t.lbt --machine p3_xeon": (2, '--machine: machine "p3_xeon" is not known; did you mean p3_xeon_4way'),
    "run t.lbt --ways 3": (2, "--ways: 32 KiB in 3 ways of 64-byte lines make 170.667 sets; the number of sets must be"),
    "run operation_costs --set machine.cache.L1D.ways=3": (2, "--set: machine.cache.L1D.ways: 16 KiB in 3 ways of 32-byte"),
    "lock-report mcs ticket --cpus 0": (2, "--cpus: 0 is out of range; legal: 1 to 512"),
    "lock-report mcs ticket --cpus few": (2, '--cpus: expected an integer, found a string ("few")'),
    "lock-report mcs ticket --machines nowhere": (2, '--machines: machine "nowhere" is not known; '),
    "describe machine small.toml": (2, "small.toml: this is an experiment's file; expected a machine's"),
    # Exit code 2 for a missing file that users write, 3 for one that is recorded, measured or computed.
    "run none.toml": (2, "none.toml: there is no such file"),
    "check none.md": (2, "none.md: there is no such file"),
    "check-lock none.lua": (2, "none.lua: there is no such file"),
    "describe machine none.toml": (2, "none.toml: there is no such file"),
    "run none.lbt": (3, "none.lbt: there is no such file"),
    "trace info none.lbt": (3, "none.lbt: there is no such file"),
    "import none.txt": (3, "none.txt: there is no such file"),
    "calibrate --from none.csv -o m.toml": (3, "none.csv: there is no such file"),
    "validate lock_scaling --against none.csv": (3, "none.csv: there is no such file"),
    "layout optimise task_struct --accesses none.csv": (3, "none.csv: there is no such file"),
    "lines t.lbt": (3, "t.lbt: this is a file; give a results directory, which `linebounce run` makes"),
    "check-lock t.lbt": (2, "t.lbt: a lock's file must be called NAME.lua or NAME.c"),
    "lines .": (3, ".: this is not a results directory, because it has no results.json"),
    "explain .": (3, ".: this is not a results directory, because it has no config.toml"),
    "trace info empty.lbt": (3, "empty.lbt: byte 0: this is not a trace: the file is empty"),
    "calibrate --from notes.txt -o m.toml": (2, "notes.txt:1:1: this is neither linebounce-probe's file nor a core-to-core"),
    # What can't be written is named in one form.
    "trace convert t.lbt none/x.lbt": (2, "none/x.lbt: cannot be written: No such file or directory"),
    "trace convert t.lbt .": (2, ".: cannot be written: Is a directory"),
    "check msi_snoop --murphi none/x.m": (2, "none/x.m: cannot be written: No such file or directory"),
    "check msi_snoop --murphi .": (2, ".: cannot be written: Is a directory"),
    "run two_sockets -o t.lbt": (2, "--output t.lbt: this is a file; give a directory"),
    "lines none": (3, "none: there is no such results directory; `linebounce run EXPERIMENT -o none` makes one"),
}


def test_a_wrong_command_line_names_the_option_as_it_was_typed_and_what_is_legal(linebounce: Program) -> None:
    assert linebounce("trace", "synth", "-o", "t.lbt", "--threads", "2", "--accesses", "20", "--locks", "1").code == 0
    linebounce.file("notes.txt", "hello\n")
    linebounce.file("empty.lbt", "")
    linebounce.file("small.toml", experiment())
    for words, (code, says) in WRONG_COMMAND_LINES.items():
        message = linebounce.refused(*shlex.split(words), code=code)
        assert message.startswith(f"linebounce: {says}"), f"{words}\n{message}"


def test_one_machine_beside_a_list_of_machines_is_refused(linebounce: Program) -> None:
    result = linebounce("run", "two_sockets", "--machine", "p3_xeon_4way", "--set", "machine=[p3_xeon_4way,p3_xeon_8way]")
    assert result.code == 2
    assert "the machine is p3_xeon_4way already; leave out --machine for a run on the list" in result.stderr
