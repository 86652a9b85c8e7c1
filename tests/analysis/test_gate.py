"""`linebounce gate`: real recordings of a small program, its verdicts, files and exit codes."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from gate_forms import check_junit, check_sarif
from linebounce.gate.judge import Change, Figure, figure_of
from linebounce.gate.junit import junit
from linebounce.gate.layouts import layout_changes
from linebounce.gate.measure import Condition, once_each
from linebounce.gate.sarif import sarif
from linebounce.gate.sources import replacements
from linebounce.gate.text import text
from linebounce.gate.verdict import Verdict
from linebounce.gate.work import other_work, unlike
from linebounce.trace import Writer
from linebounce.trace_symbols import Event, Field, Kind, Object, Operation, Stream, Structure, Summary, Symbols
from program import Program, Result
from recorded import Recorder

MACHINE = "generic_2socket_32core"
OPTIONS = ("--machine", MACHINE, "--orders", "2")

# Each of four threads counts in its own elements of an array. The threads meet at barriers often, so that recordings differ
# little even on a busy machine.
PROGRAM = """\
#include <pthread.h>
#include <stdlib.h>
struct tally {
  volatile long sum; PAD
  volatile long seldom;
};
static struct tally tallies[4] __attribute__((aligned(64)));
static pthread_barrier_t turn;
static volatile long rounds = 40000;
static void *work(void *me) {
  volatile long *own = calloc(64, sizeof *own);
  for (int i = 0; i < 40000; ++i) {
    if (i % 4000 == 0) pthread_barrier_wait(&turn);
    tallies[(long)me].sum += i;
    EXTRA
  }
  free((void *)own);
  return me;
}
int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&turn, 0, 4);
  rounds++;
  for (long i = 0; i < 4; ++i) pthread_create(threads + i, 0, work, (void *)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
}
"""
PADDING = "char pad[48];"
VARIANTS = {
    "padded": (PADDING, ""),
    "packed": ("char pad[8];", ""),
    "slower": (PADDING, "for (int k = 0; k < 4; ++k) own[8 * k] += i;"),
}


@pytest.fixture(scope="module")
def folder(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiles each variant and records it twice: VARIANT/it.c, the program it, and the recordings it.lbt and it-2.lbt. They
    do not depend on what else this computer does."""
    top = tmp_path_factory.mktemp("gate")
    for variant, (pad, extra) in VARIANTS.items():
        home = top / variant
        home.mkdir()
        recorder = Recorder(Program(executable, home))
        recorder.compile(PROGRAM.replace("PAD", pad).replace("EXTRA", extra), "-g", name="it.c", output="it")
        recorder.run("--untimed", "--times", "2", "-o", "it.lbt", "--", "./it")
    return top


Gate = Callable[..., Result]


@pytest.fixture
def gate(command: Callable[..., Result], folder: Path) -> Gate:
    def run(base: str, head: str, *more: str | Path) -> Result:
        recordings = [folder / name / "it.lbt" for name in (base, head)]
        return command("gate", "--base", recordings[0], "--head", recordings[1], *OPTIONS, *more, cwd=folder / head)

    return run


@dataclass
class Reports:
    """What a failed gate says, in all forms."""

    result: Result
    files: dict[str, Path]

    def text(self, form: str) -> str:
        return self.files[form].read_text()


