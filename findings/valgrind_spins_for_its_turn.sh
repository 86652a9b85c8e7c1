#!/usr/bin/env bash
# Under valgrind a hand-off between two spinning threads takes about a million instructions, 160,000 with `pause`, 700 with sched_yield.
#
# Guess before the run: a waiting loop counts as many instructions as it takes on a processor, within a factor of ten, and with the
# instruction `pause`, which valgrind knows as a hint to let others run, hardly any.
# Seen with valgrind 3.19, two threads that pass a word to each other 200 times: 150 to 240 million instructions by lackey without
# anything in the loop, 33 million with `pause`, 0.14 million with sched_yield, nearly all of the last being start-up. Threads run in turns of
# 100,000 blocks; --fair-sched=yes changes nothing. A trace by lackey of a program that spins is a trace of the turns.
# What rests on it: the table of docs/record-binary.md, by which recording is not done in valgrind; a trace by lackey (forms/lackey.cpp)
# has such turns.
#
# Usage: bash findings/valgrind_spins_for_its_turn.sh     needs apt-get, dpkg-deb and gcc for x86-64; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download valgrind=1:3.19.0-1 >/dev/null
dpkg-deb -x valgrind_*.deb root
export VALGRIND_LIB=$folder/root/usr/libexec/valgrind

cat >turns.c <<'C'
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int turn;
static void pass(int mine, int to) {
  for (int i = 0; i < 100; i++) {
    while (atomic_load(&turn) != mine) { WAIT; }
    atomic_store(&turn, to);
  }
}
static void* other(void* unused) {
  pass(1, 0);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pass(0, 1);
  pthread_join(thread, 0);
}
C
declare -A wait=([nothing]="" [pause]="__builtin_ia32_pause()" [yield]="sched_yield()") count
for name in nothing pause yield; do
  gcc -O1 -pthread "-DWAIT=${wait[$name]}" turns.c -o $name
  root/usr/bin/valgrind --tool=lackey ./$name >log 2>&1
  count[$name]=$(sed -n 's/.*guest instrs: *//p' log | tr -d ,)
  echo "$name in the loop: ${count[$name]} instructions, $((count[$name] / 200)) a hand-off"
done
[ "${count[nothing]}" -gt 70000000 ] || { echo "a bare loop takes fewer turns now"; exit 1; }
for_pause=$((count[pause] / 10000000))
[[ $for_pause =~ ^[1-6]$ ]] || { echo "pause is taken otherwise now"; exit 1; }
[ "${count[yield]}" -lt 1000000 ] || { echo "sched_yield is taken otherwise now"; exit 1; }
echo "as described: turns of 100,000 blocks"
