#!/usr/bin/env bash
# gdb's ptype /o prints no offsets of Fortran's types and Ada's records, and does not say so.
#
# Guess before the run: it prints offset and size of each member for any language whose debug information has them, or it refuses.
# Seen with gdb 13.1, gfortran and GNAT 12.2: the plain declaration in the language's own syntax, as without /o, and exit code 0.
# The debug information has the places: with `set language c` the same gdb prints them for the same variable.
# What rests on it: `import` refuses such a listing and says what has the places (forms/forms.cpp, "End Type "; a row of
# commands/import/tests/test_import_recognised.py).
#
# Usage: bash findings/gdb_lists_fortran_and_ada_without_offsets.sh     needs apt-get, dpkg-deb and gcc; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download gdb=13.1-3 libpython3.11 libsource-highlight4v5 libboost-regex1.74.0 libbabeltrace1 libdebuginfod1 libmpfr6 libgmp10 \
  libncursesw6 libreadline8 libxxhash0 libipt2 libpython3.11-stdlib libpython3.11-minimal gfortran-12=12.2.0-14+deb12u1 \
  libgfortran-12-dev=12.2.0-14+deb12u1 gnat-12=12.2.0-14+deb12u1 libgnat-12=12.2.0-14+deb12u1 gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 libisl23 libmpc3 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export PATH=$folder/root/usr/bin:$PATH LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >counter.f90 <<'F'
module counters
  type :: counter
    integer(8) :: hits
    logical :: ready
    real(4) :: share
  end type
  type(counter) :: shown
end module
F
cat >counters.ads <<'A'
package Counters is
   type Counter is record
      Hits  : Long_Integer;
      Ready : Boolean;
      Small : Short_Integer;
   end record;
   Shown : Counter;
end Counters;
A
gfortran-12 -g -c counter.f90 -o fortran.o
gcc-12 -g -c counters.ads
list() { gdb -batch -nx -data-directory root/usr/share/gdb "${@:2}" "$1" 2>/dev/null; }
list fortran.o -ex 'set language fortran' -ex 'ptype /o counters::shown' | tee fortran.txt
list counters.o -ex 'set language ada' -ex 'ptype /o counters.shown' | tee ada.txt
list counters.o -ex 'set language c' -ex 'ptype /o counters__shown' | tee ada_c.txt
for language in fortran ada; do
  grep -qi 'hits' $language.txt || { echo "$language's type is not listed"; exit 1; }
  ! grep -q '/\*\|offset\|total size' $language.txt || { echo "$language's listing has offsets now"; exit 1; }
done
grep -q 'total size (bytes): *16' ada_c.txt || { echo "no offsets as C either"; exit 1; }
echo "as described: declarations without offsets"
