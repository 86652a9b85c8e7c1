#!/usr/bin/env python3
"""Runs the kernel's own locks, in C, in the experiments with published figures of kernel locks: docs/kernel-locks.md.

table.py [-b BUILD] [-o OUTPUT] [-j JOBS] [--print] [--check] [KERNEL]

KERNEL is a kernel's sources, a folder or an archive; default: where Debian's package linux-source-6.1 puts it. The locks are
made by `linebounce lock`, some with a patch of this folder that undoes the change which the figure is about. Published figures,
tolerances and verdicts are those of the experiments in configs/experiments/validation, which run locks in Lua and C++; only the
lock is another.

--print: writes no file. --check: writes none either, and ends with exit code 1 if a verdict is not the page's. `./dev reproduce
locks` runs this.
"""

import argparse
import hashlib
import json
import re
import shutil
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from reproduce import ROOT, Tools  # noqa: E402

EXPERIMENTS = ROOT / "configs" / "experiments" / "validation"
PAGE = ROOT / "docs" / "kernel-locks.md"
BETWEEN = re.compile(r"(?<=<!-- written by examples/kernel_locks/table.py -->\n).*(?=<!-- end -->\n)", re.DOTALL)
PACKAGE = "linux-source-6.1"
ARCHIVE = Path("/usr/src") / f"{PACKAGE}.tar.xz"
SAME_CURVE = 0.05  # a lock in C and the same one in Lua or C++ should not differ by more
MANY_TIMES = 10  # from this factor on, a change is shown as a factor, not in percent
COLUMNS = 120
HEAD = ["experiment", "row", "at", "published", "tolerance", "Lua or C++", "", "the kernel's C", "", "difference"]
POINTS_HEAD = ["experiment", "at", "Lua or C++", "the kernel's C", "difference"]
CAUSES_HEAD = ["experiment", "at", "supposed cause", "changed", "Lua or C++", "the kernel's C", "difference"]
Table = dict[str, Any]


# ---- the locks ----


@dataclass(frozen=True)
class KernelLock:
    """A lock that is made from the kernel's sources."""

    name: str  # of `linebounce lock`
    patch: str = ""  # a file of this folder
    file: str = ""  # a file of this folder to use instead of the one that `linebounce lock` has written


LOCKS = {
    "qrwlock": KernelLock("qrwlock"),
    "qspinlock": KernelLock("qspinlock"),
    "qrwlock_before": KernelLock("qrwlock", "qrwlock_before.patch"),
    "lockref": KernelLock("lockref", file="held.c"),
    "lockref_locked": KernelLock("lockref", "lockref_locked.patch", "held.c"),
    "lockref_unlimited": KernelLock("lockref", "lockref_unlimited.patch", "held.c"),
    "lockref_pause": KernelLock("lockref", "lockref_pause.patch", "held.c"),
    "lockref_test_and_set": KernelLock("lockref", "lockref_locked.patch", "held_test_and_set.c"),
    "rwsem": KernelLock("rwsem"),
    "rwsem_sleeps": KernelLock("rwsem", "rwsem_sleeps.patch"),
    "rwsem_tried": KernelLock("rwsem", file="tried.c"),
    "rwsem_expects_0": KernelLock("rwsem", "rwsem_expects_0.patch", "tried.c"),
    "rwsem_tried_owner": KernelLock("rwsem", "rwsem_owner.patch", "tried.c"),
    "rwsem_expects_0_owner": KernelLock("rwsem", "rwsem_expects_0_owner.patch", "tried.c"),
}


def made_locks(tools: Tools, kernel: Path) -> dict[str, Path]:
    """The locks' files by their names in LOCKS. An archive takes long to unpack, so later locks take what earlier ones have
    unpacked."""
    made: dict[str, Path] = {}
    sources: dict[str, Path] = {}  # by the file that the lock is about
    for name, lock in LOCKS.items():
        folder = tools.output / "locks" / name
        patch = ["--patch", HERE / lock.patch] if lock.patch else []
        source = sources.get(lock.name, kernel)
        tools.run("linebounce", "lock", lock.name, "--kernel", source, "-o", folder, *patch)
        if not lock.patch:
            sources[lock.name] = folder / "source"
            if lock.name == "qrwlock":  # whose wait_lock is a qspinlock
                sources["qspinlock"] = folder / "source"
        for file in HERE.glob("*.c"):
            shutil.copy(file, folder)
        made[name] = folder / (lock.file or f"{lock.name}.c")
    return made


# ---- the experiments ----


