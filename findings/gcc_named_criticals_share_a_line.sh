#!/usr/bin/env bash
# gcc puts the locks of different named OpenMP critical sections side by side, 8 to a cache line.
#
# Guess before the run: sections of different names are independent, so the compiler gives each lock a line of its own.
# Seen with gcc 12.2: each name is a common variable of 8 bytes aligned to 8, which the linker lays out one behind the other, and
# libgomp 12 locks this word itself. Four names that four threads use are four locks on one line. clang 14 has 32 bytes a name.
# What rests on it: record/runtime/openmp.c records each name as a lock at its own address; test_named_critical_sections_share_a_line in
# tests/record/test_record_openmp.py.
#
# Usage: bash findings/gcc_named_criticals_share_a_line.sh     needs apt-get, dpkg-deb and binutils; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 libgomp1=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 \
  libisl23 libmpc3 libmpfr6 libgmp10 clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libedit2 libz3-4 libxml2 \
  libbsd0 libmd0 libicu72 libffi8 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >sections.c <<'C'
long counters[4];
int main(void) {
#pragma omp parallel num_threads(4)
  {
#pragma omp critical(north)
    counters[0]++;
#pragma omp critical(east)
    counters[1]++;
#pragma omp critical(south)
    counters[2]++;
#pragma omp critical(west)
    counters[3]++;
  }
  return counters[0] != 4;
}
C
root/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -fopenmp -O1 sections.c -o gcc.s
root/usr/bin/clang-14 -fopenmp -O1 -S sections.c -o clang.s
gcc gcc.s -o sections root/usr/lib/x86_64-linux-gnu/libgomp.so.1
grep -h 'comm.*gomp_critical' gcc.s clang.s
./sections || { echo "the sections don't exclude each other"; exit 1; }
lines=$(nm sections | sed -n 's/^0*\([0-9a-f]*\) B \.gomp_critical_user_.*/0x\1/p' | while read -r at; do echo $((at / 64)); done | sort -u | wc -l)
echo "four locks of gcc on $lines lines"
[ "$(grep -c 'comm.*gomp_critical_user_[a-z]*,8,8' gcc.s)" = 4 ] || { echo "gcc's locks are laid out otherwise now"; exit 1; }
[ "$(grep -c 'comm.*gomp_critical_user_[a-z]*\.var,32,' clang.s)" = 4 ] || { echo "clang's locks are laid out otherwise now"; exit 1; }
[ "$lines" -le 2 ] || { echo "the linker keeps them apart now"; exit 1; }
echo "as described: 8 bytes apart"
