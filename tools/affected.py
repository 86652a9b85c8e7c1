"""Finds the tests that a change can affect, for ./dev test.

A change in a room (commands/NAME, forms, litmus, evidence) affects its tests, those of the rooms that use it, and tests
elsewhere that type one of their subcommands. What has no rule here affects everything.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from source_tree import ROOT, SourceTree, is_test, room_of

BASE = ROOT / "build" / "tested"  # the commit that passed last, with what was not committed then
# Subcommands that are not their room's name.
SUBCOMMANDS = {
    "commands/advise": ("advise", "find-sharing"),
    "commands/compare_locks": ("compare-locks", "lock-report"),
    "commands/course": (),
    "commands/describe": ("list", "describe", "lines"),
    "evidence": ("validate", "reproduce"),
    "forms": (),
    "litmus": (),
}
FUZZED = ("forms", "litmus", "commands/calibrate")  # with readers in tests/fuzz
WRITTEN = ("docs/recipes.md",)  # by the program, without saying so
PRINTED = "tests/end_to_end/test_printed_commands.py"  # types the examples of all help texts, which takes minutes
NEVER = ("LICENSE", "CITATION.cff", ".gitignore")


@dataclass
class Affected:
    everything: str = ""  # the file that affects everything, if one does
    programs: set[str] = field(default_factory=set)  # C++ tests' executables
    files: set[str] = field(default_factory=set)  # pytest's files, folders, and cases (FILE::TEST)

    def nothing(self) -> bool:
        return not (self.everything or self.programs or self.files)


def users(sources: SourceTree) -> dict[str, set[str]]:
    """For each room the rooms that include it, also through others, and itself."""
    uses: dict[str, set[str]] = {}
    for name in sources.matching("*.cpp", "*.hpp"):
        if (room := room_of(name)) is None or is_test(name):
            continue
        included = re.findall(r'^#include "([^"]+)"', sources.text(name), re.MULTILINE)
        uses.setdefault(room, {room}).update(other for header in included if (other := room_of(header)))
    for _ in uses:
        uses = {room: used.union(*(uses.get(other, {other}) for other in used)) for room, used in uses.items()}
    return {room: {user for user in uses if room in uses[user]} for room in uses}


def program_of(folder: str) -> str:
    """The executable of a folder of C++ tests, named as in tests/CMakeLists.txt."""
    return "test_" + re.sub(r"^tests/|/tests$", "", folder).replace("/", "_")


def typing(sources: SourceTree, words: Iterable[str]) -> Iterator[str]:
    """Python tests that type one of the words."""
    pattern = re.compile("|".join(rf'"{re.escape(word)}"' for word in words) or "$.")
    for name in sources.matching("*/test_*.py"):
        if is_test(name) and not name.startswith("tests/tools/") and pattern.search(sources.text(name)):
            yield name


def printed_by(sources: SourceTree, words: Iterable[str]) -> Iterator[str]:
    """The tests that type what the subcommands print: the examples of their help texts, and all messages' next commands."""
    if PRINTED not in sources:
        return
    text = sources.text(PRINTED)
    for page in re.findall(rf"^linebounce (?:{'|'.join(map(re.escape, words))})(?: .*)?$", text, re.MULTILINE):
        yield f"{PRINTED}::test_every_example_of_a_help_text_works_when_typed[{page}]"
    yield f"{PRINTED}::test_a_command_that_a_message_prints_works_when_typed"


def subcommands(room: str) -> tuple[str, ...]:
    return SUBCOMMANDS.get(room, (PurePosixPath(room).name.replace("_", "-"),))


def add_room(sources: SourceTree, room: str, found: Affected) -> None:
    words: list[str] = []
    for user in users(sources).get(room, {room}):
        if user != "commands/run":  # nearly every test types "run", but of experiments, which no other room touches
            words += subcommands(user)
        tests = sources.matching(f"{user}/tests/*")
        if any(name.endswith(".cpp") for name in tests):
            found.programs.add(program_of(f"{user}/tests"))
        if any(PurePosixPath(name).name.startswith("test_") and name.endswith(".py") for name in tests):
            found.files.add(f"{user}/tests")
    found.files.update(typing(sources, words))
    if words:
        found.files.update(printed_by(sources, words))
    if room in FUZZED:
        found.programs.add("test_fuzz")


def add_test(sources: SourceTree, name: str, found: Affected) -> bool:
    path = PurePosixPath(name)
    if path.suffix == ".py" and any(f"from {path.stem} import" in sources.text(file) for file in sources.matching("*.py")):
        return False  # others use its texts
    in_program = path.suffix == ".cpp" and path.parts[:2] not in (("tests", "fuzz"), ("tests", "library"))
    if path.suffix == ".py" and path.name.startswith("test_"):
        found.files.add(name)
    elif in_program or (path.suffix == ".hpp" and path.parts[0] != "tests"):
        found.programs.add(program_of(str(path.parent)))
    else:
        return path.suffix == ".md"
    return True


def add(sources: SourceTree, name: str, found: Affected) -> bool:
    """Adds what a changed file affects. False if it has no rule."""
    path = PurePosixPath(name)
    top = path.parts[0]
    room = room_of(name)
    if is_test(name):
        return add_test(sources, name, found)
    if name in WRITTEN or "written by tools/" in (sources.text(name) if path.suffix == ".md" and name in sources else ""):
        return False  # tests compare such a page with what the program prints
    if path.suffix == ".md" and top not in ("models", "teach"):
        found.files.update(("tests/tools", "tests/analysis/test_docs_site.py"))
    elif top == "findings":
        found.files.add("tests/tools/test_findings.py")
    elif name.startswith("analysis/linebounce/") and len(path.parts) > 3:
        found.files.update(typing(sources, (path.parts[2].replace("_", "-"),)))
        found.files.update(sources.matching(f"tests/analysis/test_*{path.parts[2]}*.py"))
    elif top == "teach":
        found.files.update(("tests/teach", *sources.matching("tests/analysis/test_teach*.py")))
    elif top == "record":
        found.programs.add("test_record")
        found.files.update(file for file in sources.matching("*/test_*.py") if "recorder" in sources.text(file))
    elif room is not None and room != "commands/run":
        add_room(sources, room, found)
    else:
        return name.startswith(NEVER)
    return True


def affected(sources: SourceTree, changed: Iterable[str]) -> Affected:
    found = Affected()
    for name in changed:
        if not add(sources, name, found):
            return Affected(everything=name)
    found.files = {file for file in found.files if file.partition("::")[0] in sources or sources.matching(f"{file}/*")}
    return found


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def state() -> str:
    """The work tree as a commit: HEAD, or one of what is not committed, too."""
    return git("stash", "create").strip() or git("rev-parse", "HEAD").strip()


def remember(tested: str, file: Path = BASE) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(tested + "\n", encoding="utf-8")


def changed_since_tested(file: Path = BASE) -> list[str] | None:
    """The files that have changed since the last pass, and new ones; none if nothing is known of one."""
    try:
        base = file.read_text(encoding="utf-8").strip()
        changed = git("diff", "--name-only", base).splitlines()
    except (OSError, subprocess.CalledProcessError):
        return None
    return [*changed, *git("ls-files", "--others", "--exclude-standard").splitlines()]
