#!/usr/bin/env bash
# pahole finds no type of a D program, though gdb lists them with offsets.
#
# Guess before the run: it lists a D class with __vptr and __monitor and no hole before its first member.
# Seen with pahole 1.24, gdc 12.2 and ldc 1.30: "type 'Counter' not found", by whatever name, and the exit code is 0: all types of
# a module are inside its DW_TAG_module, which pahole passes over ("not handled"). gdb prints offsets of the same class, and leaves
# out the first 16 bytes, which are of its base, Object. In a C program pahole would also be right about such a base.
# What rests on it: record/collector/types.cpp looks into DW_TAG_module, so `import ./program --structure Counter` lists all 32 bytes.
#
# Usage: bash findings/pahole_finds_no_types_of_d.sh     needs apt-get and dpkg-deb; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download gdc-12=12.2.0-14+deb12u1 libgphobos-12-dev=12.2.0-14+deb12u1 gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 \
  libisl23 libmpc3 libmpfr6 libgmp10 pahole=1.24-4.1 libbpf1=1:1.1.2-0+deb12u1 libdw1=0.188-2.1 libelf1=0.188-2.1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >counter.d <<'D'
module counter;
class Counter { long hits; bool ready; int small; }
struct Pair { long left; byte right; }
__gshared Counter shown;
__gshared Pair pair;
long use() { return shown.hits + pair.right; }
D
root/usr/bin/gdc-12 -g -c counter.d -o counter.o
cat >counter.c <<'C'
struct Pair { long left; char right; } pair;
C
root/usr/bin/gcc-12 -g -c counter.c -o in_c.o
list() { root/usr/bin/pahole -C "$2" "$1" >"$3" 2>"$3.errors"; }
list in_c.o Pair c.txt
for name in Counter Pair counter.Counter; do
  list counter.o $name d_$name.txt || { echo "pahole ends with an error now"; exit 1; }
  grep -h "not found" d_$name.txt.errors || { echo "pahole finds $name now"; exit 1; }
  [ ! -s d_$name.txt ] || { echo "pahole lists $name now"; exit 1; }
done
grep -q 'DW_TAG_module.*not handled' d_Pair.txt.errors || { echo "another reason now"; exit 1; }
grep -q 'right;.*/\* *8 *1 \*/' c.txt || { echo "the structure in C is not listed"; exit 1; }
echo "as described: not found, exit code 0"
