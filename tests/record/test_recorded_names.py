"""linebounce-record names locks and conditions as their program's source does."""

from collections import Counter
from pathlib import Path

import pytest
from recorded import C_COMPILERS, Recorder
from results import read_csv

C = """
#include <pthread.h>
#include <stdlib.h>
enum { many = 256 };
struct part { long count; pthread_mutex_t mutex; };
struct shard { pthread_rwlock_t lock; pthread_cond_t changed; long used; };
union padded { pthread_mutex_t lock; char line[64]; };
struct pair { long number; pthread_mutex_t locks[3]; };
static pthread_mutex_t lru_locks[many];
static pthread_spinlock_t spins[many];
static struct { long size; struct part locks[100]; union { pthread_rwlock_t whole; char line[128]; }; } table;
static union padded padded[8];
static struct shard* shards;
static pthread_mutex_t* item_locks;
static pthread_mutex_t* handed_on;
static void use(pthread_mutex_t* lock) { pthread_mutex_lock(lock); pthread_mutex_unlock(lock); }
static void* worker(void* argument) {
  pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
  use(&lru_locks[33]);
  use(&table.locks[90].mutex);
  use(&padded[5].lock);
  use(&item_locks[70]);
  use(handed_on);
  use(&mine);
  pthread_spin_lock(&spins[99]);
  pthread_spin_unlock(&spins[99]);
  pthread_rwlock_rdlock(&table.whole);
  pthread_rwlock_unlock(&table.whole);
  pthread_rwlock_wrlock(&shards[7].lock);
  pthread_rwlock_unlock(&shards[7].lock);
  pthread_cond_signal(&shards[6].changed);
  return argument;
}
static __attribute__((noinline)) void run(void) {
  struct pair pair;
  pthread_mutex_init(&pair.locks[2], NULL);
  handed_on = &pair.locks[2];
  pthread_t thread;
  pthread_create(&thread, NULL, worker, NULL);
  pthread_join(thread, NULL);
}
int main(void) {
  shards = calloc(64, sizeof *shards);
  item_locks = calloc(many, sizeof *item_locks);
  pthread_rwlock_init(&table.whole, NULL);
  pthread_spin_init(&spins[99], 0);
  pthread_mutex_init(&padded[5].lock, NULL);
  run();
}
"""
NAMES_IN_C = {
    "lru_locks[33]",
    "table.locks[90].mutex",
    "padded[5].lock",
    "run::pair.locks[2]",
    "worker::mine of worker[0]",
    "spins[99]",
    "table.whole",
    "shard[7].lock",
}

CPP = """
#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
struct Shard { std::mutex lock; long used = 0; };
struct Named { std::string name; std::shared_mutex lock; };
struct alignas(64) Lined { std::mutex lock; long used = 0; ~Lined() { used = 1; } };
namespace app {
std::mutex locks[100];
std::array<std::mutex, 80> array;
std::timed_mutex timed;
std::condition_variable ready[3];
struct Table { long size; std::array<Shard, 70> shards; std::shared_mutex whole; } table;
}
template <class Lock> void use(Lock& lock) { std::lock_guard<Lock> held(lock); }
int main() {
  Shard* shards = new Shard[64];
  Named* named = new Named[64];
  Lined* lined = new Lined[64];
  std::mutex local;
  std::shared_mutex both[2];
  std::thread([&] {
    std::mutex inner;
    use(shards[40].lock);
    use(named[41].lock);
    use(lined[42].lock);
    use(app::locks[77]);
    use(app::array[66]);
    use(app::timed);
    use(app::table.shards[69].lock);
    use(app::table.whole);
    std::shared_lock<std::shared_mutex> read(both[1]);
    app::ready[2].notify_all();
    use(local);
    use(inner);
  }).join();
  delete[] shards;
  delete[] named;
  delete[] lined;
}
"""
NAMES_IN_CPP = {
    "Shard[40].lock",
    "Named[41].lock",
    "Lined[42].lock",
    "app::locks[77]",
    "app::array[66]",
    "app::timed",
    "app::table.shards[69].lock",
    "app::table.whole",
    "main::both[1]",
    "main::local",
}

