"""Real programs, written here, compiled with linebounce-cc and linebounce-c++, and recorded."""

import os
import subprocess
import time

import pytest
from linebounce.trace_symbols import Kind
from memory import peak_mib
from recorded import C_COMPILERS, Recorder

# Four threads with a lock around a counter, and per-thread counters in one line.
COUNTERS = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
long counters[4];
static long rounds;
static void* worker(void* argument) {
  long mine = (long)argument;
  for (long i = 0; i < rounds; i++) {
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    __asm__ volatile("" ::: "memory");
    counters[mine]++;
  }
  return NULL;
}
int main(int count, char** arguments) {
  pthread_t threads[4];
  rounds = count > 1 ? atol(arguments[1]) : 1000;
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("%ld\\n", total);
  return 0;
}
"""

# The program has a hash table whose buckets have one lock each. Its blocks come from the program's own allocator.
TABLE = """
#include <pthread.h>
#include <stdlib.h>
struct node { struct node* next; long key; };
struct bucket { pthread_mutex_t lock; struct node* first; };
struct table { long size; struct bucket* buckets; };
static struct table* table;
static void* checked_malloc(size_t bytes) {
  void* memory = malloc(bytes);
  if (memory == NULL) abort();
  return memory;
}
static void insert(long key) {
  struct bucket* bucket = &table->buckets[key % table->size];
  struct node* node = checked_malloc(sizeof *node);
  node->key = key;
  pthread_mutex_lock(&bucket->lock);
  node->next = bucket->first;
  bucket->first = node;
  pthread_mutex_unlock(&bucket->lock);
}
static void* worker(void* argument) {
  for (long i = 0; i < 32; i++) insert(i);
  return argument;
}
int main(void) {
  table = malloc(sizeof(struct table));
  table->size = 8;
  table->buckets = calloc(8, sizeof(struct bucket));
  for (int i = 0; i < 8; i++) pthread_mutex_init(&table->buckets[i].lock, NULL);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
"""

# A one-element queue with two conditions, semaphores, a barrier, a reader-writer lock.
HAND_OVER = """
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t start;
static sem_t tokens;
static int used, seen;
static void* producer(void* argument) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&lock);
    while (used) pthread_cond_wait(&empty, &lock);
    used = 1;
    pthread_cond_signal(&full);
    pthread_mutex_unlock(&lock);
    sem_post(&tokens);
  }
  pthread_rwlock_wrlock(&table_lock);
  pthread_rwlock_unlock(&table_lock);
  return argument;
}
static void* consumer(void* argument) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&lock);
    while (!used) pthread_cond_wait(&full, &lock);
    used = 0;
    seen++;
    pthread_cond_signal(&empty);
    pthread_mutex_unlock(&lock);
  }
  for (int i = 0; i < 103; i++) sem_wait(&tokens);
  pthread_rwlock_rdlock(&table_lock);
  pthread_rwlock_unlock(&table_lock);
  return argument;
}
int main(void) {
  pthread_barrier_init(&start, NULL, 2);
  sem_init(&tokens, 0, 3);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, producer, NULL);
  pthread_create(&threads[1], NULL, consumer, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
"""

CPP = """
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
namespace pool {
struct Job { long input, output; };
std::mutex lock;
std::condition_variable ready;
std::vector<std::unique_ptr<Job>> jobs;
std::atomic<int> done;
void serve() {
  std::unique_lock held(lock);
  ready.wait(held, [] { return !jobs.empty(); });
  auto job = std::move(jobs.back());
  jobs.pop_back();
  held.unlock();
  job->output = job->input * 2;
  done.fetch_add(1);
}
}
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back([] { pool::serve(); });
  for (int i = 0; i < 3; i++) {
    std::lock_guard held(pool::lock);
    pool::jobs.push_back(std::make_unique<pool::Job>());
    pool::ready.notify_one();
  }
  for (auto& thread : threads) thread.join();
  return pool::done == 3 ? 0 : 1;
}
"""


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_every_acquisition_and_access_of_four_threads_is_recorded(recorder: Recorder, compiler: str) -> None:
    recording = recorder.record(recorder.compile(COUNTERS, compiler=compiler))
    workers = [f"worker[{number}]" for number in range(4)]
    assert list(recording.streams) == ["main", *workers]
    assert recording.acquisitions("lock") == 4000
    for name in workers:
        assert recording.counts(name)[Kind.RELEASE] == 1000
        assert recording.touched(name)["total"] == 2000
        assert recording.touched(name)["counters"] == 2000
    assert recording.counts("main")[Kind.CREATE] == recording.counts("main")[Kind.JOIN] == 4
    assert [each.created for each in recording.symbols.streams] == [False, True, True, True, True]


def test_elements_of_a_short_array_are_fields_and_keep_their_distance(recorder: Recorder) -> None:
    symbols = recorder.record(recorder.compile(COUNTERS)).symbols
    counters = next(each for each in symbols.objects if each.name == "counters")
    assert [each.offset for each in symbols.structures[counters.structure].fields] == [0, 8, 16, 24]
    assert counters.size == 32
    assert counters.address is not None


def test_no_operation_is_lost_when_a_ring_is_full(recorder: Recorder) -> None:
    recording = recorder.record(recorder.compile(COUNTERS), "30000")
    assert recording.acquisitions("lock") == 120000
    assert sum(recording.touched(f"worker[{number}]")["counters"] for number in range(4)) == 240000


ODD_SIZE = """
struct { unsigned state : 10, owner : 14; char kind; } flags;
int main(void) {
  for (int i = 0; i < 100; ++i) {
    flags.owner = i;
    __asm__ volatile("" ::: "memory");
  }
}
"""


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_a_bit_field_in_three_bytes_is_recorded_or_said_to_be_missing(recorder: Recorder, compiler: str) -> None:
    recording = recorder.record(recorder.compile(ODD_SIZE, compiler=compiler))
    said = any("other sizes than 1, 2, 4, 8 and 16 bytes" in sentence for sentence in recording.missing)
    assert said == (compiler == "clang")
    assert (recording.touched("main")["flags"] >= 100) == (not said)


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_heap_blocks_have_the_types_that_the_source_names(recorder: Recorder, compiler: str) -> None:
    recording = recorder.record(recorder.compile(TABLE, compiler=compiler))
    structures = {each.name: each for each in recording.symbols.structures}
    assert [each.name for each in structures["node"].fields] == ["next", "key"]
    assert [each.name for each in structures["bucket"].fields] == ["lock", "first"]
    locks = {each.name: each for each in recording.symbols.locks}
    assert set(locks) == {f"bucket[{number}].lock" for number in range(8)}
    assert {(each.algorithm, each.sleeps, each.figures, each.word_bytes) for each in locks.values()} == {
        ("pthread_mutex", True, "bucket.lock", 8)
    }
    assert sum(recording.acquisitions(name) for name in locks) == 64


def test_a_lock_in_memory_of_another_type_lies_within_its_object(recorder: Recorder) -> None:
    """Such as an arena of one-byte structures, each of which is an object, and a structure that is packed."""
    source = """
