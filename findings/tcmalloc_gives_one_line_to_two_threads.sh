#!/usr/bin/env bash
# gperftools' tcmalloc gives two threads blocks of one cache line; glibc, jemalloc and mimalloc don't.
#
# Guess before the run: allocators with caches for each thread never put blocks that two threads asked for on one line.
# Seen with tcmalloc 2.10, jemalloc 5.3.0, mimalloc 2.0.9 and glibc 2.36, two threads that ask in turn for 2,000 blocks of 8 to 48
# bytes: with tcmalloc 12 to 256 blocks of a thread lie on a line of the other's, for the caches are filled from a list for all
# threads; with the others none. So a program may have false sharing by its allocator alone, and its layout shows nothing.
# What rests on it: a recording keeps blocks where the program's own allocator put them (record/README.md); the table "Lines that
# libraries share" of docs/real-programs.md.
#
# Usage: bash findings/tcmalloc_gives_one_line_to_two_threads.sh     needs apt-get, dpkg-deb and gcc; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download libtcmalloc-minimal4=2.10-1 libjemalloc2=5.3.0-1 libmimalloc2.0=2.0.9+ds-2 libc6=2.36-9+deb12u14 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu

cat >turns.c <<'C'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { kBlocks = 2000, kLineBytes = 64 };
static uintptr_t lines[2][kBlocks];
static pthread_barrier_t turn;
static void* ask(void* which) {
  const int me = (int)(intptr_t)which;
  for (int i = 0; i < kBlocks; i++) {
    for (int whose = 0; whose < 2; whose++) {
      if (whose == me) lines[me][i] = (uintptr_t)malloc(SIZE) / kLineBytes;
      pthread_barrier_wait(&turn);
    }
  }
  return 0;
}
int main(void) {
  pthread_t threads[2];
  pthread_barrier_init(&turn, 0, 2);
  for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], 0, ask, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  int shared = 0;
  for (int i = 0; i < kBlocks; i++) {
    int found = 0;
    for (int j = 0; j < kBlocks && !found; j++) found = lines[1][i] == lines[0][j];
    shared += found;
  }
  printf("%d\n", shared);
}
C
run() { LD_PRELOAD=$2 "$folder/root/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$folder/root/lib/x86_64-linux-gnu:$libraries:/usr/lib/x86_64-linux-gnu" "./turns_$1"; }
for size in 8 16 32 48; do
  gcc -O2 -pthread -DSIZE=$size turns.c -o turns_$size
  declare -A count
  count[glibc]=$(run $size "")
  count[tcmalloc]=$(run $size "$libraries/libtcmalloc_minimal.so.4")
  count[jemalloc]=$(run $size "$libraries/libjemalloc.so.2")
  count[mimalloc]=$(run $size "$libraries/libmimalloc.so.2.0")
  echo "$size bytes, blocks on a line of the other thread: tcmalloc ${count[tcmalloc]}, glibc ${count[glibc]}," \
    "jemalloc ${count[jemalloc]}, mimalloc ${count[mimalloc]}"
  [ "${count[tcmalloc]}" -gt 0 ] || { echo "tcmalloc keeps the threads apart now"; exit 1; }
  [ "${count[glibc]} ${count[jemalloc]} ${count[mimalloc]}" = "0 0 0" ] || { echo "another allocator does so, too, now"; exit 1; }
done
echo "as described: tcmalloc alone"