@dataclass(frozen=True)
class Replaced:
    """How a lock in C takes the place of the one that an experiment runs."""

    setting: str  # the setting whose values choose the experiment's own locks
    locks: dict[Any, str]  # the locks in C by those values
    workload: Table = field(default_factory=dict)  # further settings of the workload


GIVEN: Table = {"variant": "given"}
REPLACED = {
    "qspinlock_one_socket": Replaced("workload.lock", {"qspinlock": "qspinlock"}),
    "qspinlock_four_sockets": Replaced("workload.lock", {"qspinlock": "qspinlock"}),
    "qspinlock_ticket": Replaced("workload.lock", {"qspinlock": "qspinlock"}),
    "qrwlock_readers": Replaced("workload.variant", {"waits_first": "qrwlock_before", "adds_first": "qrwlock"}, GIVEN),
    "qrwlock_alone": Replaced("workload.variant", {"adds_first": "qrwlock"}, GIVEN),
    "lockref_pause": Replaced(
        "workload.pause_cycles", {140: "lockref_pause", 0: "lockref"}, {**GIVEN, "program": "lockref_change.lua"}
    ),
    "lockref_lockless": Replaced("workload.variant", {"locked": "lockref_locked", "limited": "lockref"}, GIVEN),
    "lockref_limit": Replaced("workload.variant", {"unlimited": "lockref_unlimited", "limited": "lockref"}, GIVEN),
    "rwsem_spinning": Replaced("workload.variant", {"sleeps": "rwsem_sleeps", "spins": "rwsem"}, GIVEN),
    "rwsem_trylock": Replaced("workload.variant", {"loads_first": "rwsem_tried", "expects_0": "rwsem_expects_0"}, GIVEN),
}


def own(name: str) -> Table:
    return tomllib.loads((EXPERIMENTS / f"{name}.toml").read_text(encoding="utf-8"))


def with_locks(experiment: Table, replaced: Replaced, locks: dict[str, str]) -> Table:
    """The experiment with locks in C (names or files by their names in LOCKS); everything else, its rows too, as it was."""
    lock_of = {value: locks[name] for value, name in replaced.locks.items()}

    def settings(of: Table) -> Table:
        return {
            "workload.lock" if path == replaced.setting else path: moved(value) if path == replaced.setting else value
            for path, value in of.items()
        }

    def moved(value: Any) -> Any:
        return [lock_of.get(each, each) for each in value] if isinstance(value, list) else lock_of.get(value, value)

    workload = {**experiment["workload"], **replaced.workload}
    if "program" in workload:
        workload["program"] = str(EXPERIMENTS / workload["program"])
    sweep = settings(experiment.get("sweep", {}))
    if "workload.lock" in sweep:
        workload.pop("lock", None)
    else:
        (workload["lock"],) = lock_of.values()
    changed = {**experiment, "name": experiment["name"].rpartition("/")[2], "workload": workload}
    if sweep:
        changed["sweep"] = sweep
    changed["paper"] = [
        {key: settings(value) if key in ("at", "relative_to") else value for key, value in row.items()}
        for row in experiment["paper"]
    ]
    return changed


def toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def toml(table: Table) -> str:
    """The TOML of a table of values, tables and lists of tables."""
    text, parts = "", ""
    for key, value in table.items():
        if isinstance(value, dict):
            parts += f"\n[{key}]\n" + "".join(f"{json.dumps(name)} = {toml_value(each)}\n" for name, each in value.items())
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for each in value:
                parts += f"\n[[{key}]]\n" + "".join(f"{name} = {toml_value(one)}\n" for name, one in each.items())
        else:
            text += f"{key} = {toml_value(value)}\n"
    return text + parts


# ---- why throughputs differ ----


@dataclass(frozen=True)
class Trial:
    """A change that should take a difference away, or make it larger."""

    settings: tuple[str, ...] = ()
    locks: dict[str, str] = field(default_factory=dict)  # by names in LOCKS, those to use instead
    links: tuple[str, ...] = ()  # pairs of nodes that the machine has no link between, and get one
    what: str = ""  # for the page; default: the settings

    @property
    def title(self) -> str:
        return self.what or ", ".join(f"`{setting}`" for setting in self.settings) or "nothing"


@dataclass(frozen=True)
class Cause:
    """The supposed cause of differences in throughput beyond SAME_CURVE."""

    experiment: str
    at: Table  # settings of the points, as the experiment ships
    cause: str
    trials: tuple[Trial, ...] = ()