#include <pthread.h>
struct byte { char value; };
struct pair { char values[2]; };
static struct byte bytes[256] __attribute__((aligned(64)));
static struct pair pairs[128] __attribute__((aligned(64)));
static struct { int tag; pthread_mutex_t mutex; pthread_spinlock_t spin; } __attribute__((packed, aligned(64))) packed;
static volatile long count;
static void* const locks[] = {bytes + 64, pairs + 32, (char*)&packed + 4};
static void* const spins[] = {bytes + 128, pairs + 64, (char*)&packed + 4 + sizeof(pthread_mutex_t)};
static void count_under(void* lock, void* spin) {
  for (int i = 0; i < 10; i++) {
    pthread_mutex_lock(lock);
    count++;
    pthread_mutex_unlock(lock);
    pthread_spin_lock(spin);
    count++;
    pthread_spin_unlock(spin);
  }
}
static void* work(void* unused) {
  for (int i = 0; i < 3; i++) count_under(locks[i], spins[i]);
  return unused;
}
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 3; i++) pthread_spin_init(spins[i], PTHREAD_PROCESS_PRIVATE);
  pthread_create(&thread, NULL, work, NULL);
  work(NULL);
  pthread_join(thread, NULL);
}
"""
    recording = recorder.record(recorder.compile(source))
    sizes = {each.name: each.word_bytes for each in recording.symbols.locks}
    assert sizes == {
        "bytes[64].value": 1,
        "bytes[128].value": 1,
        "pairs[32].values[0]": 2,
        "pairs[64].values[0]": 2,
        "packed.mutex": 4,
        "packed.spin": 4,
    }
    assert all(recording.acquisitions(name) == 20 for name in sizes)
    replayed = recorder.linebounce("trace", "replay", "trace.lbt", "--machine", "p3_xeon_8way", "--lock", "qspinlock")
    assert replayed.code == 0, replayed.stderr


def test_a_block_that_is_allocated_again_is_the_same_object(recorder: Recorder) -> None:
    source = """
