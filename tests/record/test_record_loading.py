"""A recorded program finds its libraries, functions and allocator as it does alone, however early it runs."""

import subprocess

import pytest
from recorded import Recorder, Recording

both = pytest.mark.parametrize("is_binary", [False, True])


def library(recorder: Recorder, name: str, source: str, *flags: str, is_binary: bool = True) -> None:
    """Compiles a shared library, for a program in binary form without linebounce-cc."""
    flags = ("-shared", "-fPIC", "-pthread", *flags)
    if not is_binary:
        recorder.compile(source, *flags, name=f"{name}.c", output=f"{name}.so")
        return
    recorder.linebounce.file(f"{name}.c", source)
    command = ["gcc", "-g", "-O1", *flags, f"{name}.c", "-o", f"{name}.so"]
    subprocess.run(command, cwd=recorder.linebounce.directory, check=True, timeout=60)


def recorded(recorder: Recorder, source: str, *flags: str, is_binary: bool) -> Recording:
    program = recorder.compile_plainly(source, *flags) if is_binary else recorder.compile(source, *flags)
    return recorder.record(program, options=("--binary",) if is_binary else ())


@both
def test_a_library_is_found_by_the_run_path_of_the_file_that_loads_it(recorder: Recorder, is_binary: bool) -> None:
    (recorder.linebounce.directory / "beside").mkdir()
    library(recorder, "beside/inner", "int inner(void) { return 1; }")
    outer = """
#include <dlfcn.h>
#include <stddef.h>
int outer(void) { return dlopen("inner.so", RTLD_NOW) != NULL ? 0 : 9; }
"""
    library(recorder, "outer", outer, "-Wl,-rpath,$ORIGIN/beside", is_binary=is_binary)
    source = """
#include <dlfcn.h>
int main(void) {
  int (*outer)(void) = (int (*)(void))dlsym(dlopen("./outer.so", RTLD_NOW), "outer");
  return outer();
}
"""
    recorded(recorder, source, is_binary=is_binary)


def test_functions_that_are_missing_and_never_called_end_no_program(recorder: Recorder) -> None:
    library(
        recorder, "lazy", "int missing(void); int here(void) { return 0; } int never(void) { return missing(); }", "-Wl,-z,lazy"
    )
    source = "int here(void); int main(void) { return here() != 0; }"
    flags = ("-Wl,--no-as-needed", "lazy.so", "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined", "-Wl,-z,lazy")
    recording = recorded(recorder, source, *flags, is_binary=True)
    assert "here" in [each.name for each in recording.symbols.functions]


@both
def test_a_constructor_may_wait_for_a_thread_that_creates_another(recorder: Recorder, is_binary: bool) -> None:
    source = """
#include <pthread.h>
static void* second(void* unused) { return unused; }
static void* first(void* unused) {
  pthread_t thread;
  pthread_create(&thread, NULL, second, NULL);
  pthread_join(thread, NULL);
  return unused;
}
__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, first, NULL);
  pthread_join(thread, NULL);
}
"""
    library(recorder, "threads", source)
    host = """
#include <dlfcn.h>
#include <stddef.h>
int main(void) { return dlopen("./threads.so", RTLD_NOW) == NULL; }
"""
    assert len(recorded(recorder, host, is_binary=is_binary).streams) == 3


@both
def test_what_runs_before_the_recorder_has_started_works(recorder: Recorder, is_binary: bool) -> None:
    source = """
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int began;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static void* work(void* unused) {
  pthread_mutex_lock(&lock);
  ++began;
  pthread_mutex_unlock(&lock);
  sem_post(&done);
  return unused;
}
__attribute__((constructor)) static void begin(void) {
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(page, 1, 4096);
  munmap(page, 4096);
  free(malloc(20));
  pthread_t thread;
  sem_init(&done, 0, 0);
  pthread_create(&thread, NULL, work, NULL);
  sem_wait(&done);
  pthread_join(thread, NULL);
}
"""
    library(recorder, "early", source, "-Wl,-z,initfirst")
    program = "extern int began; volatile long steps; int main(void) { for (; steps < 10; ) ++steps; return began - 1; }"
    recording = recorded(recorder, program, "-Wl,--no-as-needed", "early.so", "-Wl,-rpath,$ORIGIN", is_binary=is_binary)
    assert recording.touched("main")["steps"] >= 20


@both
def test_an_allocator_in_a_library_is_used(recorder: Recorder, is_binary: bool) -> None:
    """It ends the program if it gets a block of another allocator."""
    source = """
#include <errno.h>
#include <stdlib.h>
#include <string.h>
static _Alignas(4096) char pool[1 << 22];
static size_t used;
struct head { size_t bytes; size_t unused; };
int is_in_pool(const void* block) { return (const char*)block >= pool && (const char*)block < pool + sizeof(pool); }
static struct head* head_of(void* block) {
  if (!is_in_pool(block)) abort();
  return (struct head*)block - 1;
}
void* memalign(size_t alignment, size_t bytes) {
  const size_t step = alignment < 16 ? 16 : alignment;
  const size_t begin = __atomic_fetch_add(&used, bytes + 2 * step + 16, __ATOMIC_RELAXED);
  char* block = (char*)(((size_t)(pool + begin) + 16 + step - 1) / step * step);
  head_of(block)->bytes = bytes;
  return block;
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** block, size_t alignment, size_t bytes) {
  *block = memalign(alignment, bytes);
  return 0;
}
void* malloc(size_t bytes) { return memalign(16, bytes); }
void* calloc(size_t count, size_t bytes) { return memalign(16, count * bytes); }
size_t malloc_usable_size(void* block) { return block == NULL ? 0 : head_of(block)->bytes; }
void* realloc(void* block, size_t bytes) {
  void* larger = malloc(bytes);
  const size_t before = malloc_usable_size(block);
  for (size_t i = 0; i < before && i < bytes; ++i) ((char*)larger)[i] = ((char*)block)[i];
  return larger;
}
void free(void* block) {
  if (block != NULL) head_of(block);
}
"""
    library(recorder, "allocator", source, "-fno-builtin")
    program = """
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
int is_in_pool(const void*);
struct item { volatile long number; };
static void* work(void* unused) {
  struct item* item = malloc(sizeof(struct item));
  item->number = 1;
  void* aligned = NULL;
  char* text = realloc(strdup("text"), 100);
  if (posix_memalign(&aligned, 64, 10) != 0 || malloc_usable_size(aligned) < 10 || !is_in_pool(item)) abort();
  free(aligned), free(text), free(item), free(aligned_alloc(32, 32)), free(calloc(3, 5));
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  work(NULL);
  pthread_join(thread, NULL);
}
"""
    recording = recorded(recorder, program, "-Wl,--no-as-needed", "allocator.so", "-Wl,-rpath,$ORIGIN", is_binary=is_binary)
    assert recording.touched("main")["item[0]"] + recording.touched("work[0]")["item[0]"] >= 1
