#!/usr/bin/env bash
# A thread that waits for a lock or a critical section of clang's OpenMP never sleeps; under gcc's it sleeps in a futex.
#
# Guess before the run: both run-time libraries let a waiter spin for a while and then sleep; clang's after KMP_BLOCKTIME, 200 ms,
# as its threads do between parallel regions.
# Seen with libomp 14 and libgomp 12, a lock and a critical section held for 2 s each by another thread: under libomp the waiter calls
# sched_yield hundreds to thousands of times, as long as the wait lasts, also with KMP_BLOCKTIME=0; under libgomp it never does.
# What rests on it: "Locks that are not what they seem" in docs/real-programs.md; record/runtime/openmp.c records both libraries'
# waits as waits for the lock, not as computation.
#
# Usage: bash findings/libomp_locks_never_sleep.sh     needs apt-get, dpkg-deb, gcc and ptrace; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download libomp5-14=1:14.0.6-12 libgomp1=12.2.0-14+deb12u1 strace=6.1-0.1 libunwind8 liblzma5 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu
clangs=$(dirname "$(find root -name libomp.so.5 | head -1)")

# libomp has libgomp's entry points, too, so that both run the same program.
cat >wait.c <<'C'
#include <omp.h>
#include <unistd.h>
static omp_lock_t lock;
static void say(const char *text) { if (write(2, text, 5) != 5) _exit(1); }
int main(void) {
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    const int holds = omp_get_thread_num() == 0;
    if (holds) omp_set_lock(&lock);
#pragma omp barrier
    if (holds) {
      say("lock\n");
      sleep(2);
    } else {
      omp_set_lock(&lock);
    }
    omp_unset_lock(&lock);
#pragma omp barrier
    if (!holds) usleep(200000);
#pragma omp critical
    if (holds) {
      say("crit\n");
      sleep(2);
    }
    if (!holds) say("end.\n");
  }
}
C
gcc -O2 -fopenmp wait.c -o waits

# yields FILE: how often a thread called sched_yield while it waited for the lock, and for the critical section.
yields() { awk '/"lock/ {what = "lock"} /"crit/ {what = "critical"} /"end/ {what = "end"} /sched_yield/ {n[what]++} END {print n["lock"] + 0, n["critical"] + 0}' "$1"; }
trace() { LD_LIBRARY_PATH=$libraries root/usr/bin/strace -f -e trace=sched_yield,write -o "$1" env "${@:2}" ./waits 2>/dev/null; }
mkdir as_gomp && cp "$clangs"/libomp.so.5 as_gomp/libgomp.so.1
trace gomp.txt LD_LIBRARY_PATH="$libraries"
trace omp.txt LD_LIBRARY_PATH="$folder/as_gomp:$libraries"
trace eager.txt LD_LIBRARY_PATH="$folder/as_gomp:$libraries" KMP_BLOCKTIME=0
for name in gomp omp eager; do
  read -r lock critical <<<"$(yields $name.txt)"
  echo "$name: sched_yield while waiting for the lock $lock times, for the critical section $critical times"
  if [[ $name == gomp ]]; then
    ((lock < 10 && critical < 10)) || { echo "libgomp yields now"; exit 1; }
  else
    ((lock > 500 && critical > 500)) || { echo "libomp does not yield for long any more"; exit 1; }
  fi
done
echo "as described: libomp's waiters yield as long as they wait"