#include <stdlib.h>
struct job { long number; };
int main(void) {
  for (long i = 0; i < 1000; i++) {
    struct job* job = malloc(sizeof(struct job));
    *(volatile long*)&job->number = i;
    free(job);
  }
}
"""
    recording = recorder.record(recorder.compile(source))
    assert [each.name for each in recording.symbols.objects if each.name.startswith("job")] == ["job[0]"]
    assert recording.touched("main")["job[0]"] >= 1000


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_hand_overs_become_edges_between_threads(recorder: Recorder, compiler: str) -> None:
    recording = recorder.record(recorder.compile(HAND_OVER, compiler=compiler))
    events = [each.name for each in recording.symbols.events]
    assert set(events) >= {"tokens", "full", "empty"}
    producer, consumer = recording.streams["producer[0]"], recording.streams["consumer[0]"]
    signals = [operation.id for operation in producer if operation.kind == Kind.SIGNAL]
    assert signals.count(events.index("full")) == signals.count(events.index("tokens")) == 100
    waits = [
        operation.argument for operation in consumer if operation == (Kind.WAIT, 0, 0, events.index("tokens"), operation[4])
    ]
    assert waits == list(range(1, 101))  # the first 3 of 103 waits take the initial count, so they wait for no signal
    for operation in consumer:
        if operation.kind == Kind.WAIT:
            assert 1 <= operation.argument <= 100
    assert [(each.name, each.parties) for each in recording.symbols.barriers] == [("start", 2)]
    assert recording.counts("producer[0]")[Kind.BARRIER] == 1
    assert recording.counts("producer[0]")[Kind.ACQUIRE] == 101 + recording.counts("producer[0]")[Kind.WAIT]
    assert recording.counts("consumer[0]")[Kind.ACQUIRE_SHARED] == 1


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_threads_locks_and_objects_of_a_cpp_program_are_recorded(recorder: Recorder, compiler: str) -> None:
    recording = recorder.record(recorder.compile(CPP, "-std=c++20", compiler=compiler, name="pool.cpp"))
    assert list(recording.streams) == ["main", "thread[0]", "thread[1]", "thread[2]"]
    assert [each.name for each in recording.symbols.locks] == ["pool::lock"]
    assert [each.name for each in recording.symbols.events] == ["pool::ready"]
    job = next(each for each in recording.symbols.structures if each.name == "pool::Job")
    assert [each.name for each in job.fields] == ["input", "output"]
    assert sum(recording.counts(f"thread[{number}]")[Kind.FETCH_ADD] for number in range(3)) == 3
    assert any("atomic" in sentence for sentence in recording.missing)


@pytest.mark.parametrize("window", ["0:500", "1000:2000", "5000:100000", "3:1"])
def test_a_window_makes_sense_by_itself(recorder: Recorder, window: str) -> None:
    recording = recorder.record(recorder.compile(HAND_OVER), options=("--window", window))
    count = int(window.partition(":")[2])
    recorded = sum(operation.kind != Kind.EXECUTE for operations in recording.streams.values() for operation in operations)
    assert recorded <= count + 20  # plus the operations at the window's beginning and end that restore functions and locks


PHASES = """
#include <pthread.h>
long warm, hot, cold;
__attribute__((noinline)) void warm_up(void) { for (int i = 0; i < 100; ++i) ++warm; }
__attribute__((noinline)) void serve(void) { for (int i = 0; i < 30; ++i) ++hot; }
__attribute__((noinline)) void clean_up(void) { for (int i = 0; i < 100; ++i) ++cold; }
int main(void) {
  warm_up();
  serve();
  clean_up();
}
"""


def test_a_window_from_one_function_until_another_is_a_phase(recorder: Recorder) -> None:
    program = recorder.compile(PHASES, "-O0")
    assert set(recorder.record(program, options=("--from", "serve", "--until", "clean_up")).touched("main")) == {"hot"}
    assert set(recorder.record(program, options=("--from", "serve")).touched("main")) >= {"hot", "cold"}
    assert "cold" not in recorder.record(program, options=("--until", "clean_up")).touched("main")
    # Counted from that point: the loads and stores of three rounds, and what the function does first.
    few = recorder.record(program, options=("--from", "serve", "--window", "0:10"))
    assert 1 <= few.touched("main")["hot"] <= 10


def test_a_function_that_is_never_called_leaves_an_empty_trace_and_says_so(recorder: Recorder) -> None:
    result = recorder.run("--from", "absent", "-o", "trace.lbt", "--", recorder.compile(PHASES))
    assert "nothing was recorded after a call of absent" in result.stderr


def test_a_window_of_time_leaves_out_earlier_operations(recorder: Recorder) -> None:
    source = PHASES.replace("serve();", "usleep(600000); serve();").replace("#include <pthread.h>", "#include <unistd.h>")
    program = recorder.compile(source, "-O0")
    touched = recorder.record(program, options=("--after", "0.3")).touched("main")
    assert "warm" not in touched
    assert "hot" in touched
    touched = recorder.record(program, options=("--for", "0.3")).touched("main")
    assert touched["warm"] == 200
    assert "cold" not in touched
    for option in (("--after", "-1"), ("--for", "0")):
        assert option[0] in recorder.run(*option, "--", "true", code=2).stderr


def test_children_and_later_programs_are_reported(recorder: Recorder) -> None:
    source = """
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  if (fork() == 0) _exit(0);
  wait(NULL);
}
"""
    program = recorder.compile(source)
    script = recorder.linebounce.file("both.sh", f"#!/bin/sh\n{program}\n{program}\n")
    script.chmod(0o755)
    missing = " ".join(recorder.record("./both.sh").missing)
    assert "1 child process" in missing
    assert "1 later program" in missing


def test_a_library_that_is_loaded_late_has_names(recorder: Recorder) -> None:
    library = "int shared_counter;\nint bump(void) { return ++shared_counter; }\n"
    recorder.compile(library, "-shared", "-fPIC", name="library.c", output="library.so")
    source = """