ISSUE = "machine.cpu.issue_per_cycle"
OWNER = {"rwsem_tried": "rwsem_tried_owner", "rwsem_expects_0": "rwsem_expects_0_owner"}
CAUSES = (
    Cause(
        "qspinlock_four_sockets",
        {"machine.cpus": 4},
        "the order of the full queue, over one link or two",
        (Trial(("run.seeds=64",)), Trial(links=("0_2", "0_3", "1_3"), what="a link between any two of the four sockets")),
    ),
    Cause(
        "qrwlock_alone",
        {"workload.writes_in_10000": 10000},
        "instructions, which Lua does not count",
        (Trial((f"{ISSUE}=64",)), Trial((f"{ISSUE}=2",))),
    ),
    Cause(
        "lockref_lockless",
        {"machine.cpus": 48, "workload.variant": "locked"},
        "a queued lock in the kernel, a test-and-set lock in Lua",
        (Trial(locks={"lockref_locked": "lockref_test_and_set"}, what="C with a test-and-set lock"),),
    ),
    Cause(
        "lockref_lockless",
        {"machine.cpus": 48, "workload.variant": "limited"},
        "cycles between a failure and the next try",
        (
            Trial((f"{ISSUE}=64",)),
            *(Trial((f"workload.pause_cycles={cycles}",), what=f"Lua pauses {cycles} cycles") for cycles in (3, 4, 8)),
        ),
    ),
    Cause(
        "rwsem_trylock",
        {},
        "6.1 loads the owner before it stores a reader's; instructions",
        (
            Trial(locks=OWNER, what="C only stores it"),
            Trial((f"{ISSUE}=64",), OWNER, what=f"C only stores it; `{ISSUE}=64`"),
        ),
    ),
    Cause("rwsem_spinning", {}, "not found; not instructions", (Trial((f"{ISSUE}=64",)),)),
)


# ---- the runs ----


@dataclass(frozen=True)
class Pair:
    """The results of one experiment with the locks that it ships with, and with those in C."""

    experiment: str
    shipped: Table  # results.json
    in_c: Table

    def rows(self) -> list[tuple[Table, Table]]:
        return list(zip(self.shipped["paper"], self.in_c["paper"], strict=True))

    def points(self) -> list["Point"]:
        """The points' throughputs. Leaves out points with the same lock."""
        both = zip(self.shipped["points"], self.in_c["points"], strict=True)
        return [
            Point(self.experiment, old["at"], *(point["metrics"]["throughput.operations_per_s"] for point in (old, new)))
            for old, new in both
            if old["at"] != new["at"] or REPLACED[self.experiment].setting not in old["at"]
        ]


@dataclass(frozen=True)
class Point:
    """A throughput with the lock that ships, and with the one in C."""

    experiment: str
    at: Table  # as it ships
    shipped: Table  # the metric
    in_c: Table

    @property
    def difference(self) -> float:
        return float(self.in_c["value"] / self.shipped["value"] - 1)

    @property
    def is_near(self) -> bool:
        return abs(self.difference) <= SAME_CURVE

    def cells(self) -> list[str]:
        return [*map(throughput, (self.shipped, self.in_c)), f"{100 * self.difference:+.1f} %"]


def results(folder: Path) -> Table:
    found: Table = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return found


def run_in_c(tools: Tools, name: str, locks: dict[str, str], *more: str) -> Table:
    """The results of an experiment with other locks. `more`: further arguments of `linebounce run`."""
    folder = tools.output / "in_c"
    folder.mkdir(exist_ok=True)
    experiment = folder / f"{name}.toml"
    experiment.write_text(toml(with_locks(own(name), REPLACED[name], locks)), encoding="utf-8")
    tools.run("linebounce", "run", experiment, "-o", folder / name, "--native", "--unchecked", "--fresh", "--quiet", *more)
    return results(folder / name)


def run_pair(tools: Tools, name: str, locks: dict[str, Path], *more: str) -> Pair:
    print(" ".join([name, *more]), file=sys.stderr, flush=True)
    folder = tools.output / "shipped" / name
    tools.run("linebounce", "run", f"validation/{name}", "-o", folder, "--fresh", "--quiet", *more)
    return Pair(name, results(folder), run_in_c(tools, name, {lock: str(path) for lock, path in locks.items()}, *more))


def machine_with(tools: Tools, machine: str, links: tuple[str, ...]) -> Path:
    """A copy of the machine with more links, like its first."""
    text = (ROOT / "configs" / "machines" / f"{machine}.toml").read_text(encoding="utf-8")
    first: Table = next(iter(tomllib.loads(text)["network"]["link"].values()))
    file = tools.output / f"{machine}.toml"
    file.write_text(text + toml({f"network.link.{pair}": first for pair in links}), encoding="utf-8")
    return file


