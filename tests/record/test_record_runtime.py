"""Corner cases of real programs: exceptions, linking, signals, forks, mappings; recorded as in
tests/record/test_record.py."""

import os
import pty
import signal
import subprocess

import pytest
from linebounce.trace_symbols import Kind
from memory import peak_mib
from recorded import Recorder


def test_allocations_behind_a_caught_bad_alloc_are_recorded(recorder: Recorder) -> None:
    source = """
#include <new>
struct Job { volatile long number; };
Job* volatile kept;
int main() {
  volatile unsigned long huge = 1UL << 62;
  try { kept = (Job*)::operator new(huge); } catch (const std::bad_alloc&) {}
  kept = new Job;
  kept->number = 1;
  delete kept;
}
"""
    recording = recorder.record(recorder.compile(source, name="job.cpp"))
    assert recording.touched("main")["Job[0]"] == 1


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_cpp_library_that_is_linked_statically_keeps_its_operators(recorder: Recorder, compiler: str) -> None:
    source = """
#include <cstdint>
#include <new>
struct alignas(64) Line { volatile long word[8]; };
struct Small { volatile long number; };
Line* volatile lines[16];
int main() {
  for (auto& line : lines) {
    Small* between = new Small;
    line = new Line;
    line->word[0] = between->number = 1;
    if (reinterpret_cast<std::uintptr_t>(line) % 64 != 0) return 1;
  }
  volatile unsigned long huge = 1UL << 62;
  try { lines[0] = static_cast<Line*>(::operator new(huge)); } catch (const std::bad_alloc&) { return 0; }
  return 2;
}
"""
    program = recorder.compile(source, "-std=c++17", "-static-libstdc++", compiler=compiler, name="lines.cpp")
    touched = recorder.record(program).touched("main")
    assert sum(count for name, count in touched.items() if name.startswith(("Line[", "Small["))) >= 32, touched


@pytest.mark.uninstrumented
def test_a_large_mapping_takes_memory_only_for_its_touched_part(recorder: Recorder) -> None:
    source = """
#include <stdio.h>
#include <sys/mman.h>
int main(void) {
  volatile char* memory =
      mmap(NULL, 1UL << 36, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memory[1UL << 35] = 1;
  volatile char* small = mmap((char*)memory + (1UL << 35), 4096, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  small[1] = 1;
  memory[(1UL << 35) + 4096] = 1;
  return 0;
}
"""
    program = recorder.compile(source)
    directory = recorder.linebounce.directory
    command = [recorder.linebounce.executable, "record", "-o", "trace.lbt", "--", program]
    assert peak_mib(command, directory) < 100
    recording = recorder.read("trace.lbt")
    parts = [each for each in recording.symbols.objects if each.name.startswith("main:6[")]
    assert {each.size for each in parts} == {1 << 30}  # a replay can't place more than this as one object
    assert sum(recording.touched("main")[each.name] for each in parts) == 2
    assert recording.touched("main")["main:8[0]"] == 1
    result = recorder.linebounce("trace", "replay", "trace.lbt", "--machine", "p3_xeon_4way", "--quiet")
    assert result.code == 0, result.stderr


# Blocks of all sizes up to 2 KiB, a thousand at a time.
CHURN = """
#include <stdlib.h>
static char* blocks[1000];
int main(int count, char** arguments) {
  unsigned long random = 1;
  for (long left = atol(arguments[count - 1]); left > 0; left--) {
    random = random * 6364136223846793005UL + 1442695040888963407UL;
    char** block = &blocks[(random >> 33) % 1000];
    free(*block);
    *block = malloc((random >> 44) % 2048 + 1);
    **(volatile char**)block = 1;
  }
}
"""


def test_memory_does_not_grow_with_blocks_of_many_sizes(recorder: Recorder) -> None:
    program = recorder.compile(CHURN)

    def peak(mallocs: int) -> float:
        command = [recorder.linebounce.executable, "record", "-o", "trace.lbt", "--", program, str(mallocs)]
        return peak_mib(command, recorder.linebounce.directory)

    short, long = peak(100_000), peak(600_000)
    assert long < short + 16, f"{short:.0f} MiB, {long:.0f} MiB with six times as many blocks"


def test_a_thread_whose_signal_handler_fills_the_ring_is_given_up(recorder: Recorder) -> None:
    """The handler interrupts while a ring has a word that only its thread can fill."""
    source = """
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
static volatile long steps, stores, handled;
static void handle(int number) {
  for (int i = 0; i < 200000; i++) stores = number;
  handled++;
}
int main(void) {
  signal(SIGPROF, handle);
  struct itimerval every = {{0, 5000}, {0, 5000}};
  setitimer(ITIMER_PROF, &every, NULL);
  while (handled < 40) steps++;
}
"""
    recorder.run("-o", "trace.lbt", "--", recorder.compile(source))
    info = recorder.linebounce("trace", "info", "--check", "trace.lbt")
    assert (info.code, "signal handler" in info.stdout) == (0, True), info.stdout + info.stderr


# Prints how often the handler ran.
INTERRUPTED = """
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t times;
static void handle(int number) { (void)number; times++; }
int main(void) {
  signal(SIGINT, handle);
  puts("ready");
  fflush(stdout);
  for (int i = 0; i < 5000 && times == 0; i++) usleep(1000);
  usleep(200000);
  return 10 + times;
}
"""


