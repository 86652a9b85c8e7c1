#!/usr/bin/env bash
# valgrind counts a repeated string instruction once a repetition: `rep stosb` of 1,000 bytes is 1,001 instructions.
#
# Guess before the run: callgrind's Ir counts instructions as the processor retires them, so `rep stosb` is one.
# Seen with valgrind 3.19: callgrind gives 1,001 for it, and lackey's guest instructions agree: the instruction jumps to itself in
# valgrind's code, once a byte. A processor retires one. memset and memcpy by such instructions dominate counts of instructions
# that they hardly take, and a count "within 2 % of callgrind's" needs the rule stated.
# What rests on it: tools/instruction_counts.py counts with callgrind, repetitions of memset and memcpy included, so its counts
# are compared with each other alone.
#
# Usage: bash findings/callgrind_counts_each_repetition.sh     needs apt-get, dpkg-deb and gcc for x86-64; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download valgrind=1:3.19.0-1 >/dev/null
dpkg-deb -x valgrind_*.deb root
export VALGRIND_LIB=$folder/root/usr/libexec/valgrind

cat >fill.c <<'C'
static char buffer[2000];
__attribute__((noinline)) void fill(char* to, unsigned long bytes) {
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0) : "memory");
}
int main(void) {
  fill(buffer, BYTES);
  return buffer[5];
}
C
valgrind() { root/usr/bin/valgrind "$@"; }
declare -A callgrind lackey
for bytes in 0 1000 2000; do
  gcc -O1 -g -DBYTES=$bytes fill.c -o fill_$bytes
  valgrind --tool=callgrind --callgrind-out-file=out_$bytes ./fill_$bytes >log 2>&1
  callgrind[$bytes]=$(sed -n 's/^summary: //p; s/^totals: //p' out_$bytes | head -n 1)
  lackey[$bytes]=$(valgrind --tool=lackey ./fill_$bytes 2>&1 | sed -n 's/.*guest instrs: *//p' | head -n 1 | tr -d ,)
done
valgrind --version
for bytes in 1000 2000; do
  echo "rep stosb of $bytes bytes: $((callgrind[$bytes] - callgrind[0])) instructions more than of none by callgrind," \
    "$((lackey[$bytes] - lackey[0])) by lackey"
  [ $((callgrind[$bytes] - callgrind[0])) = $bytes ] || { echo "callgrind counts otherwise now"; exit 1; }
  [ $((lackey[$bytes] - lackey[0])) = $bytes ] || { echo "lackey counts otherwise now"; exit 1; }
done
echo "as described: one instruction a byte"