def tried(tools: Tools, cause: Cause, trial: Trial, locks: dict[str, Path], jobs: list[str]) -> list[Point]:
    """The points of the cause with a trial's change."""
    cpus = [f"machine.cpus={value}" for path, value in cause.at.items() if path == "machine.cpus"]
    words: list[str] = [word for setting in [*cpus, *trial.settings] for word in ("--set", setting)]
    if trial.links:
        words += ["--machine", str(machine_with(tools, own(cause.experiment)["machine"], trial.links))]
    others = {name: locks[other] for name, other in trial.locks.items()}
    pair = run_pair(tools, cause.experiment, {**locks, **others}, *words, *jobs)
    return [point for point in pair.points() if cause.at.items() <= point.at.items()]


Tried = tuple[Cause, Trial, Point]


def all_tried(tools: Tools, pairs: list[Pair], locks: dict[str, Path], jobs: list[str]) -> list[Tried]:
    """For each point that is apart, its supposed causes' trials."""
    in_causes = Tools(tools.build, tools.output / "causes")
    apart = [(point.experiment, point.at) for pair in pairs for point in pair.points() if not point.is_near]
    return [
        (cause, trial, point)
        for cause in CAUSES
        for trial in cause.trials
        for point in tried(in_causes, cause, trial, locks, jobs)
        if (point.experiment, point.at) in apart
    ]


# ---- the page ----


def figure(row: Table, value: float | None) -> str:
    if value is None:
        return "nothing"
    if "relative_to" in row:
        return f"{100 * value:+.1f} %" if value < MANY_TIMES else f"{value + 1:.3g} times"
    return in_millions(value) if row["unit"] == "1/s" else f"{value:.4g} {row['unit']}".rstrip()


def in_millions(per_s: float) -> str:
    value, unit = (per_s / 1e6, "M/s") if per_s >= 1e6 else (per_s / 1e3, "k/s")
    return f"{f'{value:#.3g}'.rstrip('.')} {unit}"


def published(row: Table) -> str:
    if row.get("paper") is not None:
        return figure(row, row["paper"])
    return {"none": "no effect"}.get(row["sign"], row["sign"])


def tolerance(row: Table) -> str:
    """What a figure may differ by; for a sign, from which change on there is one."""
    if "tolerance_abs" in row:
        return f"{row['tolerance_abs']:g} {row['unit']}".rstrip()
    return f"{100 * row['tolerance']:g} %" if "tolerance" in row else "its sign"


def settings_text(settings: Table) -> str:
    return ", ".join(f"{path.rpartition('.')[2]} {value}" for path, value in settings.items())


def at_text(row: Table) -> str:
    other = {path: value for path, value in row.get("relative_to", {}).items() if value != row["at"].get(path)}
    return settings_text(row["at"]) + (f", against {settings_text(other)}" if other else "")


def verdict(row: Table) -> str:
    return "hit" if row["ok"] else "**miss**"


def difference(old: Table, new: Table) -> str:
    """The figure in C against the other, in percent. For changes, that of the ratios."""
    was, now = old["simulated"], new["simulated"]
    if was is None or now is None:
        return ""
    return f"{100 * ((1 + now) / (1 + was) if 'relative_to' in old else now / was) - 100:+.1f} %"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [head, ["---"] * len(head), *rows])


def row_cells(pair: Pair) -> list[list[str]]:
    return [
        [
            f"`{pair.experiment}`",
            f"`{old['id']}`",
            at_text(old),
            published(old),
            tolerance(old),
            figure(old, old["simulated"]),
            verdict(old),
            figure(new, new["simulated"]),
            verdict(new),
            difference(old, new),
        ]
        for old, new in pair.rows()
    ]


def filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, COLUMNS, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False) + "\n"


def counted(pairs: list[Pair]) -> str:
    verdicts = [(bool(old["ok"]), bool(new["ok"])) for pair in pairs for old, new in pair.rows()]
    hits, missed = verdicts.count((True, True)), verdicts.count((False, False))
    text = f"Of {len(verdicts)} figures, {hits} are hits and {missed} misses in both."
    for where, alone in (("Lua or C++", (True, False)), ("C", (False, True))):
        if alone in verdicts:
            text += f" Hits in {where} alone: {verdicts.count(alone)}."
    return filled(text)