@pytest.fixture(scope="module")
def over_budget(command: Callable[..., Result], folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Reports:
    top = tmp_path_factory.mktemp("reports")
    files = {form: top / form for form in ("json", "markdown", "sarif", "junit")}
    recordings = ("--base", folder / "padded" / "it.lbt", "--head", folder / "packed" / "it.lbt")
    forms = [word for form, file in files.items() for word in (f"--{form}", file)]
    result = command("gate", *recordings, *OPTIONS, "--annotations", *forms, cwd=folder / "packed")
    assert result.code == 1, result.stdout + result.stderr
    return Reports(result, files)


def operations(executable: Path, trace: Path) -> int:
    info = subprocess.run([executable, "trace", "info", "--json", trace], capture_output=True, text=True, check=True)
    count: int = json.loads(info.stdout)["operations"]
    return count


def test_false_sharing_fails_though_the_program_does_no_more_than_before(
    over_budget: Reports, folder: Path, executable: Path
) -> None:
    worst = json.loads(over_budget.text("json"))["changes"][0]
    assert (worst["rule"], worst["name"], worst["verdict"], worst["new"]) == ("false-sharing", "tallies", "worse", True)
    assert worst["machines"][0]["low"] > worst["machines"][0]["budget_pct"]
    assert worst["functions"] == ["work"]
    assert worst["at"] == f"{folder}/packed/it.c:3"
    before, after = (operations(executable, folder / variant / "it.lbt") for variant in ("padded", "packed"))
    assert after == pytest.approx(before, rel=0.002), "a counter of instructions sees nothing"


def test_padding_that_removes_false_sharing_is_better_and_passes(gate: Gate) -> None:
    result = gate("packed", "padded")
    assert result.code == 0
    assert "Better:\n  false sharing of tallies" in result.stdout


def test_a_slowdown_that_is_private_computation_passes(gate: Gate, folder: Path, executable: Path) -> None:
    assert operations(executable, folder / "slower" / "it.lbt") > 2 * operations(executable, folder / "padded" / "it.lbt")
    result = gate("padded", "slower")
    assert result.code == 0, result.stdout
    assert result.stdout.startswith("Within budget, by 2 recordings against 2.")


def test_the_same_recordings_pass_and_give_the_same_bytes_however_many_replays_run_at_once(gate: Gate, tmp_path: Path) -> None:
    texts = []
    for jobs in ("1", "3"):
        files = {form: tmp_path / f"{form}{jobs}" for form in ("json", "markdown", "sarif", "junit")}
        result = gate("packed", "packed", "-j", jobs, *(word for form, file in files.items() for word in (f"--{form}", file)))
        assert result.code == 0, result.stdout
        texts.append([result.stdout, *(file.read_text() for file in files.values())])
    assert texts[0] == texts[1]
    assert all(change["verdict"] == "same" for change in json.loads(texts[0][1])["changes"])


def test_a_missing_recording_is_not_measured_and_never_passes(command: Callable[..., Result], folder: Path) -> None:
    base = folder / "padded" / "it.lbt"
    for head in (folder / "nowhere.lbt", folder):  # a folder without recordings
        result = command("gate", "--base", base, "--head", head, *OPTIONS, "--sarif", folder / "s", "--junit", folder / "j")
        assert result.code == 5
        assert result.stdout.startswith(f"No verdict: {head}: there is no")
        log = json.loads((folder / "s").read_text())
        check_sarif(log)
        assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False
        assert check_junit((folder / "j").read_bytes()).attrib["errors"] == "1"


def test_a_damaged_recording_is_not_measured(command: Callable[..., Result], folder: Path, tmp_path: Path) -> None:
    whole = (folder / "padded" / "it.lbt").read_bytes()
    (tmp_path / "cut.lbt").write_bytes(whole[: len(whole) // 2])
    result = command("gate", "--base", folder / "padded" / "it.lbt", "--head", tmp_path / "cut.lbt", *OPTIONS)
    assert result.code == 5


def test_a_replay_that_never_ends_is_not_measured(command: Callable[..., Result], folder: Path, tmp_path: Path) -> None:
    with Writer(tmp_path / "waits.lbt") as writer:
        event = writer.define(Event("nobody_signals_it"))
        word = writer.define(Object("word", size=8))
        main = writer.define(Stream("main"))
        writer.append(main, Operation(Kind.LOAD, 8, 0, word, 0))
        writer.append(main, Operation(Kind.WAIT, 0, 0, event, 1))
        writer.finish(Summary(program="waits"))
    result = command("gate", "--base", folder / "padded" / "it.lbt", "--head", tmp_path / "waits.lbt", *OPTIONS)
    assert result.code == 5, result.stdout + result.stderr
    assert "waits.lbt, order 1: the replay on generic_2socket_32core did not finish" in " ".join(result.stdout.split())


def test_a_single_recording_is_compared_and_the_report_says_what_its_interval_lacks(
    command: Callable[..., Result], folder: Path, tmp_path: Path
) -> None:
    shutil.copy(folder / "padded" / "it.lbt", tmp_path / "one.lbt")
    result = command("gate", "--base", tmp_path / "one.lbt", "--head", tmp_path / "one.lbt", *OPTIONS)
    assert result.code == 0
    assert "of a version with one recording" in " ".join(result.stdout.split())


def test_threads_take_turns_on_fewer_cpus(gate: Gate) -> None:
    result = gate("padded", "packed", "--cpus", "2,8", "--json", "-")
    machines = json.loads(result.stdout)["changes"][0]["machines"]
    assert [it["cpus"] for it in machines] == [2, 8]
    assert [it["verdict"] for it in machines][1] == "worse"


def test_the_gate_records_programs_itself(command: Callable[..., Result], folder: Path, tmp_path: Path) -> None:
    base, head = folder / "padded" / "it", folder / "packed" / "it"
    result = command("gate", "--base", base, "--head", head, *OPTIONS, "--times", "4", "-o", tmp_path / "out", cwd=tmp_path)
    assert result.code == 1, result.stdout + result.stderr
    assert sorted(path.name for path in (tmp_path / "out" / "head").iterdir()) == ["it-2.lbt", "it-3.lbt", "it-4.lbt", "it.lbt"]


def test_what_recordings_lack_is_said_once_though_its_figures_differ() -> None:
    times = ["0.12 ms, 2 % of the time between accesses", "1.2e+02 ms, 31 % of the time between accesses"]
    names = ["what came after the program ran into p1.c", "what came after the program ran into p2.c"]
    assert once_each([times[0], names[0], times[1], *names]) == [f"{times[0]} (other recordings: other figures)", *names]
    assert once_each([times[1], times[1]]) == [times[1]]


def test_sarif_has_the_declaration_the_accesses_and_an_edit_that_compiles_and_passes(
    over_budget: Reports, command: Callable[..., Result], executable: Path, folder: Path, tmp_path: Path
) -> None:
    log = json.loads(over_budget.text("sarif"))
    check_sarif(log)
    (result,) = (it for it in log["runs"][0]["results"] if it["level"] == "error")
    assert result["ruleId"] == "false-sharing"
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("it.c", 3)
    assert [it["physicalLocation"]["region"]["startLine"] for it in result["relatedLocations"]] == [14]
    assert [it["descriptor"]["id"] for it in log["runs"][0]["invocations"][0]["toolExecutionNotifications"]] == ["not-seen"] * 2

    home = tmp_path / "fixed"
    shutil.copytree(folder / "packed", home)
    apply_fix(result["fixes"][0], home)
    recorder = Recorder(Program(executable, home))
    recorder.compile((home / "it.c").read_text(), "-g", name="it.c", output="it")
    recorder.run("--untimed", "--times", "2", "-o", "it.lbt", "--", "./it")
    passed = command("gate", "--base", folder / "padded" / "it.lbt", "--head", home / "it.lbt", *OPTIONS)
    assert passed.code == 0, passed.stdout


def apply_fix(fix: dict, root: Path) -> None:
    """Applies the replacements as a viewer of SARIF does. It begins with the last, so that earlier positions stay
    right."""
    for change in fix["artifactChanges"]:
        path = root / change["artifactLocation"]["uri"]
        lines = path.read_text().splitlines(keepends=True)
        for replacement in sorted(change["replacements"], key=lambda it: -it["deletedRegion"]["startLine"]):
            region = replacement["deletedRegion"]
            assert (region["startColumn"], region["endColumn"]) == (1, 1)
            lines[region["startLine"] - 1 : region["endLine"] - 1] = [replacement["insertedContent"]["text"]]
        path.write_text("".join(lines))


def test_junit_has_a_failure_for_each_cost_over_budget(over_budget: Reports) -> None:
    suites = check_junit(over_budget.files["junit"].read_bytes())
    (failure,) = suites.iter("failure")
    assert failure.attrib["type"] == "false-sharing"
    assert suites[0].attrib["name"] == MACHINE


def test_annotations_name_file_and_line(over_budget: Reports) -> None:
    lines = over_budget.result.stdout.splitlines()
    (error,) = (line for line in lines if line.startswith("::error"))
    assert error.startswith("::error file=it.c,line=3,title=linebounce gate%3A false-sharing::new: false sharing of tallies")
    assert "%25 of the base's thread time" in error


def test_markdown_escapes_names_and_has_a_row_for_each_machine(over_budget: Reports) -> None:
    rows = [line for line in over_budget.text("markdown").splitlines() if line.startswith("| worse")]
    assert len(rows) == 1
    assert "generic\\_2socket\\_32core" in rows[0]
    assert "it.c:3" in rows[0]


def test_markdown_has_the_advice_that_the_text_has(over_budget: Reports) -> None:
    (advice,) = (line for line in over_budget.text("markdown").splitlines() if line.startswith("- false sharing of tallies: "))
    assert "aligned(" in advice


def test_findings_of_a_checker_have_a_price_or_cost_nothing(gate: Gate, folder: Path, tmp_path: Path) -> None:
    lines = (folder / "packed" / "it.c").read_text().splitlines()
    at = {what: next(n for n, line in enumerate(lines, 1) if what in line) for what in ("long sum", "long rounds", "free(")}
    results = [
        {
            "ruleId": "suspect",
            "message": {"text": "may be shared"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": "it.c"}, "region": {"startLine": line}}}],
        }
        for line in at.values()
    ]
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "checker"}}, "results": results}]}
    (tmp_path / "in.sarif").write_text(json.dumps(log))
    result = gate("padded", "packed", "--findings", tmp_path / "in.sarif", "--json", "-", "--sarif", tmp_path / "out.sarif")
    field, variable, call = json.loads(result.stdout)["findings"]
    assert field["subject"] == "tally.sum"
    assert field["text"].startswith("tally.sum costs ")
    assert field["machines"][0]["low"] > 5
    assert variable["text"] == "rounds costs nothing on these machines"
    assert call["text"] == "not priced: no recorded structure or variable is declared at this line"
    check_sarif(json.loads((tmp_path / "out.sarif").read_text()))


