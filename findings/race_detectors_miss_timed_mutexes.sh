#!/usr/bin/env bash
# helgrind and the thread sanitizers of gcc and clang report races under std::timed_mutex::try_lock_for; DRD does not.
#
# Guess before the run: they know pthread_mutex_clocklock as they know pthread_mutex_timedlock, so a counter under the lock is clean.
# Seen with valgrind 3.19, gcc 12.2 and clang 14.0.6: libstdc++ calls pthread_mutex_clocklock (glibc 2.30), which none of the
# three watches. helgrind tells of a race and of unlocking an invalid lock, both sanitizers of a race and of unlocking an unlocked
# mutex. With pthread_mutex_timedlock all are silent. DRD is silent in both.
# What rests on it: record/runtime/locks.c interposes both calls; its list of calls is not taken from a race detector's.
#
# Usage: bash findings/race_detectors_miss_timed_mutexes.sh     needs apt-get, dpkg-deb and g++; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download valgrind=1:3.19.0-1 libtsan2=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 clang-14=1:14.0.6-12 \
  libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libclang-rt-14-dev=1:14.0.6-12 libclang-common-14-dev=1:14.0.6-12 libedit2 libz3-4 libxml2 libbsd0 libmd0 libicu72 \
  libffi8 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export VALGRIND_LIB=$folder/root/usr/libexec/valgrind
libraries=$folder/root/usr/lib/x86_64-linux-gnu

cat >counter.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void* count(void* unused) {
  for (int i = 0; i < 200; i++) {
    struct timespec until;
    clock_gettime(CLOCK, &until);
    until.tv_sec += 100;
    if (LOCK != 0) return unused;
    counter++;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, count, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return counter != 400;
}
C
declare -A lock=([clock]='pthread_mutex_clocklock(&mutex,CLOCK_MONOTONIC,&until)' [timed]='pthread_mutex_timedlock(&mutex,&until)')
declare -A clock=([clock]=CLOCK_MONOTONIC [timed]=CLOCK_REALTIME)
for which in clock timed; do
  options=("-DLOCK=${lock[$which]}" "-DCLOCK=${clock[$which]}" -g -O1 -pthread)
  gcc "${options[@]}" counter.c -o $which
  gcc "${options[@]}" -fsanitize=thread counter.c -o gcc_$which
  LD_LIBRARY_PATH=$libraries root/usr/bin/clang-14 "${options[@]}" -fsanitize=thread counter.c -o clang_$which
  for tool in helgrind drd; do
    root/usr/bin/valgrind --tool=$tool --error-exitcode=9 ./$which >$tool.$which.txt 2>&1 || true
    sed -n 's/.*ERROR SUMMARY: \([0-9]*\) errors.*/\1/p' $tool.$which.txt >$tool.$which
  done
  for compiler in gcc clang; do
    LD_LIBRARY_PATH=$libraries ./${compiler}_$which >$compiler.$which.txt 2>&1 || true
    grep -c 'WARNING: ThreadSanitizer' $compiler.$which.txt >$compiler.$which || true
  done
done
for tool in helgrind drd gcc clang; do echo "$tool: $(cat $tool.clock) errors with clocklock, $(cat $tool.timed) with timedlock"; done
for tool in helgrind gcc clang; do [ "$(cat $tool.clock)" -gt 0 ] || { echo "$tool knows clocklock now"; exit 1; }; done
for tool in helgrind drd gcc clang; do [ "$(cat $tool.timed)" = 0 ] || { echo "$tool reports timedlock now"; exit 1; }; done
[ "$(cat drd.clock)" = 0 ] || { echo "DRD reports clocklock now"; exit 1; }
grep -q 'unlocked an invalid lock\|unlocked a not-locked lock' helgrind.clock.txt || { echo "helgrind tells of no invalid lock"; exit 1; }
for compiler in gcc clang; do
  grep -q 'unlock of an unlocked mutex' $compiler.clock.txt || { echo "$compiler's sanitizer tells of no unlocked mutex"; exit 1; }
done
echo "as described: DRD alone is silent"
