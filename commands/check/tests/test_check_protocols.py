"""linebounce check: its verdicts, and those of an independent model checker on the same model."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from program import ROOT, Program

FILES = sorted(path for path in (ROOT / "models" / "protocols").glob("*.md") if path.stem != "README")


def text_of(protocol: str) -> str:
    return (ROOT / "models" / "protocols" / f"{protocol}.md").read_text(encoding="utf-8")


def tables_of(protocol: str) -> set[str]:
    """The table headings of a file and those it extends, without the cache if it has none."""
    text = text_of(protocol)
    found = set(re.findall(r"^## (\w+)$", text, re.MULTILINE))
    extends = re.search(r"^\| extends +\| (\w+) \|$", text, re.MULTILINE)
    inherited = tables_of(extends[1]) if extends else set()
    return (found | inherited) - set(re.findall(r"^\| (cache) +\|", text, re.MULTILINE))


def with_tables(*controllers: str) -> list[str]:
    """The protocols that have tables for all of these controllers."""
    return [path.stem for path in FILES if tables_of(path.stem) >= set(controllers)]


PROTOCOLS = with_tables("cache", "memory")
DIRECTORIES = with_tables("cache", "directory")
NODES = with_tables("node")
GROUPS = with_tables("group")


# One cell of one row, changed: (protocol, the row's `in` and `on`, old text, new text, the broken promise).
BROKEN = {
    "a reader is not told that it is not alone": (
        ("mesi_snoop", "S, SM_AD", "Other_GetS", "assert shared", "-", "swmr"),
        ("mesif_snoop", "S, SM_AD", "Other_GetS", "assert shared", "-", "swmr"),
        ("moesi_snoop", "O, OM_AD", "Other_GetS", "assert shared; ", "", "swmr"),
        ("dragon_snoop", "Sc, ScM_A", "Other_GetS", "assert shared", "-", "data_value|impossible_pair"),
    ),
    "memory is not given what is shared": (
        ("msi_snoop", "M", "Other_GetS", "requestor, memory", "requestor", "data_value"),
        ("moesi_snoop", "MI_A", "Other_GetS", "requestor, memory", "requestor", "data_value"),
        ("mesi_migratory_snoop", "M", "Other_GetS", "requestor, memory", "requestor", "data_value"),
    ),
    "who passes a line on keeps a copy": (
        ("mesi_migratory_snoop", "M", "Other_GetS", None, "assert owned; send data to requestor, memory | S", "swmr"),
    ),
    "a copy misses a word": (("dragon_snoop", "Sc, ScM_A", "Other_BusUpd", "; apply word", "", "data_value"),),
    "a writer is not told that it is not alone": (
        ("dragon_snoop", "Sc, ScM_A", "Other_BusUpd", "assert shared; ", "", "data_value"),
    ),
    "memory operates on what is old": (
        ("mesi_far_snoop", "M", "Other_Amo", "; send data to memory", "", "data_value"),
        ("mesi_far_snoop", "MI_A", "Other_Amo", "| II_A |", "| MI_A |", "data_value"),
    ),
    "a copy outlives an operation at memory": (
        ("mesi_far_snoop", "SF_A", "Other_GetM, Other_Amo", "| IF_A |", "| SF_A |", "swmr|data_value"),
        ("mesi_far_snoop", "SM_AD", "Other_GetM, Other_Amo", "| IM_AD |", "| SM_AD |", "swmr|data_value"),
    ),
    "a word is sent where no store can be": (
        ("dragon_snoop", "IS_AD", "Own_GetS [shared]", "-", "send word", "accounted|data_value"),
    ),
    "a write-back counts though somebody has written since": (
        ("dragon_snoop", "MI_A", "Other_BusUpd", "| II_A |", "| MI_A |", "data_value|one_supplier"),
    ),
    "two answer": (
        ("dragon_snoop", "Sm", "Other_BusUpd", "| Sc |", "| Sm |", "one_supplier"),
        ("mesi_snoop", "M", "Other_GetS", "assert owned; ", "", "one_supplier"),
        ("mesif_snoop", "F, E", "Other_GetS", "assert owned; ", "", "one_supplier"),
    ),
    "an upgrade that lost its copy goes on": (
        ("mesi_snoop", "SM_AD", "Other_GetM", "| IM_AD |", "| SM_AD |", "swmr|data_value"),
    ),
    "memory has no data": (
        ("mesi_snoop", "Idle", "GetS [clean], GetM [clean]", "send data to requestor", "-", "data_arrives"),
    ),
    "an upgrade is tried for ever": (
        ("mesi_snoop_upgrade_retry", "IU_A", "Own_Upgrade", None, "issue Upgrade | IU_A", "no_deadlock"),
    ),
    "it may happen after all": (("moesi_snoop", "OM_AD", "Other_GetM", None, "impossible |", "impossible_pair"),),
}
CASES = [(what, *case) for what, cases in BROKEN.items() for case in cases]


def broken(text: str, state: str, event: str, old: str | None, new: str) -> str:
    """The protocol with one cell changed; without `old`, replaces `do` and `then` of the row by `new`."""
    lines = text.splitlines()
    rows = [i for i, line in enumerate(lines) if [cell.strip() for cell in line.split("|")[1:3]] == [state, event]]
    assert len(rows) == 1, f"{len(rows)} rows for {state}, {event}"
    line = lines[rows[0]]
    if old is None:
        line = f"| {state} | {event} | {new} | broken on purpose |"
    elif old.startswith("|"):  # the next state; columns are aligned with spaces
        line = re.sub(rf"\| {old.strip('| ')} +\|", new, line)
    else:
        assert old in line
        line = line.replace(old, new, 1)
    assert line != lines[rows[0]]
    return "\n".join([*lines[: rows[0]], line, *lines[rows[0] + 1 :]])


EXTENDING = """# Mine

