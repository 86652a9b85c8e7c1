"""Layouts that are proposed for recorded C++ programs with types of the standard library: each is compiled and read back."""

import json
import re
import subprocess

import pytest
from program import Program
from recorded import Recorder

MACHINE = "generic_2socket_32core"

# By program: the structure's members, and what two threads do to it.
PROGRAMS: dict[str, tuple[list[tuple[str, str]], str, str]] = {
    "cache": (
        [
            ("std::unique_ptr<int>", "owner"),
            ("long", "hits"),
            ("long", "misses"),
            ("std::map<int, long>", "index"),
            ("std::tuple<char, int>", "last"),
            ("int", "limit"),
        ],
        "++shared.hits; if (shared.index.empty()) ++std::get<1>(shared.last);",
        "++shared.misses; if (shared.owner == nullptr && shared.limit == 0) sum += 1;",
    ),
    "queue": (
        [
            ("std::string", "name"),
            ("std::atomic<long>", "head"),
            ("std::atomic<long>", "tail"),
            ("std::vector<int>", "slots"),
            ("std::optional<long>", "bound"),
            ("std::shared_ptr<int>", "user"),
            ("char", "state"),
        ],
        "shared.head.store(sum); sum += shared.slots.size();",
        "shared.tail.store(sum); sum += shared.bound.has_value() + shared.name.size();",
    ),
    "pool": (
        [
            ("std::function<int(int)>", "make"),
            ("unsigned", "taken"),
            ("std::pair<char, long>", "range"),
            ("unsigned", "given"),
            ("std::unordered_map<int, std::string>", "names"),
            ("std::variant<int, double>", "mode"),
            ("std::deque<char>", "free"),
        ],
        "++shared.taken; sum += shared.free.size();",
        "++shared.given; sum += shared.names.size() + shared.mode.index() + shared.range.second;",
    ),
}
PROGRAMS["wide"] = (
    [
        ("long", "hits"),
        ("long double", "mean"),
        ("char", "state"),
        ("alignas(16) int", "limit"),
        ("long", "misses"),
        ("Vector", "weights"),
        ("__int128", "sum"),
        ("Block", "block"),
        ("int", "last"),
    ],
    "++shared.hits; if (shared.mean > 3 && shared.limit == 0) ++sum;",
    "++shared.misses; if (shared.sum > 3 && shared.block.first == 0) ++sum;",
)
HEADERS = "atomic deque functional map memory optional string thread tuple unordered_map utility variant vector"
INCLUDES = "".join(f"#include <{header}>\n" for header in HEADERS.split())
INCLUDES += "typedef float Vector __attribute__((vector_size(16)));\nstruct alignas(32) Block { long first, second; };\n"


def source_of(members: list[tuple[str, str]], one: str, other: str) -> str:
    declared = "".join(f"  {kind} {name}{{}};\n" for kind, name in members)
    loop = '[] {{ long sum = 0; for (int i = 0; i < 3000; i++) {{ {} asm volatile("" ::: "memory"); }} }}'
    work = f"  std::thread a({loop.format(one)}), b({loop.format(other)});\n  a.join();\n  b.join();\n"
    return f"{INCLUDES}struct Shared {{\n{declared}}};\nalignas(64) Shared shared;\nint main() {{\n{work}}}\n"


def spans(fields: list[tuple[str, int, int]]) -> dict[str, tuple[int, int]]:
    """Where each member lies: its offset and size, with all its parts."""
    found: dict[str, tuple[int, int]] = {}
    for name, offset, size in fields:
        member = re.split(r"[.+\[|]", name)[0]
        begin, end = found.get(member, (offset, offset))
        found[member] = (min(begin, offset), max(end, offset + size))
    return {name: (begin, end - begin) for name, (begin, end) in found.items()}


def read_back(linebounce: Program, program: str) -> dict[str, tuple[int, int]]:
    command = [linebounce.executable, "import", program, "--structure", "Shared", "-o", "back.toml"]
    subprocess.run(command, cwd=linebounce.directory, check=True, capture_output=True)
    text = (linebounce.directory / "back.toml").read_text()
    found = re.findall(r'name = "([^"]+)"\noffset_bytes = (\d+)\nsize_bytes = (\d+)', text)
    return spans([(name, int(offset), int(size)) for name, offset, size in found])


def compiled(
    linebounce: Program, members: list[tuple[str, str]], places: dict[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """Declares the members in the order of their places, with padding for gaps, and reads the compiler's layout."""
    kinds = {name: kind for kind, name in members}
    text, end = "", 0
    for name, (begin, size) in sorted(places.items(), key=lambda place: place[1]):
        if begin > end:
            text += f"  char gap_{end}[{begin - end}];\n"
        text += f"  {kinds[name]} {name};\n"
        end = begin + size
    linebounce.file("proposal.cpp", f"{INCLUDES}struct Shared {{\n{text}}};\nShared shared;\nint main() {{}}\n")
    subprocess.run(["g++", "-g", "-std=c++20", "proposal.cpp", "-o", "proposal"], cwd=linebounce.directory, check=True)
    return {name: place for name, place in read_back(linebounce, "proposal").items() if not name.startswith("gap_")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_proposal_compiles_with_every_member_at_its_size(linebounce: Program, recorder: Recorder, name: str) -> None:
    members, one, other = PROGRAMS[name]
    program = recorder.compile(source_of(members, one, other), "-std=c++20", name="program.cpp")
    recorder.record(program)
    today = read_back(linebounce, "program")
    assert set(today) == {member for _, member in members}
    # Runs the program directly: C++ names look like our internals.
    command = [linebounce.executable, "layout", "optimise", "Shared", "--accesses", "trace.lbt", "--machine", MACHINE]
    command += ["--orders", "2", "--layouts", "3", "--json"]
    done = subprocess.run(command, cwd=linebounce.directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    tried = json.loads(done.stdout)["tried"]
    assert tried
    for proposal in tried:
        lines = [line for section in proposal["layout"]["sections"] for line in section["lines"]]
        fields = [(f["name"], f["offset_bytes"], f["size_bytes"]) for line in lines for f in line["fields"]]
        places = spans(fields)
        assert {member: size for member, (_, size) in places.items()} == {member: size for member, (_, size) in today.items()}
        assert compiled(linebounce, members, places) == places
    shared = subprocess.run(
        [linebounce.executable, "find-sharing", "trace.lbt", "--machine", MACHINE, "--json"],
        cwd=linebounce.directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shared.returncode == 0, shared.stderr
    written = {"queue": ("head", "tail"), "pool": ("taken", "given")}.get(name, ("hits", "misses"))
    for member in written:
        assert f"shared.{member}" in shared.stdout or f'"{member}"' in shared.stdout