#include <dlfcn.h>
int main(void) {
  int (*bump)(void) = (int (*)(void))dlsym(dlopen("./library.so", RTLD_NOW), "bump");
  return bump() - 1;
}
"""
    recording = recorder.record(recorder.compile(source))
    assert recording.touched("main")["shared_counter"] == 2
    assert "bump" in {each.name for each in recording.symbols.functions}


def test_wrappers_work_in_a_makefile(recorder: Recorder) -> None:
    recorder.linebounce.file("one.c", "long shared;\nvoid count(void) { shared++; }\n")
    recorder.linebounce.file("two.c", "void count(void);\nint main(void) { count(); return 0; }\n")
    recorder.linebounce.file("Makefile", "both: one.o two.o\n\t$(CC) $(LDFLAGS) -o $@ one.o two.o\n")
    subprocess.run(["make", "-s", f"CC={recorder.tool('linebounce-cc')}"], cwd=recorder.linebounce.directory, check=True)
    assert recorder.record("./both").touched("main")["shared"] == 2


def test_unrecordable_programs_are_refused(recorder: Recorder) -> None:
    assert "not compiled by linebounce-cc" in recorder.run("--", "true", code=2).stderr
    assert "cannot run ./missing: there is no such program" in recorder.run("--", "./missing", code=2).stderr
    recorder.linebounce.file("one.c", "int main(void) { return 0; }")
    says = "cannot run ./one.c: this is its source; compile it first: linebounce-cc -O2 -pthread ./one.c -o one\n"
    assert says in recorder.run("--", "./one.c", code=2).stderr
    recorder.compile("int main(void) { return 0; }")
    assert "did you mean ./program?" in recorder.run("--", "program", code=2).stderr
    assert "this is a folder, not a program" in recorder.run("--", ".", code=2).stderr
    for window in ("5", "-1:5", "1:0", "1:18446744073709551616"):
        assert "SKIP:COUNT" in recorder.run(f"--window={window}", "--", "true", code=2).stderr
    for option, says in {
        "--for=0": "--for: 0 is out of range; legal: more than 0",
        "--after=soon": '--after: "soon" is not a number; legal: 0 or more',
        "--times=1001": "--times: 1001 is out of range; legal: 1 to 1000",
        "--fro=main": "there is no option --fro; did you mean --from?",
        "--pid=1234": "there is no option --pid: linebounce-record starts the program itself: linebounce-record -- ./program",
        "--threads=4": "there is no option --threads: the program's own options go behind it: linebounce-record -- ./program",
        "-o=t.xyz": "--output t.xyz: a trace's name ends in .lbt, or in .txt to be written as text",
    }.items():
        assert recorder.run(*option.split("=") if option[1] == "o" else [option], "--", "true", code=2).stderr.startswith(
            f"linebounce-record: {says}\n"
        )
    assert "Usage" in recorder.run("--help").stdout


def test_a_compiler_that_is_missing_is_named_with_the_variable_that_chooses_it(recorder: Recorder) -> None:
    command = [recorder.tool("linebounce-cc"), "-c", "one.c"]
    done = subprocess.run(
        command, env={**os.environ, "LINEBOUNCE_CC": "no-such-cc"}, capture_output=True, text=True, check=False
    )
    says = "linebounce-cc: the compiler no-such-cc cannot be run: there is no such program; LINEBOUNCE_CC names another\n"
    assert (done.returncode, done.stderr) == (127, says)


def test_a_wrapper_that_would_call_itself_is_refused(recorder: Recorder) -> None:
    command = [recorder.tool("linebounce-cc"), "-c", "one.c"]
    itself = {**os.environ, "LINEBOUNCE_CC": "linebounce-cc"}
    done = subprocess.run(command, env=itself, capture_output=True, text=True, check=False, timeout=20)
    says = "linebounce-cc: LINEBOUNCE_CC=linebounce-cc would call itself; it names the compiler behind, such as gcc or clang\n"
    assert (done.returncode, done.stderr) == (2, says)


def test_a_program_runs_unrecorded_without_the_recorder(recorder: Recorder) -> None:
    program = recorder.compile(COUNTERS)
    done = subprocess.run([program], cwd=recorder.linebounce.directory, capture_output=True, text=True, check=True)
    assert done.stdout == "4000\n"


# Four threads count in lists of four elements under 64 locks, for which they rarely wait.
MANY_LOCKS = """
#include <pthread.h>
#include <stdlib.h>
struct node { struct node* next; long key, count; };
struct bucket { pthread_mutex_t lock; struct node* first; };
static struct bucket buckets[64];
static long rounds;
static struct node* find(struct bucket* bucket, long key) {
  struct node* node = bucket->first;
  while (node != NULL && node->key != key) node = node->next;
  return node;
}
static void count(long key) {
  struct bucket* bucket = &buckets[key % 64];
  pthread_mutex_lock(&bucket->lock);
  struct node* node = find(bucket, key);
  if (node == NULL) {
    node = calloc(1, sizeof *node);
    node->key = key;
    node->next = bucket->first;
    bucket->first = node;
  }
  node->count++;
  pthread_mutex_unlock(&bucket->lock);
}
static void* worker(void* argument) {
  unsigned long random = (unsigned long)argument + 1;
  for (long i = 0; i < rounds; i++) {
    random = random * 6364136223846793005UL + 1442695040888963407UL;
    count((long)(random >> 33) % 256);
  }
  return NULL;
}
int main(int count, char** arguments) {
  pthread_t threads[4];
  rounds = atol(arguments[count - 1]);
  for (int i = 0; i < 64; i++) pthread_mutex_init(&buckets[i].lock, NULL);
  for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}