def test_an_interrupt_of_the_recorder_alone_reaches_the_program(recorder: Recorder) -> None:
    command = [recorder.tool("linebounce-record"), "-o", "trace.lbt", "--", recorder.compile(INTERRUPTED)]
    with subprocess.Popen(command, cwd=recorder.linebounce.directory, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=30) == 11


def test_an_interrupt_from_the_terminal_reaches_the_program_once(recorder: Recorder) -> None:
    program = recorder.compile(INTERRUPTED)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(recorder.linebounce.directory)
        tool = recorder.tool("linebounce-record")
        os.execv(tool, [tool, "-o", "trace.lbt", "--", program])
    said = b""
    while b"ready" not in said:
        said += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 11


def test_accesses_before_an_unmapping_do_not_belong_to_the_next_mapping(recorder: Recorder) -> None:
    """Two threads map memory at one address in turn, synchronised in a way that the recorder can't see; the recorder is busy
    with a third thread, whose ring comes between theirs."""
    source = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static int turn;
static volatile int over, steps;
static void hand_over(int to) { __asm__ volatile("movl %1, %0" : "=m"(turn) : "r"(to) : "memory"); }
static void wait_for(int value) {
  int seen;
  do {
    usleep(100);
    __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(turn) : "memory");
  } while (seen != value);
}
static volatile char* map(unsigned long bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  return mmap((void*)0x200000000000, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}
static void* first(void* argument) {
  for (int i = 0; i < 15; i++) {
    wait_for(0);
    volatile char* memory = map(8192);
    usleep(20000);
    for (int k = 0; k < 100; k++) memory[k] = 1;
    munmap((void*)memory, 8192);
    hand_over(1);
  }
  over = 1;
  return argument;
}
static void* busy(void* argument) {
  while (!over) {
    for (int i = 0; i < 2000; i++) steps = i;
    usleep(200);
  }
  return argument;
}
static void* second(void* argument) {
  for (int i = 0; i < 15; i++) {
    wait_for(1);
    volatile char* memory = map(4096);
    memory[0] = 1;
    memory = mremap((void*)memory, 4096, 12288, MREMAP_MAYMOVE);
    memory[5000] = 1;
    munmap((void*)memory, 12288);
    hand_over(0);
  }
  return argument;
}
int main(void) {
  void* (*const work[3])(void*) = {first, busy, second};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) {
    pthread_create(&threads[i], NULL, work[i], NULL);
    usleep(20000);
  }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}
"""
    recording = recorder.record(recorder.compile(source))
    mapped = {number: each.size for number, each in enumerate(recording.symbols.objects) if each.address == 0x200000000000}

    def sizes(thread: str) -> set[int]:
        stores = [each for each in recording.streams[thread] if each.kind == Kind.STORE]
        return {mapped[each.id] for each in stores if each.id in mapped}

    assert sizes("first[0]") == {8192}
    assert sizes("second[0]") >= {4096, 12288}


def test_unrecorded_joins_are_reported(recorder: Recorder) -> None:
    source = """
#include <pthread.h>
static pthread_t threads[1030];
static void* wait(void* argument) { return argument; }
int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  for (int i = 0; i < 1030; i++) {
    if (pthread_create(&threads[i], &attributes, wait, NULL) != 0) return 1;
  }
  for (int i = 0; i < 1030; i++) pthread_join(threads[i], NULL);
}
"""
    recording = recorder.record(recorder.compile(source))
    assert recording.counts("main")[Kind.JOIN] == 1024
    assert any(sentence.startswith("6 join(s)") for sentence in recording.missing), recording.missing


def test_a_child_of_fork_can_create_threads(recorder: Recorder) -> None:
    """A child of fork is not recorded, even if another thread was being created at the fork."""
    source = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int over;
static void* nothing(void* argument) { return argument; }
static void create_one(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, nothing, NULL) == 0) pthread_join(thread, NULL);
}
static void* create_many(void* argument) {
  while (!over) create_one();
  return argument;
}
int main(int count, char** arguments) {
  pthread_t busy[2];
  for (int i = 0; i < 2; i++) pthread_create(&busy[i], NULL, create_many, NULL);
  int failed = 0;
  for (int i = 0; i < atoi(arguments[count - 1]) && !failed; i++) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      create_one();
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    failed = status != 0;
  }
  over = 1;
  for (int i = 0; i < 2; i++) pthread_join(busy[i], NULL);
  return failed;
}
"""
    program = recorder.compile(source)
    recorder.record(program, "50")
    subprocess.run([program, "1500"], cwd=recorder.linebounce.directory, check=True, timeout=60)


def test_a_child_of_fork_creates_threads_while_loaded_files_are_locked(recorder: Recorder) -> None:
    """glibc 2.36 leaves the lock of dl_iterate_phdr() taken in a child if another thread held it at the fork."""
    program = recorder.compile("""
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int inside, over;
static int stay(struct dl_phdr_info* file, size_t bytes, void* data) {
  inside = 1;
  while (!over) usleep(100);
  return file == NULL || bytes == 0 || data == NULL;
}
static void* hold_lock(void* argument) { dl_iterate_phdr(stay, &argument); return argument; }
static void* nothing(void* argument) { return argument; }
int main(void) {
  pthread_t holder;
  pthread_create(&holder, NULL, hold_lock, NULL);
  while (!inside) usleep(100);
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    alarm(10);
    if (pthread_create(&thread, NULL, nothing, NULL) == 0) pthread_join(thread, NULL);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  over = 1;
  pthread_join(holder, NULL);
  return status != 0;
}
""")
    subprocess.run([program], cwd=recorder.linebounce.directory, check=True, timeout=60)
    recorder.record(program)
