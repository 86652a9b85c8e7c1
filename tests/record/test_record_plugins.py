"""Programs in C that load libraries in C++: the C++ library comes with them, and not every operator new is the global one."""

import subprocess

import pytest
from recorded import Recorder

HOST = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** names) {
  long all = 0;
  for (int i = 1; i < count; i++) {
    void* library = LOAD(names[i]);
    if (library == NULL) return puts(dlerror()), 1;
    long (*call)(void) = (long (*)(void))dlsym(library, "call");
    all += call();
  }
  printf("%ld\\n", all);
}
"""
LOCAL = "dlopen(name, RTLD_NOW | RTLD_LOCAL)"
ELSEWHERE = "dlmopen(LM_ID_NEWLM, name, RTLD_NOW)"

# Its constructor allocates, too, before dlopen() has returned.
PLUGIN = """
#include <map>
#include <memory>
#include <new>
#include <string>
struct Job { volatile long number; };
struct alignas(128) Wide { volatile long number; };
static std::map<int, std::string> names = {{1, std::string(100, 'x')}};
extern "C" long call() {
  auto job = std::make_unique<Job>();
  auto wide = std::make_unique<Wide>();
  job->number = wide->number = 1;
  try {
    volatile unsigned long huge = 1UL << 62;
    ::operator delete(::operator new(huge));
  } catch (const std::bad_alloc&) {
    return job->number + wide->number + static_cast<long>(names[1].size());
  }
  return 0;
}
"""

# Has operators of its own. A block of another operator would end its delete.
POOL = """
#include <cstddef>
#include <cstdlib>
#include <new>
alignas(64) static char pool[1 << 16];
static std::size_t used;
void* operator new(std::size_t bytes) {
  void* block = pool + used;
  used += (bytes + 63) / 64 * 64;
  return block;
}
void operator delete(void* block) noexcept {
  if (block < pool || block >= pool + sizeof(pool)) std::abort();
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
struct Task { volatile long number; };
extern "C" long call() {
  Task* task = new Task;
  task->number = 1000;
  const long number = task->number;
  delete task;
  return number;
}
"""


def libraries(recorder: Recorder, *, is_binary: bool) -> list[str]:
    files = []
    for name, source in (("plugin", PLUGIN), ("pool", POOL)):
        flags = ["-std=c++17", "-shared", "-fPIC"]
        output = f"{name}.so"
        if is_binary:
            recorder.linebounce.file(f"{name}.cpp", source)
            command = ["g++", "-g", "-O1", *flags, f"{name}.cpp", "-o", output]
            subprocess.run(command, cwd=recorder.linebounce.directory, check=True, timeout=60)
        else:
            recorder.compile(source, *flags, name=f"{name}.cpp", output=output)
        files.append(f"./{output}")
    return files


@pytest.mark.parametrize("loads", [LOCAL, ELSEWHERE])
@pytest.mark.parametrize("is_binary", [False, True])
def test_each_library_keeps_its_own_operators(recorder: Recorder, loads: str, is_binary: bool) -> None:
    files = libraries(recorder, is_binary=is_binary)
    # Exports everything, as programs with plugins do.
    flags = ["-DLOAD(name)=" + loads, "-rdynamic", "-ldl"]
    program = recorder.compile_plainly(HOST, *flags) if is_binary else recorder.compile(HOST, *flags)
    if not is_binary and loads == ELSEWHERE:
        files = []  # what linebounce-cc has compiled needs the program's runtime, which is not in another namespace
    options = ("--binary",) if is_binary else ()
    result = recorder.run(*options, "-o", "trace.lbt", "--", program, *files)
    assert result.stdout == ("1102\n" if files else "0\n"), result.stderr
    assert recorder.read("trace.lbt").streams["main"]


@pytest.mark.parametrize(
    "flags",
    [
        ["-static-libstdc++"],
        ["-Wl,-Bstatic", "-lstdc++", "-Wl,-Bdynamic"],
        ["-flto"],
        ["-fuse-ld=gold"],
        ["-fuse-ld=mold"],
    ],
)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_blocks_have_their_types_however_the_cpp_library_is_linked(recorder: Recorder, compiler: str, flags: list[str]) -> None:
    program = recorder.compile(PLUGIN + "int main() { return call() != 102; }", *flags, compiler=compiler, name="job.cpp")
    touched = recorder.record(program).touched("main")
    assert {"Job[0]", "Wide[0]"} <= set(touched), touched


def test_a_cpp_program_may_be_linked_in_two_steps(recorder: Recorder) -> None:
    recorder.compile(PLUGIN, "-c", name="job.cpp", output="job.o")
    wrapper = recorder.tool("linebounce-c++")
    both = [wrapper, "-r", "-nostdlib", "job.o", "-o", "part.o"]
    subprocess.run(both, cwd=recorder.linebounce.directory, check=True, timeout=60)
    program = recorder.compile('extern "C" long call(); int main() { return call() != 102; }', "part.o", name="main.cpp")
    assert {"Job[0]", "Wide[0]"} <= set(recorder.record(program).touched("main"))


@pytest.mark.parametrize("flag", ["-static", "-static-pie"])
def test_a_program_that_is_linked_statically_is_refused_when_it_is_linked(recorder: Recorder, flag: str) -> None:
    recorder.linebounce.file("main.c", "int main(void) { return 0; }")
    command = [recorder.tool("linebounce-cc"), flag, "main.c", "-o", "program"]
    done = subprocess.run(command, cwd=recorder.linebounce.directory, check=False, capture_output=True, text=True, timeout=60)
    says = f"linebounce-cc: a program that is linked statically cannot be recorded: link it without {flag}\n"
    assert (done.returncode, done.stderr) == (2, says)
    subprocess.run([*command[:2], "-c", "main.c"], cwd=recorder.linebounce.directory, check=True, timeout=60)


def test_a_cpp_program_may_be_linked_by_the_c_compiler(recorder: Recorder) -> None:
    recorder.linebounce.file("job.cpp", PLUGIN + "int main() { return call() != 102; }")
    command = [recorder.tool("linebounce-cc"), "-std=c++17", "-O2", "job.cpp", "-o", "program", "-lstdc++"]
    subprocess.run(command, cwd=recorder.linebounce.directory, check=True, timeout=60)
    touched = recorder.record("./program").touched("main")
    assert {"Job[0]", "Wide[0]"} <= set(touched), touched