| property | value |
|----------|-------|
| extends  | {} |

## cache

| in | on | do | then | why |
|----|----|----|------|-----|"""


def check(program: Program, *arguments: str | Path, code: int) -> dict:
    result = program("check", *arguments, "--json")
    assert result.code == code, result.stdout + result.stderr
    assert not result.stderr
    return json.loads(result.stdout)


# One file for each model that rumur has searched, named by a hash of rumur's version and the model.
FOUND = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linebounce" / "rumur"


def rumur(program: Program, model: Path, states: int = 0) -> tuple[bool, int]:
    """What Debian's model checker finds of a Murphi model: whether there is no error, and the number of states.

    That depends on nothing but the model and the checker, so each model is searched once; a change in a table or in what
    writes models makes another model.
    """
    assert shutil.which("rumur"), "rumur is not installed: run ./dev setup"
    version = subprocess.run(["rumur", "--version"], capture_output=True, check=True)
    known = FOUND / hashlib.sha256(version.stdout + version.stderr + model.read_bytes()).hexdigest()
    if not known.exists():
        proved, count = searched(program, model, states)
        FOUND.mkdir(parents=True, exist_ok=True)
        written = known.with_suffix(f".{os.getpid()}")
        written.write_text(f"{'proved' if proved else 'error'} {count}")
        written.rename(known)
    verdict, number = known.read_text().split()
    return verdict == "proved", int(number)


def searched(program: Program, model: Path, states: int) -> tuple[bool, int]:
    """Compiles and runs rumur's verifier.

    `states` is roughly the number to expect; a long search pays for an optimised verifier. To compile the verifier of a
    controller's table takes 25 s with -O1 and 6 s without, unless ccache has compiled the same model before. Commands
    name files without the test's own folder, so that ccache finds them again.
    """
    optimised = "-O1" if states > 50_000 else "-O0"
    for command in (
        ["rumur", "--threads", "1", model.name, "--output", "verifier.c"],
        ["ccache", "cc", optimised, "-march=native", "-c", "verifier.c", "-o", "verifier.o"],
        ["cc", "verifier.o", "-o", "verifier", "-lpthread"],
    ):
        subprocess.run(command, check=True, capture_output=True, cwd=model.parent)
    verifier = model.parent / "verifier"
    done = subprocess.run([verifier], capture_output=True, text=True, check=False, cwd=program.directory)
    fired = re.search(r"(\d+) states, \d+ rules fired", done.stdout)  # the final count, not a progress report
    assert fired, done.stdout + done.stderr
    return done.returncode == 0, int(fired.group(1))


@pytest.mark.parametrize("caches", [2, 3])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_another_model_checker_proves_the_same_and_counts_the_same_states(
    linebounce: Program, protocol: str, caches: int
) -> None:
    model = linebounce.directory / "model.m"
    found = check(linebounce, protocol, "--caches", str(caches), "--no-symmetry", "--murphi", model, "--liveness", code=0)
    assert found["proved"]
    assert rumur(linebounce, model, found["states"]) == (True, found["states"])


SMALL_SYSTEMS = [
    *((protocol, ("--caches", "2")) for protocol in DIRECTORIES),
    *((protocol, ("--nodes", "2", "--caches", "1")) for protocol in NODES),
    *((protocol, ("--nodes", "1", "--caches", "2")) for protocol in GROUPS),
]
LARGER_SYSTEMS = [
    *((protocol, ("--caches", "3")) for protocol in DIRECTORIES),
    *((protocol, ("--nodes", "2", "--caches", "2")) for protocol in NODES),
    *((protocol, ("--nodes", "3", "--caches", "1")) for protocol in NODES),
    *((protocol, ("--nodes", "2", "--caches", "1")) for protocol in GROUPS),
]


@pytest.mark.parametrize(
    ("protocol", "size"), [*SMALL_SYSTEMS, *(pytest.param(*case, marks=pytest.mark.thorough) for case in LARGER_SYSTEMS)]
)
def test_another_model_checker_agrees_on_networks_too(linebounce: Program, protocol: str, size: tuple[str, ...]) -> None:
    model = linebounce.directory / "model.m"
    found = check(linebounce, protocol, *size, "--no-symmetry", "--murphi", model, "--liveness", code=0)
    assert found["proved"]
    states = found["systems"][0]["states"]
    assert rumur(linebounce, model, states) == (True, states)


def test_a_directory_is_proved_quickly_and_in_little_memory(linebounce: Program) -> None:
    started = time.monotonic()
    found = check(linebounce, "mesi_directory", "--caches", "3", code=0)
    assert time.monotonic() - started < 60
    assert not found["unreached_rows"]
    assert found["violation"] is None
    assert found["promises"] == ["swmr", "data_value", "impossible_pair", "accounted", "no_deadlock", "can_finish"]


@pytest.mark.parametrize("protocol", NODES)
def test_a_node_controller_is_proved_in_two_systems_that_show_other_bugs(linebounce: Program, protocol: str) -> None:
    found = check(linebounce, protocol, code=0)
    assert [(system["nodes"], system["caches"]) for system in found["systems"]] == [(2, 2), (3, 1)]
    assert not found["unreached_rows"]
    shown = linebounce("check", protocol)
    assert shown.code == 0
    for system in found["systems"]:
        assert f"{system['states']} states" in shown.stdout


def test_a_node_controller_is_checked_with_another_bus_than_its_file_names(linebounce: Program) -> None:
    size = ("--nodes", "2", "--caches", "1")
    model = linebounce.directory / "model.m"
    migratory = ("mesi_node", "--bus", "mesi_migratory_snoop", *size, "--no-symmetry", "--murphi", model, "--liveness")
    found = check(linebounce, *migratory, code=0)
    assert found["proved"]
    states = found["systems"][0]["states"]
    assert rumur(linebounce, model, states) == (True, states)
    found = check(linebounce, "mesi_node", "--bus", "moesi_snoop", *size, code=1)
    assert found["violation"]
    assert "mesi_node_far" in linebounce.refused("check", "mesi_node", "--bus", "mesi_far_snoop")
    assert "mesi_directory is not a protocol of a bus" in linebounce.refused("check", "mesi_node", "--bus", "mesi_directory")
    assert "mesi_snoop is not a protocol of a node" in linebounce.refused("check", "mesi_snoop", "--bus", "mesi_snoop")


def test_a_run_says_how_to_check_a_pair_that_no_file_names(linebounce: Program) -> None:
    short = ("--machine", "numaq_16way", "--set", "machine.cpus=2", "--set", "run.measure_us=1")
    shown = linebounce("run", "counter_scaling", *short, "--set", "machine.bus.protocol=mesi_migratory_snoop", "-o", "out/pair")
    assert "linebounce check mesi_node --bus mesi_migratory_snoop" in shown.stdout
    assert "linebounce check" not in linebounce("run", "counter_scaling", *short, "-o", "out/named").stdout


# Like BROKEN, for protocols on a network.
BROKEN_NETWORKS = (
    ("mesi_directory", "IM_A, SM_A", "Inv_Ack [more_acks]", None, "count ack; complete | M", "accounted|swmr|impossible_pair"),
    ("mesi_directory", "EM", "GetS", "; add owner", "", "swmr|data_value"),
    ("moesi_directory", "OM_AC", "Fwd_GetM", "send DataO", "send Data", "swmr|impossible_pair|accounted"),
)


@pytest.mark.parametrize(("protocol", "state", "event", "old", "new", "promise"), BROKEN_NETWORKS)
def test_a_broken_row_of_a_directory_is_found(  # noqa: PLR0913, PLR0917
    linebounce: Program, protocol: str, state: str, event: str, old: str | None, new: str, promise: str
) -> None:
    path = linebounce.file("broken.md", broken(text_of(protocol), state, event, old, new))
    model = linebounce.directory / "model.m"
    found = check(linebounce, path, "--murphi", model, "--liveness", code=1)
    assert re.fullmatch(promise, found["violation"]["promise"]), found["violation"]
    assert len(found["violation"]["steps"]) > 0
    shown = linebounce("check", path)
    assert shown.code == 1
    assert found["violation"]["text"] in shown.stdout
    assert not rumur(linebounce, model)[0]


def test_a_row_of_a_node_that_only_three_nodes_need_is_found_with_a_diagram(linebounce: Program) -> None:
    text = broken(text_of("mesi_node"), "SMI_B", "Fwd_GetS, Fwd_GetM", None, "impossible |")
    path = linebounce.file("broken.md", text)
    assert check(linebounce, path, "--nodes", "2", "--caches", "2", code=0)["violation"] is None
    found = check(linebounce, path, code=1)
    assert found["violation"]["promise"] == "impossible_pair"
    assert found["violation"]["columns"] == ["cache 0.0", "node 0", "cache 1.0", "node 1", "cache 2.0", "node 2", "home"]
    shown = linebounce("check", path).stdout
    assert "Broken: nothing happens that the table calls impossible." in shown
    assert "SMI_B" in shown


@pytest.mark.parametrize(("what", "protocol", "state", "event", "old", "new", "promise"), CASES)
def test_a_broken_row_is_found_with_the_messages_that_lead_to_it(  # noqa: PLR0913, PLR0917
    linebounce: Program, what: str, protocol: str, state: str, event: str, old: str, new: str, promise: str
) -> None:
    path = linebounce.file("broken.md", broken(text_of(protocol), state, event, old, new))
    found = check(linebounce, path, code=1)
    assert not found["proved"], what
    assert re.fullmatch(promise, found["violation"]["promise"]), found["violation"]
    assert len(found["violation"]["steps"]) > 0
    shown = linebounce("check", path)
    assert shown.code == 1
    assert found["violation"]["text"] in shown.stdout
    assert all(len(line) < 100 for line in shown.stdout.splitlines() if "broken.md:" not in line)


def test_an_atomic_bus_and_a_memory_with_states_are_counted_alike_too(linebounce: Program) -> None:
    """Two features that no shipped protocol has: data in the order step, and a memory that knows whether it is up to date."""
    model = linebounce.directory / "model.m"
    found = check(
        linebounce, Path(__file__).with_name("atomic_msi.md"), "--no-symmetry", "--murphi", model, "--liveness", code=0
    )
    assert rumur(linebounce, model, found["states"]) == (True, found["states"])


# Each compiles its own verifier, so only a few run here; the rest run in ./dev fuzz.
@pytest.mark.parametrize(
    ("what", "protocol", "state", "event", "old", "new", "promise"),
    [pytest.param(*case, marks=[] if i % 4 == 0 else pytest.mark.thorough) for i, case in enumerate(CASES)],
)
def test_another_model_checker_finds_the_broken_row_too(  # noqa: PLR0913, PLR0917
    linebounce: Program, what: str, protocol: str, state: str, event: str, old: str, new: str, promise: str
) -> None:
    path = linebounce.file("broken.md", broken(text_of(protocol), state, event, old, new))
    model = linebounce.directory / "model.m"
    check(linebounce, path, "--murphi", model, "--liveness", code=1)
    proved, _ = rumur(linebounce, model)
    assert not proved, (what, promise)


def test_both_model_checkers_find_an_endless_request(linebounce: Program) -> None:
    """The mutant deadlocks nowhere and keeps every promise except to end: GetM becomes an Upgrade, which becomes a
    GetM, and so on."""
    # A file must have a way to reach each state, and one cache alone never reaches S.
    rows = ("| IM_AD | Own_GetM | issue Upgrade | IU_A | broken |", "| SM_AD | Own_Upgrade | - | IM_D | broken |")
    path = linebounce.file("livelock.md", "\n".join([EXTENDING.format("mesi_snoop_upgrade_retry"), *rows]))
    model = linebounce.directory / "model.m"
    found = check(linebounce, path, "--caches", "1", "--murphi", model, "--liveness", code=1)
    assert found["violation"]["promise"] == "can_finish"
    assert not rumur(linebounce, model)[0]


def test_a_protocol_is_proved_in_words_and_in_json(linebounce: Program) -> None:
    shown = linebounce("check", "mesi_snoop")
    assert shown.code == 0
    found = check(linebounce, "mesi_snoop", code=0)
    assert found | {"states": 0, "steps": 0, "depth": 0} == {
        "protocol": "mesi_snoop",
        "title": "MESI on a snooping bus with split transactions",
        "caches": 3,
        "symmetry": True,
        "proved": True,
        "promises": [
            "swmr",
            "data_value",
            "impossible_pair",
            "one_supplier",
            "data_arrives",
            "accounted",
            "no_deadlock",
            "can_finish",
        ],
        "states": 0,
        "steps": 0,
        "depth": 0,
        "unreached_rows": [],
        "violation": None,
    }
    for number in ("states", "steps", "depth"):
        assert f"{found[number]} " in shown.stdout
    assert "single writer" in shown.stdout


def test_a_row_that_never_runs_is_found(linebounce: Program) -> None:
    text = text_of("msi_snoop").replace(
        "| I, S, M, IM_AD, SM_AD, IS_D, IM_D, MI_A, II_A | Own_GetS | impossible                |      |",
        "| S | Own_GetS | - | S | never |\n| I, M, IM_AD, SM_AD, IS_D, IM_D, MI_A, II_A | Own_GetS | impossible | |",
    )
    path = linebounce.file("unreached.md", text)
    found = check(linebounce, path, code=1)
    assert found["violation"] is None
    assert [(row["controller"], row["state"], row["event"]) for row in found["unreached_rows"]] == [("cache", "S", "Own_GetS")]
    assert f"unreached.md:{found['unreached_rows'][0]['line']}" in linebounce("check", path).stdout


def test_with_fewer_caches_rows_that_need_more_do_not_fail(linebounce: Program) -> None:
    assert check(linebounce, "mesi_snoop", "--caches", "1", code=0)["unreached_rows"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mesi"], "mesi_snoop"),
        (["no/such.md"], "no/such.md"),
        (["mesi_snoop", "--caches", "0"], "--caches"),
        (["mesi_snoop", "--caches", "8"], "1 to 7"),
        (["mesi_snoop", "--murphi", "no/such/model.m"], "no/such/model.m"),
        (["mesi_snoop", "--nodes", "2"], "--nodes"),
        (["mesi_directory", "--nodes", "2"], "--nodes"),
        (["mesi_directory", "--caches", "7"], "1 to 6"),
        (["mesi_node", "--nodes", "7"], "1 to 6"),
        (["mesi_node", "--caches", "5"], "1 to 4"),
        (["mesi_directory_tags"], "a node controller"),
        ([], "PROTOCOL"),
    ],
)
def test_arguments_that_cannot_be_checked_are_refused(linebounce: Program, arguments: list[str], says: str) -> None:
    assert says in linebounce.refused("check", *arguments)


def test_a_protocol_in_a_file_of_another_ending_is_refused_with_the_right_ending(linebounce: Program) -> None:
    path = linebounce.file("mine.txt", "# A protocol\n")
    assert "mine.txt: a protocol's file must be called NAME.md" in linebounce.refused("check", path.name)


def test_a_file_that_is_not_a_protocol_is_refused_with_its_line(linebounce: Program) -> None:
    path = linebounce.file("wrong.md", text_of("msi_snoop").replace("| issue GetS |", "| issue GetX |"))
    message = linebounce.refused("check", path)
    assert re.search(r"wrong\.md:\d+: .*GetX", message)


def test_a_run_names_a_protocol_without_a_proof(linebounce: Program) -> None:
    mine = linebounce.file("mine.md", text_of("mesi_snoop"))
    run = ("run", "lock_selection", "--set", "workload.lock=mcs", "--set", "run.measure_us=20", "-o", "out")
    result = linebounce(*run, "--set", f"machine.bus.protocol={mine}")
    assert f"linebounce check {mine}" in result.stdout
    assert "linebounce check" not in linebounce(*run, "--fresh").stdout


@pytest.mark.parametrize(
    "system",
    [
        ("msi_atomic", "--caches", "2"),
        ("dragon_snoop", "--caches", "2"),
        ("mesi_directory", "--caches", "2"),
        ("mesi_node", "--nodes", "2", "--caches", "1"),
    ],
)
def test_a_model_for_any_murphi_has_its_parts_in_the_grammars_order(linebounce: Program, system: tuple[str, ...]) -> None:
    """Murphi's grammar: declarations, then procedures, then rules, start states and invariants; liveness is rumur's own."""
    order = {"const": 0, "type": 0, "var": 0, "procedure": 1}
    order |= dict.fromkeys(("startstate", "ruleset", "rule", "invariant"), 2)
    parts: dict[bool, list[str]] = {}
    for liveness in (False, True):
        model = linebounce.directory / "model.m"
        check(linebounce, *system, "--murphi", model, *["--liveness"] * liveness, code=0)
        lines = [line for line in model.read_text().splitlines() if line and not line.startswith((" ", "end;", "--"))]
        parts[liveness] = [re.split(r"\W", line)[0] for line in lines]
    assert parts[True] == [*parts[False], "liveness"]
    ranks = [order[part] for part in parts[False]]
    assert ranks == sorted(ranks)
    assert set(ranks) == {0, 1, 2}