def budget_file(folder: Path, text: str) -> Path:
    path = folder / "budget.toml"
    path.write_text(text)
    return path


def test_a_known_cost_may_be_allowed_by_name(gate: Gate, tmp_path: Path) -> None:
    allow = '[[gate.allow]]\nrule = "false-sharing"\nname = "tallies"\npct = 500\nwhy = "test only"\n'
    total = "[gate.budget]\nall-sharing = 500\n"
    assert gate("padded", "packed", "--budget", budget_file(tmp_path, total + allow)).code == 0
    other = allow.replace("tallies", "others").replace("500", "0")
    assert gate("padded", "packed", "--budget", budget_file(tmp_path, total + allow + other)).code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gate]\nmachine = []", "budget.toml:2: gate.machine: unknown key; did you mean machines?"),
        ("[budget]\nslower-lock = 1", "budget.toml:1: budget: unknown key; all keys of the gate are below [gate]"),
        ("[gate]\ntimes = 0", "budget.toml:2: gate.times: 0 is out of range; legal: 1 to 1000"),
        ('[gate]\ntimes = "3"', "budget.toml:2: gate.times is to be int"),
        ("[gate.budget]\nlocks = 1", "budget.toml:2: gate.budget.locks: unknown key; "),
        ("\n[gate.budget] # slower-lock = 1\nslower-lock = -1", "budget.toml:3: gate.budget.slower-lock is to be 0 to 1000"),
        ('[[gate.allow]]\nrule = "slower-lock"', "budget.toml:1: gate.allow[0] is to have rule, name and pct"),
        ("gate = { times = 0 }", "budget.toml:1: gate.times: 0 is out of range"),
        ('[gate]\n"\\u0074imes" = 0', "budget.toml: gate.times: 0 is out of range"),
        ("[gate", "budget.toml: "),
    ],
)
def test_a_wrong_budget_is_refused_with_place_and_legal_values(gate: Gate, tmp_path: Path, text: str, message: str) -> None:
    result = gate("padded", "padded", "--budget", budget_file(tmp_path, text))
    assert result.code == 2
    assert message in result.stderr


