#!/usr/bin/env bash
# cachegrind counts a locked addition as two reads and no write; callgrind, of the same package, as a read and a write.
#
# Guess before the run: `lock xadd` and `inc` of a word in memory are one read and one write each, in both tools of one package.
# Seen with valgrind 3.19, 1,000 of each instruction: lock xadd and lock inc are 2,000 reads by cachegrind, 1,000 reads and 1,000
# writes by callgrind --cache-sim=yes; inc is 1,000 reads by cachegrind, 1,000 writes by callgrind. So counts of writes, and rates of
# write misses, of a program with atomics can't be compared between the two, nor with a processor's counters.
# What rests on it: tools/instruction_counts.py takes instructions of either tool and misses of cachegrind, and the reads or writes of none.
#
# Usage: bash findings/cachegrind_counts_a_locked_addition_as_two_reads.sh     needs apt-get, dpkg-deb and gcc for x86-64; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download valgrind=1:3.19.0-1 >/dev/null
dpkg-deb -x valgrind_*.deb root
export VALGRIND_LIB=$folder/root/usr/libexec/valgrind

cat >add.c <<'C'
static long word, one = 1;
int main(void) {
  register long by = one;
  for (int i = 0; i < 1000; i++) __asm__ volatile(INSTRUCTION : "+m"(word), "+r"(by));
  return 0;
}
C
declare -A text=([none]="" [inc]="incq %0" [lock_inc]="lock incq %0" [lock_xadd]="lock xaddq %1, %0")
declare -A reads writes
for name in none inc lock_inc lock_xadd; do
  gcc -O1 "-DINSTRUCTION=\"${text[$name]}\"" add.c -o $name
  for tool in cachegrind callgrind; do
    root/usr/bin/valgrind --tool=$tool --cache-sim=yes --$tool-out-file=/dev/null ./$name >log 2>&1
    read -r reads[$tool.$name] writes[$tool.$name] < <(sed -n 's/.*D *refs: *[0-9,]* *(\([0-9,]*\) *rd *+ *\([0-9,]*\) *wr).*/\1 \2/p' log | tr -d ,)
  done
done
expect() {
  # To the nearest thousand: start-up differs by a few accesses from program to program.
  local got_reads=$(((reads[$1.$2] - reads[$1.none] + 500) / 1000 * 1000)) got_writes=$(((writes[$1.$2] - writes[$1.none] + 500) / 1000 * 1000))
  echo "1000 times $2 by $1: $got_reads reads, $got_writes writes"
  [ "$got_reads $got_writes" = "$3 $4" ] || { echo "not $3 and $4 any more"; exit 1; }
}
for name in lock_inc lock_xadd; do
  expect cachegrind $name 2000 0
  expect callgrind $name 1000 1000
done
expect cachegrind inc 1000 0
expect callgrind inc 0 1000
echo "as described: the two tools differ"
