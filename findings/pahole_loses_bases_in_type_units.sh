#!/usr/bin/env bash
# pahole lists a class whose base has a type unit of its own with the base "(null)" and a hole of the base's size.
#
# Guess before the run: -fdebug-types-section only moves types to other units; pahole follows their signatures as debuggers do.
# Seen with pahole 1.24 and gcc 12.2, DWARF 4 and 5: "struct Derived : (null)", "<ancestor> 0 0" and "XXX 16 bytes hole, try to
# pack", where the base with its vtable pointer lies; the exit code is 0. Without type units it lists Base with 16 bytes and no hole. So
# who packs the class by this listing would move members onto its base.
# What rests on it: a byte at a base's place is "not explained" in the reader of listings (types/pahole.cpp); of the program itself
# `import` reads type units (tests/record/test_structures.py).
#
# Usage: bash findings/pahole_loses_bases_in_type_units.sh     needs apt-get, dpkg-deb and g++; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download pahole=1.24-4.1 libbpf1=1:1.1.2-0+deb12u1 libdw1=0.188-2.1 libelf1=0.188-2.1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done

cat >derived.cpp <<'C'
struct Base {
  long id;
  virtual ~Base() {}
};
struct Derived : Base {
  long hits;
  char ready;
} derived;
int main() { return derived.ready; }
C
list() { LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/pahole -C Derived "$1" 2>/dev/null | grep -v 'void \|~'; }
g++ -g -gdwarf-5 derived.cpp -o plain
list plain >plain.txt
for version in 4 5; do
  g++ -g -gdwarf-$version -fdebug-types-section derived.cpp -o units_$version
  list units_$version >units_$version.txt || { echo "pahole ends with an error now"; exit 1; }
done
cat units_5.txt
grep -q 'Base  *<ancestor>; .*/\* *0 *16 \*/' plain.txt || { echo "the plain listing has no base"; exit 1; }
! grep -q 'XXX.*hole' plain.txt || { echo "the plain listing has a hole"; exit 1; }
for version in 4 5; do
  grep -q 'Derived : (null)' units_$version.txt || { echo "DWARF $version: the base has a name now"; exit 1; }
  grep -q 'XXX 16 bytes hole, try to pack' units_$version.txt || { echo "DWARF $version: no hole any more"; exit 1; }
done
echo "as described: a hole where the base is"
