#!/usr/bin/env bash
# gcc makes every OpenMP atomic update of a long double one lock for the whole program, even with -mcx16; clang compares and swaps.
#
# Guess before the run: both use a compare-and-swap of 16 bytes, at least when -mcx16 allows the instruction.
# Seen with gcc 12.2 and clang 14.0.6: gcc calls GOMP_atomic_start and GOMP_atomic_end, which have no argument, so updates of
# unrelated variables wait for each other, and a variable that gcc's and clang's code update together is not atomic between them.
# clang has `lock cmpxchg16b`, or libatomic's calls without -mcx16. A double is compared and swapped by both.
# What rests on it: record/runtime/openmp.c records GOMP_atomic_start as one lock, whatever the variable.
#
# Usage: bash findings/gcc_openmp_atomics_of_16_bytes_share_a_lock.sh     needs apt-get and dpkg-deb; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 clang-14=1:14.0.6-12 \
  libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libedit2 libz3-4 libxml2 libbsd0 libmd0 libicu72 libffi8 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >sums.c <<'C'
long double precise;
double plain;
void of_16_bytes(void) {
#pragma omp atomic
  precise += 1;
}
void of_8_bytes(void) {
#pragma omp atomic
  plain += 1;
}
C
root/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -fopenmp -mcx16 -O1 sums.c -o gcc.s
root/usr/bin/clang-14 -fopenmp -mcx16 -O1 -S sums.c -o clang.s
of() { sed -n "/^$2:/,/\.size[[:space:]]*$2,/p" "$1.s" | grep -Eo 'GOMP_[a-z_]+|cmpxchg[a-z0-9]+' | sort -u | xargs; }
for name in of_16_bytes of_8_bytes; do echo "$name: gcc $(of gcc $name); clang $(of clang $name)"; done
expect() { [ "$(of "$1" "$2")" = "$3" ] || { echo "$1 has \"$(of "$1" "$2")\" for $2 now, not \"$3\""; exit 1; }; }
expect gcc of_16_bytes "GOMP_atomic_end GOMP_atomic_start"
expect clang of_16_bytes cmpxchg16b
expect gcc of_8_bytes cmpxchgq
expect clang of_8_bytes cmpxchgq
echo "as described: a lock without an argument by gcc"