@pytest.mark.parametrize("option", ["--times 3", "--arguments 4"])
def test_an_option_of_programs_is_refused_beside_recordings(command: Callable[..., Result], folder: Path, option: str) -> None:
    recording = folder / "padded" / "it.lbt"
    result = command("gate", "--base", recording, "--head", recording, *option.split())
    assert result.code == 2
    assert f"{option.split(maxsplit=1)[0]} is for programs, and --base and --head are recordings" in result.stderr


def test_an_unknown_machine_is_wrong_usage(command: Callable[..., Result], folder: Path) -> None:
    recording = folder / "padded" / "it.lbt"
    result = command("gate", "--base", recording, "--head", recording, "--machine", "no_such")
    assert result.code == 2
    assert "no_such" in result.stderr


def test_recordings_of_more_threads_than_the_usual_machines_have_cpus_are_measured_on_a_machine_that_has_them(
    command: Callable[..., Result], executable: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "many.lbt"
    synth = [executable, "trace", "synth", "-o", trace, "--threads", "40", "--accesses", "20", "--shared", "50"]
    subprocess.run(synth, check=True, capture_output=True)
    result = command("gate", "--base", trace, "--head", trace, "--orders", "2", "--json", tmp_path / "gate.json")
    assert result.code == 0, result.stderr
    verdict = json.loads((tmp_path / "gate.json").read_text())
    assert "generic_8socket_64core" in json.dumps(verdict)
    assert MACHINE not in json.dumps(verdict)


HERE = Condition(MACHINE)


def test_a_change_is_called_only_if_its_whole_interval_is_over_the_budget() -> None:
    steady = figure_of(HERE, [[10.0, 10.0], [10.0, 10.0]], [[13.0, 13.0], [13.0, 13.0]], 2)
    assert (steady.low, steady.high, steady.verdict) == (3, 3, "worse")
    noisy = figure_of(HERE, [[8.0, 8.0], [12.0, 12.0]], [[10.0, 10.0], [16.0, 16.0]], 2)
    assert noisy.change == 3
    assert noisy.low < 2 < noisy.high
    assert noisy.verdict == "unclear"
    assert figure_of(HERE, [[10.0, 10.0]], [[11.5, 11.5]], 2).verdict == "same"


def test_orders_are_paired_and_recordings_are_not() -> None:
    by_order = figure_of(HERE, [[5.0, 15.0], [5.0, 15.0]], [[8.0, 18.0], [8.0, 18.0]], 2)
    assert by_order.low == by_order.high == 3, "each order is 3 worse"
    by_recording = figure_of(HERE, [[5.0, 5.0], [15.0, 15.0]], [[8.0, 8.0], [18.0, 18.0]], 2)
    assert by_recording.low < 0, "which recording is the other's partner is nobody's knowledge"


def test_the_interval_is_students_with_satterthwaites_degrees_of_freedom() -> None:
    """Two sides with three recordings each, whose values have a variance of 1. Each mean has variance 1/3, so the
    difference has 2/3. Student's t for 4 degrees of freedom is 2.776."""
    side = [[9.0, 9.0], [10.0, 10.0], [11.0, 11.0]]
    figure = figure_of(HERE, side, side, 2)
    assert figure.high == pytest.approx(2.776 * (2 / 3) ** 0.5, abs=0.001)


def symbols_of(*fields: Field, size: int, address: int) -> Symbols:
    symbols = Symbols()
    number = symbols.define(Structure("node", size, fields=[*fields]))
    symbols.define(Object("node", number, size, address=address))
    return symbols


def test_a_field_that_crosses_a_lines_end_now_is_found() -> None:
    before = symbols_of(Field("key", 0, 8), Field("name", 8, 48), size=56, address=128)
    after = symbols_of(Field("key", 0, 8), Field("flags", 8, 16), Field("name", 24, 48), size=72, address=128)
    texts = [change.text for change in layout_changes(before, after)]
    assert texts == ["node.name crosses a line's end", "each node is on 2 lines instead of 1"]
    assert layout_changes(after, before) == []


def test_a_diff_becomes_replacements_of_whole_lines() -> None:
    diff = "--- a/x.c\n+++ b/x.c\n@@ -1,5 +1,5 @@\n one\n-two\n-three\n+2 and 3\n four\n+new\n five\n"
    found = [(it.path.name, it.first, it.last, it.text) for it in replacements(diff, Path("/top"))]
    assert found == [("x.c", 2, 3, "2 and 3\n"), ("x.c", 5, 4, "new\n")]


def test_what_one_recording_of_a_version_does_more_often_is_unlike() -> None:
    """A producer that polls takes the queue's lock until there is room. Few operations, or 5 % of many, say nothing."""
    works = [{"queue.lock": 9118, "items": 6000, "few": 10}, {"queue.lock": 80318, "items": 6200, "few": 90}]
    assert unlike(works) == {"queue.lock": (9118, 80318)}
    assert unlike(works[:1]) == {}


def test_what_is_not_compared_is_in_the_forms_of_ci_services() -> None:
    verdict = Verdict([Path("a.lbt")], [Path("b.lbt")], not_compared=["queue.lock: 9,118 to 80,318 operations"])
    log = json.loads(sarif(verdict, Path("/top"), "1.0.0"))
    check_sarif(log)
    notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [(it["descriptor"]["id"], it["message"]["text"]) for it in notes] == [("not-compared", verdict.not_compared[0])]
    (skipped,) = check_junit(junit(verdict)).iter("skipped")
    assert skipped.attrib["message"] == verdict.not_compared[0]


@pytest.mark.parametrize(("slow", "order"), [((30, 20), "is the same"), ((20, 30), "depends on")], ids=["kept", "lost"])
def test_a_sentence_says_whether_the_costs_keep_their_order_over_the_programs_pace(
    slow: tuple[float, float], order: str
) -> None:
    def cost(name: str, head: float, at_ends: tuple[float, float]) -> Change:
        figure = Figure(Condition("m", 2), 0, head, head - 1, head + 1, 2, at_ends)
        return Change("false-sharing", name, [figure], [])

    verdict = Verdict([], [], changes=[cost("large", 40, (60, slow[0])), cost("small", 30, (50, slow[1]))])
    assert verdict.order.startswith(f"The order of the costs {order}")
    assert verdict.order in text(verdict, Path("/"))
    assert Verdict([], [], changes=verdict.changes[:1]).order == ""


def test_versions_that_did_more_of_everything_are_not_compared() -> None:
    base = {"table": 10000, "count": 5000, "put()": 2000}
    twice = {name: 2 * count for name, count in base.items()}
    assert other_work([base], [twice]).startswith("base and head did different work (table: 10,000 and 20,000 operations)")
    assert other_work([base], [base | {"count": 9000, "added": 100000}]) == "", "a change of the program"


def test_recordings_of_other_work_give_no_verdict(command: Callable[..., Result], tmp_path: Path) -> None:
    def recorded(name: str, rounds: int, *missing: str) -> Path:
        with Writer(tmp_path / name) as writer:
            words = [writer.define(Object(word, size=8)) for word in ("a", "b", "c")]
            stream = writer.define(Stream("main"))
            for _ in range(rounds):
                for word in words:
                    writer.append(stream, Operation(Kind.STORE, 8, 0, word, 0))
            writer.finish(Summary(program="stores", missing=[*missing]))
        return tmp_path / name

    result = command("gate", "--base", recorded("some.lbt", 200), "--head", recorded("more.lbt", 300), *OPTIONS)
    assert result.code == 5, result.stdout + result.stderr
    assert result.stdout.startswith("No verdict: base and head did different work")
    assumed = recorded("untimed.lbt", 200, "instructions between accesses: two for each access are assumed")
    result = command("gate", "--base", assumed, "--head", recorded("timed.lbt", 200), *OPTIONS)
    assert result.code == 5, result.stdout + result.stderr
    assert "computation between accesses is assumed in base and stated in head" in " ".join(result.stdout.split())
