"""Files from others, made to do harm: nothing is written outside the output directory, no terminal or browser obeys their
content, and no size in them makes the program allocate more than the file could fill."""

import csv
import os
import re
import resource
import shutil
import tomllib
from pathlib import Path

import pytest
from experiments import BUSY, experiment, machine_file
from linebounce import open as open_results
from memory import peak_mib
from program import Program

# An escape sequence, an eight-bit one, a change of writing direction, and a script.
ODD_NAME = "x\\u001b[2J\\u009b2J\\u202e</script><img src=x onerror=alert(1)>"
OUTSIDE = ["../../escaped", "/tmp/linebounce-escaped", "..", "a/../../escaped", ".hidden", "a\\u001b[2Jb", "a\\u007fb", ""]
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def trace(linebounce: Program) -> str:
    """A trace as text."""
    linebounce.file("small.toml", experiment())
    assert linebounce("trace", "record", "small.toml", "-o", "small.txt").code == 0
    return (linebounce.directory / "small.txt").read_text()


def everything_below(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_experiment_cannot_name_a_directory_elsewhere(linebounce: Program, name: str) -> None:
    file = linebounce.file("deep/in/e.toml", experiment().replace('"small"', f'"{name}"'))
    assert "e.toml:1" in linebounce.refused("run", file)
    assert everything_below(linebounce.directory) == {"deep", "deep/in", "deep/in/e.toml"}


FORGED = r"x\nlinebounce: all is well\r"


@pytest.mark.parametrize(
    "text",
    [
        experiment(more=f'[run2]\n"{FORGED}" = 1'),
        experiment(top=f'machine = "{FORGED}.toml"'),
        experiment(workload=f'program = "{FORGED}.lua"'),
        experiment(workload=f'{BUSY}\nlock = "{FORGED}.lua"'),
        experiment(more=f'[sweep]\n"workload.lock" = ["mcs", "{FORGED}.c"]'),
        experiment().replace('"small"', r'"small\u0000er"'),
        experiment(workload=r'program = "a.lua\u0000.lua"'),
        experiment().replace('"small"', '"-rf"'),
        experiment().replace('"small"', r'"a\u202eb"'),
    ],
    ids=["key", "machine", "program", "lock", "swept_lock", "zero_byte", "name_before_a_zero_byte", "option", "direction"],
)
def test_a_name_forges_no_line_of_a_message(linebounce: Program, text: str) -> None:
    linebounce.file("a.lua", "ends = true\nfunction run(cpu) end\n")
    message = linebounce.refused("run", linebounce.file("e.toml", text))
    assert message.startswith("linebounce: ")
    assert message.count("\n") == 1


@pytest.mark.parametrize("named", ['machine = "p.toml"', 'lock = "p.lua"', 'program = "p.lua"'])
def test_an_experiment_that_names_a_pipe_keeps_no_command_waiting(linebounce: Program, named: str) -> None:
    for pipe in ("p.toml", "p.lua"):
        os.mkfifo(linebounce.directory / pipe)
    text = (
        experiment(top=named)
        if "machine" in named
        else experiment(workload=named if "program" in named else f"{BUSY}\n{named}")
    )
    message = linebounce.refused("run", linebounce.file("e.toml", text))
    assert "this is a pipe, not a file" in message


@pytest.mark.usefixtures("trace")
@pytest.mark.parametrize("name", [name for name in OUTSIDE if name])
def test_a_machine_cannot_name_a_directory_elsewhere(linebounce: Program, name: str) -> None:
    """A replay on several machines makes one directory for each machine's name."""
    machine_file(linebounce, lambda text: text.replace('"p3_xeon_4way"', f'"{name}"', 1))
    before = everything_below(linebounce.directory)
    for command in ("find-sharing", "compare-locks"):
        message = linebounce.refused(command, "small.txt", "--machine", "machine.toml", "-o", "out")
        assert "machine.toml:" in message
        assert "name" in message
    assert everything_below(linebounce.directory) == before


def test_a_trace_names_no_file(linebounce: Program, trace: str) -> None:
    away = trace.replace("section_lock", "../../../escaped").replace("machine p3_xeon_4way", "machine ../../escaped")
    linebounce.file("deep/in/t.txt", away)
    (linebounce.directory / "deep" / "in" / "out").mkdir()
    for command in (("trace", "replay"), ("find-sharing",)):
        linebounce(*command, "deep/in/t.txt", "-o", "deep/in/out/x")
    assert {path.name for path in linebounce.directory.iterdir()} == {"deep", "small.toml", "small.txt"}
    assert {path.name for path in (linebounce.directory / "deep" / "in").iterdir()} == {"t.txt", "out"}


LINKS = [".linebounce-lock", "points", "points/0", "family_range", "explain.json", "results.json"]


@pytest.mark.parametrize("name", LINKS)
def test_links_in_a_results_directory_change_nothing_elsewhere(linebounce: Program, name: str) -> None:
    """Runs, sweeps' merges and `explain` write into results directories, which may come from strangers."""
    here = linebounce.directory
    path = linebounce.file("sweep.toml", experiment(more='[sweep]\n"machine.cpus" = [1, 2]'))
    linebounce.run(path, "mine")
    (here / "mine" / ".linebounce-lock").write_text("precious")
    shutil.copytree(here / "mine", here / "out")
    theirs, inside = here / "out" / name, here / "mine" / name
    if theirs.is_dir():
        shutil.rmtree(theirs)
    theirs.unlink(missing_ok=True)
    theirs.symlink_to({"family_range": here / "mine", "explain.json": here / "mine" / "results.json"}.get(name, inside))
    before = contents(here / "mine")
    for command in (["explain", "out"], ["run", path, "-o", "out"], ["run", path, "-o", "out", "--fresh"]):
        assert linebounce(*command).code in (0, 2)
        assert contents(here / "mine") == before, command
    if name in ("points", "family_range"):
        message = f"linebounce: out/{name}: is a symbolic link, and nothing is written elsewhere; remove it\n"
        assert linebounce.refused("run", path, "-o", "out") == message


@pytest.mark.usefixtures("trace")
@pytest.mark.parametrize("link", ["p3_xeon_4way", "p3_xeon_4way/recorded"])
@pytest.mark.parametrize("command", ["find-sharing", "compare-locks"])
def test_links_in_an_output_of_several_runs_lead_nowhere(linebounce: Program, command: str, link: str) -> None:
    words = (command, "small.txt", "--machine", "p3_xeon_4way", "--orders", "2", "-o", "out")
    assert linebounce(*words).code == 0
    theirs = linebounce.directory / "out" / link
    theirs.rename(linebounce.directory / "elsewhere")
    theirs.symlink_to(linebounce.directory / "elsewhere")
    before = contents(linebounce.directory / "elsewhere")
    assert "is a symbolic link, and nothing is written elsewhere" in linebounce.refused(*words)
    assert contents(linebounce.directory / "elsewhere") == before


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_names_are_text_on_the_terminal_and_in_the_page(linebounce: Program, trace: str) -> None:
    linebounce.file("odd.txt", trace.replace("section_lock", f'"{ODD_NAME}"').replace("protected_data", f'"{ODD_NAME}2"'))
    said = ""
    for command in (
        ("trace", "info", "odd.txt"),
        ("trace", "replay", "odd.txt", "-o", "out"),
        ("lines", "out"),
        ("find-sharing", "odd.txt", "-o", "sharing"),
        ("report", "out", "-o", "page.html"),
    ):
        done = linebounce(*command)
        assert done.code == 0, done.stderr
        said += done.stdout + done.stderr
    assert "onerror" in said, "the names are shown"
    assert not CONTROL.search(said)
    page = (linebounce.directory / "page.html").read_text()
    assert "<img src=x" not in page
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", page)


HOSTILE = r"""
title = "</title><script>alert(1)</script>\27[31m\nred\u{202e}"
ends  = true
function setup()
  a = place(structure { name = "=1+1", "x,y", "q\"uote", "new\nline", "tab\t" }, "=HYPERLINK(\"http://x/\",\"a\")")
  b = place(structure { name = "@SUM(1)", "+1", "-1" }, "\t</script><script>alert(2)</script>")
  l = lock("ticket", "=lock,\"<b>\n\27[2J")
  f = named("=func\n<script>", function(cpu) cpu:fetch_add(a["new\nline"], 1) end)
end
function run(cpu)
  for i = 1, 50 do
    cpu:acquire(l)
    f(cpu)
    cpu:fetch_add(b["+1"], 1)
    cpu:release(l)
    cpu:tally()
  end
end
"""


def test_no_cell_of_a_csv_file_is_a_formula_and_names_stay_on_their_line(linebounce: Program) -> None:
    linebounce.file("hostile.lua", HOSTILE)
    more = ("--machine", "p3_xeon_4way", "--set", "run.record_timeline=true", "--set", "run.seeds=2")
    out = linebounce.run("hostile.lua", "out", *more)
    for file in out.glob("*.csv"):
        text = file.read_text()
        assert not CONTROL.search(text), file
        rows = list(csv.reader(text.splitlines()))
        assert {len(row) for row in rows} == {len(rows[0])}, f"{file}: a row is a line"
        assert not [cell for row in rows for cell in row if re.match("[=+@\t\r]|-[^0-9]", cell)], file
    assert "'=lock," in (out / "locks.csv").read_text()
    assert "'+1" in (out / "lines.csv").read_text()
    results = open_results(out)
    lock = r'=lock,"<b>\u000a\u001b[2J'
    assert set(results.locks["lock"]) == {lock}, "as it was, but for control characters"
    assert {"=1+1", "@SUM(1)"} <= set(results.lines["structure"])
    commands = [
        ("run", "hostile.lua", "-o", "out", *more),
        ("lines", "out"),
        ("describe", "program", "hostile.lua"),
        ("explain", "out"),
    ]
    said = "".join(linebounce(*command).stdout for command in commands)
    assert not CONTROL.search(said)
    assert lock in said
    assert not re.search(r"^(\\u001b|line|<script>|red)", said, re.MULTILINE), "no name begins a line of its own"


def test_no_file_holds_a_character_that_acts(linebounce: Program) -> None:
    """Programs that parse a file get the names unchanged. A person's terminal does not obey them when it shows the
    file."""
    linebounce.file("hostile.lua", HOSTILE.replace("=func", "=func\\u{9b}31m"))
    linebounce.run("hostile.lua", "out", "--machine", "p3_xeon_4way")
    for command in (
        ("steps", "hostile.lua", "--machine", "p3_xeon_4way", "-o", "out/steps.json"),
        ("explain", "out"),
        ("report", "out", "-o", "out/page.html"),
        ("compare", "out", "out", "-o", "out/compared.html"),
    ):
        assert linebounce(*command).code == 0
    written = [*(linebounce.directory / "out").rglob("*.*")]
    assert {"config.toml", "results.json", "steps.json", "page.html", "compared.html"} <= {path.name for path in written}
    for path in written:
        assert not CONTROL.search(path.read_text()), path
    config = tomllib.loads((linebounce.directory / "out" / "config.toml").read_text())
    assert config["title"] == "</title><script>alert(1)</script>\x1b[31m\nred\u202e"


HOSTILE_TEXT = r"nothing\nlinebounce: all is well\t\u001b[2J\u009b2J\u202e<img src=x onerror=alert(1)>"


def one_thread(name: str) -> str:
    """Takes the lock often, and works in its section."""
    turn = f'{name} acquire "{HOSTILE_TEXT}"\n{name} fetch_add o 8\n{name} release "{HOSTILE_TEXT}"\n'
    return turn * 30


TRACE_WITH_A_HOSTILE_LOCK = (
    f'linebounce trace 1\nobject o size=8\nlock "{HOSTILE_TEXT}" algorithm=tas\nstream a\nstream b cpu=1\n'
    + one_thread("a")
    + one_thread("b")
    + "end\n"
)


def test_no_text_of_a_machine_a_layout_or_a_parameter_begins_a_line_or_acts_in_a_page(linebounce: Program) -> None:
    def hostile(text: str) -> str:
        text = re.sub("^title +=.*", lambda _: f'title = "{HOSTILE_TEXT}"', text, count=1, flags=re.MULTILINE)
        return re.sub('^("memory.latency_ns" = ).*', lambda found: f'{found[1]}"assumed: {HOSTILE_TEXT}"', text, flags=re.M)

    machine_file(linebounce, hostile)
    linebounce.file(
        "layout.toml",
        f"""name = "l"
        title = "{HOSTILE_TEXT}"
        [structure.s]
        subsystem = "{HOSTILE_TEXT}"
        size_bytes = 8
        fields = [{{ name = "a", offset_bytes = 0, size_bytes = 8 }}]
        """,
    )
    text = HOSTILE_TEXT.replace("\\u001b", "\\27").replace("\\u009b", "\\u{9b}").replace("\\u202e", "\\u{202e}")
    linebounce.file(
        "p.lua",
        f"""ends = true
        parameters = {{ {{ name = "p", default = "{text}", meaning = "{text}", choices = {{ "{text}" }} }} }}
        function run(cpu) cpu:tally() end""",
    )
    linebounce.run("p.lua", "out", "--machine", "machine.toml")
    linebounce.file("t.txt", TRACE_WITH_A_HOSTILE_LOCK)
    said = ""
    for command in (
        ("compare-locks", "t.txt", "--machine", "p3_xeon_4way", "-o", "locks"),
        ("advise", "t.txt", "--machine", "p3_xeon_4way"),
        ("trace", "info", "t.txt"),
        ("describe", "machine", "machine.toml"),
        ("describe", "layout", "layout.toml"),
        ("describe", "workload", "p.lua"),
        ("check", "--random", "100", "--machine", "machine.toml"),
        ("run", "p.lua", "--machine", "machine.toml", "--set", "workload.p=x"),
        ("report", "out", "-o", "page.html"),
    ):
        done = linebounce(*command)
        said += done.stdout + done.stderr
    assert said.count("all is well") >= 5
    assert not CONTROL.search(said)
    assert not re.search("^ *linebounce: all is well", said, re.MULTILINE)
    assert not CONTROL.search((linebounce.directory / "page.html").read_text())


def test_a_programs_own_error_is_one_line(linebounce: Program) -> None:
    linebounce.file("fails.lua", "function run(cpu) error('lost\\nlinebounce: all is well\\t\\27[2J') end")
    message = linebounce.refused("run", "fails.lua", "--machine", "p3_xeon_4way")
    assert message == r"linebounce: fails.lua:1: CPU 0: lost\u000alinebounce: all is well\u0009\u001b[2J" + "\n"


@pytest.mark.uninstrumented
def test_as_many_structures_and_functions_as_a_program_may_have_are_found_quickly(linebounce: Program) -> None:
    """A search through lists of structures and functions would take minutes."""
    linebounce.file(
        "many.lua",
        """ends = true
        function setup()
          for i = 1, 40000 do place_array("a" .. i, 8) end
          for i = 1, 20000 do named("f" .. i, function() end) end
        end
        function run(cpu) end""",
    )
    begun = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    linebounce.run("many.lua", "out", "--machine", "p3_xeon_4way", "--set", "machine.cpus=1")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begun < 3


# How much memory it takes to read these files must not depend on the sizes that they state.
HUGE = {
    "cpus": (experiment(top="", more='[sweep]\n"machine.cpus" = [1, 1000000000000]'), "machine.cpus"),
    "seeds": (experiment(run="seeds = 1000000000000"), "seeds"),
    "points": (
        experiment(
            more="[sweep]\n" + "\n".join(f'"workload.{key}_cycles" = {list(range(1, 2000))}' for key in ("outside", "inside"))
        ),
        "points",
    ),
    "cache": (experiment(top="[set]\n") + '\n[set]\n"machine.cache.L2.size_kib" = 1000000000000\n', "e.toml"),
}


@pytest.mark.uninstrumented
@pytest.mark.parametrize("what", HUGE)
def test_a_huge_number_is_refused_before_memory_is_taken(linebounce: Program, what: str) -> None:
    text, shown = HUGE[what]
    file = linebounce.file("e.toml", text)
    assert shown in linebounce.refused("run", file, "--plan")
    # The exit code is hidden, because peak_mib() would raise an error for it.
    command = ["sh", "-c", f"{linebounce.executable} run {file} --plan; true"]
    assert peak_mib(command, linebounce.directory) < 100


@pytest.mark.uninstrumented
def test_a_large_sweep_takes_no_memory_for_points_that_do_not_run(linebounce: Program) -> None:
    latencies = list(range(10, 2010))
    file = linebounce.file("e.toml", experiment(more=f'[sweep]\n"machine.memory.latency_ns" = {latencies}\n'))
    peaks = [
        peak_mib([linebounce.executable, "run", file, "--plan", "--machine", "epyc_7742_2socket", *less], linebounce.directory)
        for less in ([], ["--set", "machine.memory.latency_ns=10"])
    ]
    assert peaks[0] - peaks[1] < 10, "5 KiB a point; whole, each takes some 200"