# A class template with an inlined member, an inlined static function, and lambdas.
CALLS = """
#include <mutex>
#include <thread>
#include <vector>
static std::mutex lock;
static long cell;
template <class T> struct Table {
  std::mutex lock;
  T cells[64];
  __attribute__((noinline)) void insert(T value) { std::lock_guard<std::mutex> held(lock); cells[value % 64] += value; }
  void remove(T value) { std::lock_guard<std::mutex> held(lock); cells[value % 64] -= value; }
};
static Table<long> table;
static void work() {
  for (int i = 0; i < 100; i++) {
    table.insert(i);
    table.remove(i);
  }
}
template <class F> __attribute__((noinline)) void twice(F run) { run(); run(); }
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++) {
    threads.emplace_back([] {
      work();
      twice([] { std::lock_guard<std::mutex> held(lock); cell++; });
    });
  }
  for (auto& thread : threads) thread.join();
}
"""
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("optimised", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_locks_of_c_are_called_as_in_the_source(recorder: Recorder, compiler: str, optimised: str) -> None:
    symbols = recorder.record(recorder.compile(C, optimised, compiler=compiler)).symbols
    allocated_in = 1 + C[: C.index("item_locks = calloc")].count("\n")
    assert {each.name for each in symbols.locks} == NAMES_IN_C | {f"main:{allocated_in}[70]"}
    assert [each.name for each in symbols.events] == ["shard[6].changed"]


@pytest.mark.parametrize("optimised", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_locks_of_cpp_are_called_as_in_the_source(recorder: Recorder, compiler: str, optimised: str) -> None:
    program = recorder.compile(CPP, optimised, "-std=c++20", compiler=compiler, name="program.cpp")
    symbols = recorder.record(program).symbols
    names = {each.name for each in symbols.locks}
    (inner,) = names - NAMES_IN_CPP
    assert inner.endswith("operator()::inner of thread[0]")
    assert names - {inner} == NAMES_IN_CPP
    assert [each.name for each in symbols.events] == ["app::ready[2]"]


def test_a_lock_in_a_thread_local_variable_is_not_a_local_variable_of_the_threads_function(recorder: Recorder) -> None:
    source = """
#include <pthread.h>
static _Thread_local pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static void* worker(void* argument) {
  pthread_mutex_lock(&own);
  pthread_mutex_unlock(&own);
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, worker, NULL);
  pthread_join(thread, NULL);
}
"""
    (lock,) = recorder.record(recorder.compile(source)).symbols.locks
    assert lock.name.startswith("stack of worker[0]+")


def replayed(recorder: Recorder, program: str) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """From the replay of a recording: how often each function takes each lock, and misses on each object (without its
    number) by function."""
    recorder.run("-o", "trace.lbt", "--", program)
    result = recorder.linebounce("trace", "replay", "trace.lbt", "--machine", "generic_2socket_32core", "-o", "out")
    assert result.code == 0, result.stderr
    locks: dict[str, Counter[str]] = {}
    for row in read_csv(recorder.linebounce.directory / "out" / "locks.csv"):
        if row["call_site"]:
            locks.setdefault(row["lock"], Counter())[row["call_site"]] += int(row["total"])
    misses: dict[str, Counter[str]] = {}
    for row in read_csv(recorder.linebounce.directory / "out" / "lines.csv"):
        misses.setdefault(row["object"].partition("[")[0], Counter())[row["function"]] += int(row["count"])
    return locks, misses


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_functions_of_a_replay_are_those_that_did_it(recorder: Recorder, compiler: str) -> None:
    """count_key and find are static, and inlined into count_keys."""
    source = (EXAMPLES / "hash_table.c").read_text()
    locks, misses = replayed(recorder, recorder.compile(source, "-DSTRIPES=64", compiler=compiler))
    assert locks == {"stripe_lock": {"count_keys": 8000}}
    assert set(misses["stripes"]) == {"count_keys"}
    assert set(misses["entry"]) == set(misses["table"]) == {"count_keys", "main"}  # main frees them


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_functions_of_templates_and_lambdas_have_names_to_read(recorder: Recorder, compiler: str) -> None:
    program = recorder.compile(CALLS, "-std=c++20", compiler=compiler, name="program.cpp")
    locks, misses = replayed(recorder, program)
    thread = "main::{lambda()#1}" if compiler == "gcc" else "main::$_0"
    # work and remove are inlined into the thread's lambda.
    assert locks["table_lock"] == {"Table<long>::insert": 200, thread: 200}
    assert locks["lock"] == {f"twice<{thread}::operator()() const::{{lambda()#1}}>": 4}
    assert "Table<long>::insert" in misses["table"]


PHASES = """
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>
template <class Work> void twice(Work work) {
  std::thread other(work);
  work();
  other.join();
}
__attribute__((noinline)) static long first() {
  std::mutex alpha;
  long sum = 0;
  twice([&] { for (int i = 0; i < 50; i++) { std::lock_guard held(alpha); sum++; } });
  return sum;
}
__attribute__((noinline)) static long second() {
  std::mutex beta;
  long sum = 0;
  twice([&] { for (int i = 0; i < 50; i++) { std::lock_guard held(beta); sum += 2; } });
  return sum;
}
int main() {
  for (int i = 0; i < 3; i++) std::printf("%ld %ld\\n", first(), second());
}
"""


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_a_lock_on_a_stack_is_not_the_one_that_was_there_before(recorder: Recorder, compiler: str) -> None:
    program = recorder.compile(PHASES, "-std=c++20", "-O1", compiler=compiler, name="program.cpp")
    recording = recorder.record(program)
    assert sorted(each.name for each in recording.symbols.locks) == ["first::alpha", "second::beta"]
    assert (recording.acquisitions("first::alpha"), recording.acquisitions("second::beta")) == (300, 300)


BLOCKS = """
#include <pthread.h>
#include <stdlib.h>
struct item { long key; pthread_mutex_t lock; };
struct list { struct item* first; struct item* items[2]; pthread_mutex_t lock; };
struct lists { struct list* of[4]; };
static struct lists* lists;
static struct item** table;
static int which[4] = {3, 2, 1, 0};
static void use(pthread_mutex_t* lock) { pthread_mutex_lock(lock); pthread_mutex_unlock(lock); }
int main(void) {
  struct item* grid[2][2];
  lists = calloc(1, sizeof *lists);
  for (int i = 0; i < 4; i++) lists->of[which[i]] = calloc(1, sizeof *lists->of[which[i]]);
  lists->of[0]->first = calloc(2, sizeof *lists->of[0]->first);
  lists->of[1]->items[1] = calloc(1, sizeof(*(lists->of[1]->items[1])));
  table = calloc(8, sizeof *table);
  table[5] = calloc(1, sizeof **table);
  grid[1][0] = calloc(1, sizeof(struct item));
  use(&lists->of[3]->lock);
  use(&lists->of[0]->first[1].lock);
  use(&table[5]->lock);
  use(&grid[1][0]->lock);
}
"""


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_blocks_have_the_types_that_expressions_with_elements_and_members_have(recorder: Recorder, compiler: str) -> None:
    symbols = recorder.record(recorder.compile(BLOCKS, "-O0", compiler=compiler)).symbols
    assert [each.name for each in symbols.locks] == ["list[0].lock", "item[1].lock", "item[3].lock", "item[4].lock"]


# list.h's typedef names a structure that only list.c defines. main.c comes first.
DECLARED_ONLY = """
#include <pthread.h>
typedef struct list list;
list* make(void);
void add(list* it);
static list* shared;
static void* work(void* none) { for (int i = 0; i < 100; i++) add(shared); return none; }
int main(void) {
  shared = make();
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  work(0);
  pthread_join(thread, 0);
}
"""
DEFINED = """
#include <stdlib.h>
typedef struct list list;
struct list { long length; list* next; };
list* make(void) { list* l = calloc(1, sizeof *l); return l; }
void add(list* it) { __atomic_fetch_add(&it->length, 1, __ATOMIC_RELAXED); }
"""


@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_a_structure_that_another_unit_defines_has_its_fields(recorder: Recorder, compiler: str) -> None:
    recorder.linebounce.file("main.c", DECLARED_ONLY)
    trace = recorder.record(recorder.compile(DEFINED, "main.c", compiler=compiler, name="list.c"))
    (blocks,) = [each for each in trace.symbols.structures if each.name == "list"]
    assert [field.name for field in blocks.fields] == ["length", "next"]


# gcc attributes a default member initialiser to the line of its class.
INITIALISED = """
#include <atomic>
#include <memory>
#include <pthread.h>
struct Cell { std::atomic<long> sequence; long value; };
struct Queue {
  Queue() { slots = 64; }  // no statement of this allocates
  int slots = 0;
  Cell* cells = new Cell[64];
  std::unique_ptr<Cell[]> others{new Cell[64]};
  std::unique_ptr<Cell[]> made = std::make_unique<Cell[]>(64);
};
static Queue* queue;
static void* work(void* me) {
  for (long i = 0; i < 64; ++i) {
    ++queue->cells[i].sequence;
    ++queue->others[i].sequence;
    ++queue->made[i].sequence;
  }
  return me;
}
int main() {
  queue = new Queue;
  pthread_t threads[2];
  for (pthread_t& thread : threads) pthread_create(&thread, 0, work, 0);
  for (pthread_t thread : threads) pthread_join(thread, 0);
}
"""


def test_an_array_that_a_default_member_initialiser_makes_keeps_its_type(recorder: Recorder) -> None:
    found = recorder.record(recorder.compile(INITIALISED, "-g", name="program.cpp"))
    cells = [each for each in found.symbols.objects if each.name.startswith("Cell[")]
    assert len(cells) == 3 * 64
    structure = found.symbols.structures[cells[0].structure]
    assert (structure.name, [field.name for field in structure.fields]) == ("Cell", ["sequence", "value"])
