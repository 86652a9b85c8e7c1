"""A recorded program's blocks are where they would be without recording, because that decides which of them share a line."""

import subprocess

import pytest
from recorded import C_COMPILERS, CPP_OF_C, Recorder

# Prints where in the heap's pages the blocks are: the heap itself begins at a random address.
C_PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
THREAD_LOCAL
struct args { long sum; int number; long more[3]; };
static void* work(void* mine) { struct args* args = mine; args->sum += args->number + ADDED; return malloc(100); }
static void place(const void* block) { printf("%lx\\n", (unsigned long)block & 0xfff); }
int main(void) {
  place(malloc(24));
  for (int round = 0; round < 3; round++) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
      struct args* args = malloc(sizeof *args);
      *args = (struct args){.number = i};
      place(args);
      pthread_create(&threads[i], 0, work, args);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    place(calloc(4, 16));
    place(realloc(malloc(24), 4000));
  }
}
"""
CPP_PROGRAM = """
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Args { long sum = 0; };
static void place(const void* block) { std::printf("%lx\\n", (unsigned long)block & 0xfff); }
int main() {
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Args>> all;
  std::mutex all_created;  // a thread that ended would give blocks back
  all_created.lock();
  for (int i = 0; i < 5; i++) {
    all.push_back(std::make_unique<Args>());
    place(all.back().get());
    threads.emplace_back([&all_created, args = all.back().get()] {
      std::lock_guard<std::mutex> guard(all_created);
      args->sum++;
    });
  }
  all_created.unlock();
  for (auto& thread : threads) thread.join();
  place(std::string(100, 'x').data());
}
"""


def natively(recorder: Recorder, name: str, compiler: str) -> str:
    command = [compiler, "-g", "-O2", "-pthread", name, "-o", "native"]
    subprocess.run(command, cwd=recorder.linebounce.directory, check=True, timeout=60)
    return run(recorder, "./native")


def run(recorder: Recorder, *command: str) -> str:
    return subprocess.run(
        command, cwd=recorder.linebounce.directory, capture_output=True, text=True, check=True, timeout=60
    ).stdout


@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("own", ["", "static _Thread_local long own = 1;"], ids=["no_thread_locals", "thread_locals"])
def test_recording_keeps_the_heap_addresses_of_a_c_program(recorder: Recorder, compiler: str, own: str) -> None:
    source = C_PROGRAM.replace("THREAD_LOCAL", own).replace("ADDED", "own" if own else "0")
    program = recorder.compile(source, compiler=compiler)
    expected = natively(recorder, "program.c", compiler)
    assert len(expected.splitlines()) == 1 + 3 * 6
    assert run(recorder, program) == expected
    assert recorder.run("-o", "trace.lbt", "--", program).stdout.startswith(expected)


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_recording_keeps_the_heap_addresses_of_a_cpp_program(recorder: Recorder, compiler: str) -> None:
    program = recorder.compile(CPP_PROGRAM, compiler=compiler, name="program.cpp")
    expected = natively(recorder, "program.cpp", CPP_OF_C[compiler])
    assert run(recorder, program) == expected
    assert recorder.run("-o", "trace.lbt", "--", program).stdout.startswith(expected)


# In QEMU, a preloaded library keeps the blocks in their places.
@pytest.mark.parametrize("own", ["", "static _Thread_local long own = 1;"], ids=["no_thread_locals", "thread_locals"])
def test_binary_recording_keeps_the_heap_addresses_of_a_c_program(recorder: Recorder, own: str) -> None:
    source = C_PROGRAM.replace("THREAD_LOCAL", own).replace("ADDED", "own" if own else "0")
    program = recorder.compile_plainly(source)
    expected = run(recorder, program)
    assert recorder.run("--binary", "-o", "trace.lbt", "--", program).stdout.startswith(expected)


def test_binary_recording_keeps_the_heap_addresses_of_a_cpp_program(recorder: Recorder) -> None:
    program = recorder.compile_plainly(CPP_PROGRAM, compiler="g++", name="plain.cpp")
    expected = run(recorder, program)
    assert recorder.run("--binary", "-o", "trace.lbt", "--", program).stdout.startswith(expected)
