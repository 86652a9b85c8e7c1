#!/usr/bin/env bash
# clang compiles fetch_add(0) to a load, gcc to a locked addition; fetch_or(0) is a load, or a loop of compare-and-exchange.
#
# Guess before the run: fetch_add(x, 0) is `lock xadd` in both, and so fetches its line to own it: that is what it is written for.
# Seen at -O2 for x86-64: gcc 12.2 has `lock xadd`; clang 14 has `mfence; mov` (sequentially consistent) or a plain `mov` (relaxed),
# so the line stays shared. fetch_or(x, 0) whose result is used is a loop of `lock cmpxchg` in gcc, a load in clang; and fetch_or(x,
# 8) & 8 is one `lock bts` in gcc, a loop of `lock cmpxchg` in clang. So a recording by one compiler's instrumentation says
# "read-modify-write" where the other's program reads.
# What rests on it: the section "What clang makes of a read-modify-write that changes nothing" of docs/warts-programs.md.
#
# Usage: bash findings/clang_turns_adding_zero_into_a_load.sh     needs apt-get and dpkg-deb; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 clang-14=1:14.0.6-12 \
  libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libedit2 libz3-4 libxml2 libbsd0 libmd0 libicu72 libffi8 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >touch.c <<'C'
long add_nothing(long* x) { return __atomic_fetch_add(x, 0, __ATOMIC_SEQ_CST); }
long add_nothing_relaxed(long* x) { return __atomic_fetch_add(x, 0, __ATOMIC_RELAXED); }
long or_nothing(long* x) { return __atomic_fetch_or(x, 0, __ATOMIC_ACQ_REL); }
_Bool test_and_set_bit(long* x) { return (__atomic_fetch_or(x, 8, __ATOMIC_SEQ_CST) & 8) != 0; }
C
root/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -O2 touch.c -o gcc.s
root/usr/bin/clang-14 -O2 -S touch.c -o clang.s

# The instructions of a function that touch memory or order it.
of() { sed -n "/^$2:/,/ret/p" "$1.s" | grep -Eo '(lock[[:space:]]+[a-z]+|mfence|mov[lq]?[[:space:]]+\(%rdi\))' | xargs; }
for name in add_nothing add_nothing_relaxed or_nothing test_and_set_bit; do
  printf '%-20s gcc: %-32s clang: %s\n' $name "$(of gcc $name)" "$(of clang $name)"
done
expect() { [ "$(of "$1" "$2")" = "$3" ] || { echo "$1 has \"$(of "$1" "$2")\" for $2 now, not \"$3\""; exit 1; }; }
expect gcc add_nothing "lock xaddq"
expect gcc add_nothing_relaxed "lock xaddq"
expect gcc or_nothing "movq (%rdi) lock cmpxchgq"
expect gcc test_and_set_bit "lock btsq"
expect clang add_nothing "mfence movq (%rdi)"
expect clang add_nothing_relaxed "movq (%rdi)"
expect clang or_nothing "mfence movq (%rdi)"
expect clang test_and_set_bit "movq (%rdi) lock cmpxchgq"
echo "as described: a load by clang, a read-modify-write by gcc"
