#!/usr/bin/env bash
# clang's thread sanitizer does not see bit-fields in a unit of 24 bits, vectors of 32 bytes and long doubles; gcc's sees all.
#
# Guess before the run: both instrument every load and store that may be shared, as a range of bytes where no size fits.
# Seen with gcc 12.2 and clang 14.0.6, -O1: gcc calls __tsan_write_range or __tsan_write16; clang calls nothing for an access
# whose size is not 1, 2, 4, 8 or 16 bytes. Such a unit is common: two bit-fields of 10 and 14 bits with a char behind them. So
# races on these members are not reported, and a recording through this instrumentation lacks their accesses.
# What rests on it: a recording of code by clang or rustc says that such accesses are missing (sizes_left_out in trace/losses.hpp; a
# test in tests/record/test_record.py has the bit-field).
#
# Usage: bash findings/clang_tsan_skips_odd_sizes.sh     needs apt-get and dpkg-deb; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 clang-14=1:14.0.6-12 \
  libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libedit2 libz3-4 libxml2 libbsd0 libmd0 libicu72 libffi8 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >stores.c <<'C'
struct flags { unsigned state : 10; unsigned owner : 14; char kind; };
typedef long vector __attribute__((vector_size(32)));
void bit_field(struct flags* to) { to->owner = 5; }
void vector_of_32(vector* to, vector* from) { *to = *from; }
void long_double(long double* to) { *to = 1; }
void whole_word(unsigned* to) { *to = 5; }
C
root/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -mavx2 -O1 -fsanitize=thread stores.c -o gcc.s
root/usr/bin/clang-14 -mavx2 -O1 -fsanitize=thread -S stores.c -o clang.s

# What a function tells the run-time library about its stores.
told() { sed -n "/^$2:/,/\.size[[:space:]]*$2,/p" "$1.s" | grep -Eo '__tsan_write[a-z0-9_]*' | xargs; }
for name in bit_field vector_of_32 long_double whole_word; do
  printf '%-13s gcc: %-19s clang: %s\n' $name "$(told gcc $name)" "$(told clang $name)"
done
expect() { [ "$(told "$1" "$2")" = "$3" ] || { echo "$1 has \"$(told "$1" "$2")\" for $2 now, not \"$3\""; exit 1; }; }
expect gcc bit_field __tsan_write_range
expect gcc vector_of_32 __tsan_write_range
expect gcc long_double __tsan_write16
for name in bit_field vector_of_32 long_double; do expect clang $name ""; done
for compiler in gcc clang; do expect $compiler whole_word __tsan_write4; done
echo "as described: clang tells nothing of three of them"
