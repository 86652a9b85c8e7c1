#!/usr/bin/env bash
# libatomic chooses the lock of a large atomic by its place within a page, and takes 64 locks for one of 4,096 bytes.
#
# Guess before the run: an atomic that is too large for the processor takes one lock, picked by a hash of its address, so that
# two objects rarely meet.
# Seen with libatomic of gcc 12.2: there are 64 locks, one a line of a page; objects a page apart always share one, neighbouring
# lines never. An object of 100 bytes takes two locks, one of 4,096 all 64. One of three bytes takes none, and is_lock_free says so:
# a compare-and-swap of the whole word, so it writes its neighbours. An array of padded large atomics with a page each has one lock.
# What rests on it: the table "Lines that libraries share" of docs/real-programs.md; record/runtime/locks.c records such locks as mutexes of
# libatomic, which `compare-locks` lists.
#
# Usage: bash findings/libatomic_locks_by_page_offset.sh     needs apt-get, dpkg-deb and gcc for x86-64; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download libatomic1=12.2.0-14+deb12u1 >/dev/null
dpkg-deb -x libatomic1_*.deb root

cat >locks.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
_Bool is_lock_free(size_t size, void* at) __asm__("__atomic_is_lock_free");
void load(size_t size, void* from, void* to, int order) __asm__("__atomic_load");
static int locks;
static char *first, memory[3 * 4096] __attribute__((aligned(4096))), copy[4096];
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static int (*real)(pthread_mutex_t*);
  if (!real) real = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_lock");
  if (locks++ == 0) first = (char*)mutex;
  return real(mutex);
}
static char* show(size_t size, size_t at) {
  locks = 0;
  first = 0;
  load(size, memory + at, copy, __ATOMIC_SEQ_CST);
  printf("%zu bytes at %zu: %d locks%s\n", size, at, locks, is_lock_free(size, memory + at) ? ", lock-free" : "");
  return first;
}
int main(void) {
  char* here = show(24, 0);
  printf("a page on: lock %+ld\n", (long)(show(24, 4096) - here));
  printf("a line on: lock %+ld\n", (long)(show(24, 64) - here));
  show(100, 0);
  show(4096, 0);
  show(3, 0);
}
C
gcc -O1 -w locks.c -o locks root/usr/lib/x86_64-linux-gnu/libatomic.so.1 -pthread
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./locks | tee out.txt
for line in "24 bytes at 0: 1 locks" "a page on: lock +0" "a line on: lock +64" "100 bytes at 0: 2 locks" "4096 bytes at 0: 64 locks" \
  "3 bytes at 0: 0 locks, lock-free"; do
  grep -qx "$line" out.txt || { echo "not \"$line\" any more"; exit 1; }
done
echo "as described: the place in the page picks the locks"
