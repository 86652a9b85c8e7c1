"""Structures from debug information: no member is lost, and no result rests on bytes that nothing explains."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from program import Program
from recorded import Recorder

Place = tuple[str, int, int]  # name, offset, size


def built(linebounce: Program, source: str, name: str, *command: str) -> str:
    linebounce.file(name, source)
    subprocess.run([*command, name, "-o", "program"], cwd=linebounce.directory, check=True)
    return "program"


def fields_of(linebounce: Program, structure: str, program: str = "program") -> list[Place]:
    result = linebounce("import", program, "--structure", structure, "-o", "layout.toml")
    assert result.code == 0, result.stderr
    text = (linebounce.directory / "layout.toml").read_text()
    found = re.findall(r'name = "([^"]+)"\noffset_bytes = (\d+)\nsize_bytes = (\d+)', text)
    return [(name, int(offset), int(size)) for name, offset, size in found]


MEMBERS = """
struct Tag {};
struct Counter { [[no_unique_address]] Tag tag; int count; };
struct Tags { [[no_unique_address]] Tag one; [[no_unique_address]] Tag two; char letter; };
struct Shape { long area = 1; virtual ~Shape() {} };
struct Round : virtual Shape { int radius = 2; };
struct Ring : Round { int inner = 3; };
struct Flags { unsigned low : 3; unsigned long wide : 40; unsigned high : 30; };
struct Late { char a; unsigned b : 4, : 0, c : 5; bool d : 1; short e : 9; };
struct __attribute__((packed)) Wire { char kind; long length; short sum; };
Counter counter; Tags tags; Round round_one; Ring ring; Flags flags; Late late; Wire wire;
int main() { return counter.count + tags.letter + ring.inner + flags.high + late.e + wire.sum + round_one.radius; }
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_overlapping_members_are_all_told(linebounce: Program, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    built(linebounce, MEMBERS, "members.cpp", compiler, "-g", "-std=c++20")
    assert fields_of(linebounce, "Counter") == [("count", 0, 4)]
    assert fields_of(linebounce, "Tags") == [("letter", 0, 1)]
    shape = [("Shape::_vptr", 16, 8), ("area", 24, 8)]
    assert fields_of(linebounce, "Round") == [("_vptr", 0, 8), ("radius", 8, 4), *shape]
    assert fields_of(linebounce, "Ring") == [("_vptr", 0, 8), ("radius", 8, 4), ("inner", 12, 4), *shape]
    assert fields_of(linebounce, "Flags") == [("low|wide", 0, 6), ("high", 8, 4)]
    assert fields_of(linebounce, "Late") == [("a", 0, 1), ("b", 1, 1), ("c|d|e", 4, 2)]
    assert fields_of(linebounce, "Wire") == [("kind", 0, 1), ("length", 1, 8), ("sum", 9, 2)]
    assert "alignment_bytes = 1" in (linebounce.directory / "layout.toml").read_text()


LIBRARY = """
#include <map>
#include <memory>
#include <string>
#include <tuple>
struct Job {
  std::unique_ptr<int> owner;
  std::map<int, long> waiting;
  std::tuple<char, long> pair;
  std::string name;
  int state;
};
Job job;
int main() { return job.state; }
"""


def test_members_of_the_standard_librarys_types_have_all_their_bytes(linebounce: Program) -> None:
    built(linebounce, LIBRARY, "job.cpp", "g++", "-g", "-std=c++20")
    ends: dict[str, list[int]] = {}
    for name, offset, size in fields_of(linebounce, "Job"):
        begin, end = ends.setdefault(re.split(r"[.+\[]", name)[0], [offset, offset])
        ends[re.split(r"[.+\[]", name)[0]] = [min(begin, offset), max(end, offset + size)]
    assert ends == {"owner": [0, 8], "waiting": [8, 56], "pair": [56, 72], "name": [72, 104], "state": [104, 108]}


def test_a_class_that_is_only_declared_is_found_by_its_whole_name(linebounce: Program) -> None:
    linebounce.file("store.hpp", "namespace store { struct Entry { virtual ~Entry(); long key, value, next; }; }\n")
    linebounce.file("store.cpp", '#include "store.hpp"\nstore::Entry::~Entry() {}\nstruct Keep { store::Entry e; } keep;\n')
    source = '#include "store.hpp"\nnamespace view { struct Entry { char tag; } shown; }\n'
    source += "struct Pair { int id; store::Entry entry; int uses; };\nint used(Pair* p) { return p->uses; }\n"
    linebounce.file("main.cpp", source + "int main() { return view::shown.tag; }\n")
    subprocess.run(["g++", "-g", "main.cpp", "store.cpp", "-o", "program"], cwd=linebounce.directory, check=True)
    places = fields_of(linebounce, "Pair")
    assert ("entry.next", 32, 8) in places
    assert places[-1] == ("uses", 40, 4)


def test_types_of_type_units_and_split_units_are_read(linebounce: Program) -> None:
    source = "namespace n { struct Part { char a; long b; }; struct Whole { Part part[2]; int last; }; }\nn::Whole whole;\n"
    source += "int main() { struct Inner { short x; n::Whole y; } inner{}; return whole.last + inner.x; }\n"
    expected = None
    for flags in (["-g"], ["-g", "-fdebug-types-section"], ["-g", "-gsplit-dwarf"], ["-gdwarf-3"]):
        built(linebounce, source, "whole.cpp", "g++", *flags)
        places = [fields_of(linebounce, name) for name in ("n::Whole", "Inner")]
        assert expected in (None, places), flags
        expected = places
    built(linebounce, source, "whole.cpp", "g++", "-g", "-gsplit-dwarf")
    for file in linebounce.directory.glob("*.dwo"):
        file.unlink()
    assert ".dwo, which can't be read" in linebounce.refused("import", "program", "--structure", "n::Whole", code=3)
    built(linebounce, source, "whole.cpp", "g++", "-g1")
    assert "-g1 leaves types out" in linebounce.refused("import", "program", "--structure", "n::Whole", code=3)


def test_types_that_dwz_moved_to_a_file_of_several_programs_are_read(linebounce: Program) -> None:
    source = "struct Base { long id; virtual ~Base() {} }; struct Whole : virtual Base { char a; long b; } whole;\n"
    source += "int main() { return whole.a; }\n"
    built(linebounce, source, "whole.cpp", "g++", "-g")
    expected = fields_of(linebounce, "Whole")
    shutil.copy(linebounce.directory / "program", linebounce.directory / "twin")
    subprocess.run(["dwz", "-m", "common.debug", "program", "twin"], cwd=linebounce.directory, check=True)
    assert fields_of(linebounce, "Whole") == expected
    (linebounce.directory / "common.debug").unlink()
    refused = linebounce.refused("import", "program", "--structure", "Whole", code=3)
    assert "has its debug information in common.debug, which can't be read" in refused


def test_structures_of_one_name_that_differ_are_not_mixed_up(linebounce: Program) -> None:
    linebounce.file("one.c", "struct node { long a; } one; int main(void) { return one.a != 0; }\n")
    linebounce.file("two.c", "struct node { char c[3]; } two;\n")
    subprocess.run(["gcc", "-g", "one.c", "two.c", "-o", "program"], cwd=linebounce.directory, check=True)
    message = linebounce.refused("import", "program", "--structure", "node", code=3)
    assert "has several structures node, which differ: one of 8 bytes" in message
    assert "two.c:1" in message


GO = """package main
type Counters struct { hits int64; _ [56]byte; misses int64; _ [56]byte }
var counters Counters
func main() { counters.hits++; counters.misses++; println(counters.hits) }
"""


def test_padding_that_go_names_with_an_underscore_is_no_member(linebounce: Program) -> None:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    linebounce.file("pads.go", GO)
    environment = {"HOME": str(linebounce.directory), "PATH": f"{Path(shutil.which('go') or '').parent}:/usr/bin:/bin"}
    subprocess.run(["go", "build", "-o", "program", "pads.go"], cwd=linebounce.directory, env=environment, check=True)
    assert fields_of(linebounce, "main.Counters") == [("hits", 0, 8), ("misses", 64, 8)]


FORTRAN = """module shapes
 type cell
  integer(2) :: kind
  real(8), allocatable :: values(:)
  integer :: uses
 end type
end module
program p
 use shapes
 type(cell), save :: c
 c%uses = 1
 print *, c%uses
end program
"""


def test_types_of_fortran_modules_are_found(linebounce: Program) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("gfortran is not installed")
    built(linebounce, FORTRAN, "cells.f90", "gfortran", "-g")
    assert fields_of(linebounce, "cell") == [("kind", 0, 2), ("values", 8, 64), ("uses", 72, 4)]
    assert fields_of(linebounce, "shapes::cell")[-1] == ("uses", 72, 4)


# The vtable of Derived is in no file that is read, so nothing tells where its virtual base lies.
WITHOUT_VTABLE = """
#include <thread>
struct Base { long refs = 0; virtual ~Base() {} };
struct Derived : virtual Base { long hits = 0; long misses = 0; void count(long Derived::*which) { ++(this->*which); } };
alignas(64) Derived object;
int main() {
  auto count = [](long* p) { for (int i = 0; i < 20000; i++) { ++*p; asm volatile("" ::: "memory"); } };
  std::thread a(count, &object.hits), b(count, &object.refs);
  a.join(); b.join();
}
"""


def without_vtable(linebounce: Program, program: str) -> None:
    names = subprocess.run(["nm", program], cwd=linebounce.directory, capture_output=True, text=True, check=True).stdout
    vtables = [f"--strip-symbol={name}" for name in re.findall(r"\b_ZT[VI]\w+", names)]
    subprocess.run(["objcopy", *vtables, program], cwd=linebounce.directory, check=True)


def test_a_virtual_bases_place_comes_from_the_vtable_or_is_said_to_be_unknown(linebounce: Program) -> None:
    built(linebounce, WITHOUT_VTABLE, "derived.cpp", "g++", "-g", "-std=c++20", "-pthread")
    assert ("refs", 32, 8) in fields_of(linebounce, "Derived")
    without_vtable(linebounce, "program")
    result = linebounce("import", "program", "--structure", "Derived", "-o", "unknown.toml")
    assert result.code == 0
    assert "Not explained: bytes 24 to 39 of Derived may be of a member that its source does not tell" in result.stdout
    table = ".. threads: put=4\n\nDerived struct fast path usage breakdown\n\nType Name put_access\nlong hits read_write\n"
    table += "long misses read_write\n"
    linebounce.file("accesses.rst", table)
    for layout in (["--binary", "program"], ["--pahole", "unknown.toml"]):
        message = linebounce.refused("layout", "optimise", "Derived", "--accesses", "accesses.rst", *layout, code=3)
        assert "bytes 24 to 39 of Derived" in message
    linebounce.file("unknown2.toml", (linebounce.directory / "unknown.toml").read_text())
    diff = ["layout", "diff", "unknown.toml:Derived", "unknown2.toml:Derived", "--accesses", "accesses.rst"]
    assert "no result about its members can rest on that" in linebounce.refused(*diff, code=3)


def test_a_recording_with_unexplained_bytes_gets_no_verdict_about_them(linebounce: Program, recorder: Recorder) -> None:
    program = recorder.compile(WITHOUT_VTABLE, "-std=c++20", compiler="gcc", name="derived.cpp")
    recorder.record(program)
    shown = linebounce("find-sharing", "trace.lbt")
    assert "object.hits" in shown.stdout, shown.stderr
    assert "object.refs" in shown.stdout
    without_vtable(linebounce, "program")
    recorder.record(program)
    for command in ("find-sharing", "advise"):
        assert "bytes 24 to 39 of Derived may be of a member" in linebounce.refused(command, "trace.lbt", code=3)
    recorder.run("-o", "again.lbt", "--", program)
    assert "bytes 24 to 39" in linebounce.refused("layout", "optimise", "Derived", "--accesses", "again.lbt", code=3)


def test_a_recording_says_why_its_variables_have_no_names(recorder: Recorder) -> None:
    source = "long counters[8];\nint main(void) { for (int i = 0; i < 100; i++) counters[i % 8]++; return 0; }\n"
    assert not [text for text in recorder.record(recorder.compile(source)).missing if "names of" in text]
    recorder.compile(source, "-g1")
    missing = recorder.record("./program").missing
    assert any(
        "names of the program's variables and of their fields: the program was compiled with -g1" in one for one in missing
    )