"""


# The goal is 30 times the plain program's time. An idle machine needs 24 for one lock, a busy one up to 38
# (record/README.md): the limits are for the busy one, and the test takes the best of up to 20.
@pytest.mark.undisturbed
@pytest.mark.uninstrumented
@pytest.mark.parametrize(("source", "most"), [(COUNTERS, 50), (MANY_LOCKS, 60)], ids=["one lock", "64 locks"])
def test_a_lock_heavy_program_takes_not_much_longer(recorder: Recorder, source: str, most: float) -> None:
    """The time includes the collector's. Both versions alternate under the same load, until one pair is within the
    limit."""
    recorder.linebounce.file("plain.c", source)
    directory = recorder.linebounce.directory
    subprocess.run(["gcc", "-O2", "-pthread", "plain.c", "-o", "plain"], cwd=directory, check=True)
    program = recorder.compile(source)

    def seconds(*command: str) -> float:
        begin = time.monotonic()
        subprocess.run(command, cwd=directory, check=True, capture_output=True, timeout=120)
        return time.monotonic() - begin

    record = [str(recorder.tool("linebounce-record")), "-o", "trace.lbt", "--", program]
    times: list[tuple[float, float]] = []
    ratio = most
    while len(times) < 20 and ratio >= most:
        times.append((seconds("./plain", "500000"), seconds(*record, "500000")))
        ratio = min(recorded / plain for plain, recorded in times)
    assert ratio < most, f"{ratio:.1f} times: {times}"


@pytest.mark.uninstrumented
def test_memory_does_not_grow_with_the_run(recorder: Recorder) -> None:
    program = recorder.compile(COUNTERS)
    command = [recorder.linebounce.executable, "record", "-o", "trace.lbt", "--", program, "500000"]
    assert peak_mib(command, recorder.linebounce.directory) < 200


def test_operations_after_exec_belong_to_another_program(recorder: Recorder) -> None:
    source = """
#include <unistd.h>
long steps;
int main(int count, char** arguments) {
  for (int i = 0; i < 10; i++) ++*(volatile long*)&steps;
  if (count == 1) execl(arguments[0], arguments[0], "again", NULL);
  return 7;
}
"""
    recording = recorder.record(recorder.compile(source), code=7)
    assert recording.touched("main")["steps"] == 20
    assert any("1 later program" in sentence for sentence in recording.missing)


@pytest.mark.parametrize(("tool", "compiler", "variable"), [("cc", "gcc", "CC"), ("c++", "g++", "CXX")])
def test_the_compilers_help_is_ours_and_says_where_its_own_is(
    recorder: Recorder, tool: str, compiler: str, variable: str
) -> None:
    command = [recorder.tool(f"linebounce-{tool}"), "--help"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LINEBOUNCE_C")}
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert shown.startswith(f"Usage: linebounce-{tool} ARGUMENTS OF {compiler}\n")
    assert "linebounce-record -- ./table" in shown
    assert f"LINEBOUNCE_{variable} names another compiler" in shown
    assert shown.endswith(f"{compiler} --help\n")