def misses(pairs: list[Pair]) -> str:
    text = ""
    for pair in pairs:
        for old, new in pair.rows():
            missing = [where for where, row in (("Lua or C++", old), ("C", new)) if not row["ok"]]
            if missing:
                where = "both" if len(missing) == 2 else f"only {missing[0]}"
                why = old.get("why_off", "no reason known")
                text += filled(f"- `{old['id']}`, {where}: {why}.", "  ")
    return text


def throughput(metric: Table) -> str:
    more = f" ± {100 * metric['ci95'] / metric['value']:.1f} %" if metric.get("ci95") else ""
    return in_millions(metric["value"]) + more


def points_apart(pairs: list[Pair]) -> str:
    """How many throughputs were compared, the largest difference within SAME_CURVE, and the table of those beyond."""
    found = [point for pair in pairs for point in pair.points()]
    near = [abs(point.difference) for point in found if point.is_near]
    apart = [[f"`{point.experiment}`", settings_text(point.at), *point.cells()] for point in found if not point.is_near]
    text = f"Behind these rows are {len(found)} throughputs. {len(near)} are within {100 * max(near, default=0):.1f} %"
    if not apart:
        return filled(f"{text} of each other.")
    return filled(f"{text} of each other; beyond {100 * SAME_CURVE:g} %:") + f"\n{markdown(POINTS_HEAD, apart)}"


def causes(found: list[Tried]) -> str:
    rows = [
        [f"`{cause.experiment}`", settings_text(point.at), cause.cause, trial.title, *point.cells()]
        for cause, trial, point in found
    ]
    return "The same with the supposed cause taken away, or changed:\n\n" + markdown(CAUSES_HEAD, rows)


def digests(locks: dict[str, Path]) -> str:
    """What the sources were, as beginnings of their SHA-256."""
    files = {
        "qspinlock": "kernel/locking/qspinlock.c",
        "qrwlock": "kernel/locking/qrwlock.c",
        "lockref": "lib/lockref.c",
        "rwsem": "kernel/locking/rwsem.c",
    }
    return ", ".join(
        f"`{file}` {hashlib.sha256((locks[lock].parent / 'source' / file).read_bytes()).hexdigest()[:12]}"
        for lock, file in files.items()
    )


def tables(pairs: list[Pair], found: list[Tried], sources: str) -> str:
    return (
        f"\n{filled(f'The sources (SHA-256): {sources}.')}\n"
        + markdown(HEAD, [cells for pair in pairs for cells in row_cells(pair)])
        + f"\n{counted(pairs)}\n{misses(pairs)}\n{points_apart(pairs)}\n{causes(found)}\n"
    )


def page(text: str, pairs: list[Pair], found: list[Tried], sources: str) -> str:
    """The page with up-to-date tables."""
    if not BETWEEN.search(text):
        sys.exit(f"table.py: {PAGE} has no place for the tables")
    return BETWEEN.sub(lambda _: tables(pairs, found, sources), text, count=1)


def verdicts_in(text: str) -> dict[str, tuple[str, str]]:
    """The verdicts in a page's table, Lua or C++ and C, by row."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == len(HEAD) and cells[1].startswith("`"):
            found[cells[1].strip("`")] = (cells[6], cells[8])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "examples" / "kernel_locks")
    parser.add_argument("-j", "--jobs", type=int)
    parser.add_argument("--print", action="store_true", dest="prints")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("kernel", metavar="KERNEL", nargs="?", type=Path, default=ARCHIVE)
    options = parser.parse_args()
    if not options.kernel.exists():
        parser.error(
            f"no kernel sources at {options.kernel}: install Debian's package {PACKAGE}, or name an archive or a folder"
        )
    tools = Tools(options.build, options.output)
    locks = made_locks(tools, options.kernel.resolve())
    jobs = ["-j", str(options.jobs)] if options.jobs else []
    pairs = [run_pair(tools, name, locks, *jobs) for name in REPLACED]
    old = PAGE.read_text(encoding="utf-8")
    new = page(old, pairs, all_tried(tools, pairs, locks, jobs), digests(locks))
    print(BETWEEN.search(new)[0] if options.prints else counted(pairs))  # type: ignore[index]
    if options.check:
        was, now = verdicts_in(old), verdicts_in(new)
        changed = [
            f"{row}: {was.get(row)} on the page, {now.get(row)} now" for row in {**was, **now} if was.get(row) != now.get(row)
        ]
        print("\n".join(changed))
        return 1 if changed else 0
    if not options.prints:
        PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
