"""What a newcomer types wrong: each message names the thing, the place and what to type instead, and nothing is written."""

import pytest
from experiments import experiment
from program import Program

# Wrong command lines, and what their messages say. "small.toml" is an experiment, "m.toml" a machine, "t.lbt" a trace.
REFUSED = {
    "simulate": "linebounce run EXPERIMENT",
    "locks": "linebounce list locks",
    "oltp run": "it is an experiment, for linebounce run oltp",
    "small.toml": "it is a file, for linebounce run small.toml",
    "t.lbt": "it is a trace, for linebounce advise t.lbt",
    "c2c report": "linebounce import reads perf c2c's reports",
    "diff a b": "linebounce compare A B",
    "help run": "linebounce COMMAND --help",
    "--machine p3_xeon_4way run small.toml": "--machine stands before the command; options follow it",
    "run --list": "there is no option --list: linebounce list experiments, machines or locks",
    "run small.toml --threads 4": "there is no option --threads: --set machine.cpus=N",
    "run small.toml --lock mcs": "there is no option --lock: --set workload.lock=NAME",
    "run small.toml --overwrite": "there is no option --overwrite: --fresh starts over",
    "run small.toml lock=mcs": 'unexpected argument "lock=mcs"; settings are given by --set: --set lock=mcs',
    "run small.toml other": 'unexpected argument "other": small.toml is not a trace',
    "run smal.toml": "smal.toml: there is no such file; did you mean small.toml?",
    "run small.tml": "small.tml: there is no such file; did you mean small.toml?",
    "run small": 'experiment "small" is not known; did you mean the file small.toml?',
    "run p3_xeon_4way": "it is a machine, for --machine p3_xeon_4way",
    "run mcs": "it is a lock, for --set workload.lock=mcs",
    "run m.toml": "m.toml: this is a machine's file; expected an experiment's: linebounce run EXPERIMENT --machine m.toml",
    "run /bin/true": "/bin/true: this is a program; record it: linebounce-record -- /bin/true",
    "advise /bin/true": "this is not a trace but a program; record it: linebounce-record -- /bin/true",
    "run small.toml --machine two_sockets": 'machine "two_sockets" is not known: it is an experiment',
    "check mcs": "it is a lock, for --set workload.lock=mcs",
    "check-lock mesi_snoop": "it is a protocol, for linebounce check mesi_snoop",
    "check-lock .": ".: this is a folder; give a lock's file",
    "run small.toml --set run.measure_us=10ms": 'found a string ("10ms"); did you mean 10000?',
    "run small.toml --set run.measure_us=1k": "did you mean 1000?",
    "run small.toml --set machine.cpu.clock_mhz=2GHz": "did you mean 2000?",
    "run small.toml --set machine.cache.L1D.size_kib=32K": "did you mean 32?",
    "run small.toml --set machine.cpus=1..4": "a list is written with brackets, [1,2,4]",
    "run small.toml --set machine.cpu.clock_ghz=2": "did you mean clock_mhz, in MHz?",
    "run small.toml --set workload.lock=mcs,ticket": "a list is written with brackets: [mcs,ticket]",
    "run small.toml --set workload.lock=[mcs": "a list ends with ], such as [bakery,bravo]",
    "run small.toml --set run.seeds=1 --set run.seeds=2": "--set run.seeds is given twice, as 1 and as 2; give it once",
    "explain small.toml --set run.seeds=1 --set run.seeds=2": "--set run.seeds is given twice",
    "run small.toml --plan --fresh": "--fresh has no effect with --plan",
    "run small.toml --listing nosuch": 'template of counters "nosuch" is not known; known: costs, numbered, table',
    "run small.toml --counters --machine numaq_16way": "counts caches on one bus; this machine has nodes",
    "run small.toml -o x.html": ".html is the ending of a file; for example --output x, then: linebounce report x -o x.html",
    "run small.toml -o m.toml": "--output m.toml: this is a file; give a directory",
    "steps small.toml -o x.pdf": "--output x.pdf: the name of this document ends in .json, .txt, .log",
    "calibrate --from m.toml -o x.csv": "--output x.csv: the name of a machine ends in .toml",
    "calibrate m.csv": "--from is required",
    "report out -o x.pdf": "--output: x.pdf: the name of a page ends in .html or .htm",
    "compare a b -o x.csv": "--output: x.csv: the name of a page ends in .html or .htm",
    "gate --base a --head b --json - --markdown -": "--json and --markdown cannot both be -: give all but one a file",
    "gate --base a --head b c --budget d e": 'unexpected argument "e"; the versions are --base OLD --head NEW',
    "teach 3": 'unexpected argument "3"; a lesson is --lesson N',
    "trace synth -o x.lbt --lock mcs": "--lock needs --locks",
    "trace synth -o x.lbt --accesses 1M": "did you mean 1000000?",
    "trace synth -o x.lbt --object-size 4KB": "did you mean 4096?",
    "trace synth -o x.lbt --shared 50%": "did you mean 50?",
    "list locks mcs": 'unexpected argument "mcs"; linebounce describe NAME describes one',
    "bench contended": "one case is --case NAME",
    "ab small.toml mcs ticket": "--set PATH=A --set PATH=B",
    "lock-report mcs tikket": 'lock "tikket" is not known',
    "advise t.lbt --machine nosuch": 'machine "nosuch" is not known',
}


@pytest.fixture
def newcomer(linebounce: Program) -> Program:
    linebounce.file("small.toml", experiment())
    assert linebounce("new", "machine", "m").code == 0
    assert linebounce("trace", "synth", "--accesses", "10", "-o", "t.lbt").code == 0
    return linebounce


@pytest.mark.parametrize("line", REFUSED)
def test_a_wrong_command_says_what_to_type_and_writes_nothing(newcomer: Program, line: str) -> None:
    before = sorted(newcomer.directory.rglob("*"))
    result = newcomer(*line.split(" "))
    assert result.code in {2, 3}, result
    assert REFUSED[line] in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(newcomer.directory.rglob("*")) == before


def test_ab_takes_its_machines_from_either_option(newcomer: Program) -> None:
    short = ("--set", "run.measure_us=5", "-o", "out")
    done = newcomer("ab", "small.toml", "--machine", "p3_xeon_4way", "--set", "machine=p3_xeon_8way", *short)
    assert done.code == 0, done.stderr


def test_a_table_and_its_form_must_agree(newcomer: Program) -> None:
    newcomer.run("small.toml", "out")
    refused = newcomer("tables", "out", "metrics", "-o", "x.json", "--format", "csv")
    assert (refused.code, "its name means json, and --format says csv" in refused.stderr) == (2, True)
