"""linebounce-record --binary: signals, children, and the ways in which threads and programs end."""

from linebounce.trace_symbols import Kind
from recorded import Recorder


def test_the_exit_code_is_the_programs(recorder: Recorder) -> None:
    recorder.record_binary("int main(void) { return 7; }", code=7)


def test_a_killed_programs_earlier_operations_are_recorded(recorder: Recorder) -> None:
    source = """
#include <signal.h>
static volatile long counter;
int main(void) {
  for (int i = 0; i < 100; ++i) ++counter;
  raise(SIGTERM);
}
"""
    recording = recorder.record_binary(source, code=128 + 15)
    assert recording.touched("main")["counter"] == 200
    assert any("was killed by signal 15" in each for each in recording.missing)


# No thread is cancelled, because QEMU 7.2 itself crashes in one of three such runs, even without the plugin.
def test_threads_that_end_in_any_way_are_recorded_to_their_end(recorder: Recorder) -> None:
    source = """
#include <pthread.h>
#include <semaphore.h>
static volatile long counters[3];
static sem_t detached_is_done;
static void* returns(void* unused) { ++counters[0]; return unused; }
static void* exits(void* unused) { ++counters[1]; pthread_exit(unused); }
static void* is_detached(void* unused) { ++counters[2]; sem_post(&detached_is_done); return unused; }
int main(void) {
  pthread_t thread;
  sem_init(&detached_is_done, 0, 0);
  for (int i = 0; i < 50; ++i) {
    pthread_create(&thread, NULL, returns, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, exits, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, is_detached, NULL);
    pthread_detach(thread);
    sem_wait(&detached_is_done);
  }
}
"""
    recording = recorder.record_binary(source)
    assert len(recording.streams) == 1 + 3 * 50
    assert sum(recording.touched(thread)["counters"] for thread in recording.streams) == 3 * 50 * 2
    assert recording.counts("main")[Kind.JOIN] == 2 * 50


def test_signal_handlers_are_recorded_as_what_they_interrupt(recorder: Recorder) -> None:
    source = """
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
static atomic_long seen;
static volatile long inside, outside;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void handle(int number) { (void)number; ++inside; ++seen; }
static void* work(void* unused) {
  while (seen < 100) {
    pthread_mutex_lock(&lock);
    ++outside;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}
int main(void) {
  pthread_t thread;
  signal(SIGUSR1, handle);
  pthread_create(&thread, NULL, work, NULL);
  for (long sent = 0; sent < 100; ++sent) {
    pthread_kill(thread, SIGUSR1);
    while (seen <= sent) {}
  }
  pthread_join(thread, NULL);
}
"""
    recording = recorder.record_binary(source)
    touched = recording.touched("work[0]")
    # A handler that runs inside a lock's function is not recorded, like the function itself.
    assert 0 < touched["inside"] <= 200
    assert touched["outside"] == 2 * recording.acquisitions("lock")


def test_children_are_counted_not_mixed_in(recorder: Recorder) -> None:
    source = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void count(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&lock);
    ++counter;
    pthread_mutex_unlock(&lock);
  }
}
static void* work(void* unused) { count(1000); return unused; }
int main(void) {
  for (int i = 0; i < 5; ++i) {
    if (fork() == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, work, NULL);
      pthread_join(thread, NULL);
      _exit(0);
    }
    if (vfork() == 0) _exit(0);
    count(10);
    if (system("true") != 0) return 1;
  }
  while (wait(NULL) > 0) {}
}
"""
    recording = recorder.record_binary(source)
    assert set(recording.streams) == {"main"}
    assert recording.acquisitions("lock") == 50
    assert recording.touched("main")["counter"] == 100
    assert any("5 child process" in each for each in recording.missing)
