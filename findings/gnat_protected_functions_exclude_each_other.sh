#!/usr/bin/env bash
# GNAT lets one task at a time into the functions of a protected object, which Ada made for readers.
#
# Guess before the run: two tasks can be inside a protected function of one object at once; only procedures and entries exclude.
# Seen with GNAT 12.2 on Linux: of two tasks in a function that takes 300 ms, one waits for the other: a protected object has a
# plain mutex. `pragma Locking_Policy (Concurrent_Readers_Locking)` for the whole program gives it a readers-writer lock, and then
# both are inside. So readers in Ada contend, although the source says they need not.
# What rests on it: record/runtime/locks.c records either lock as what it is, so `compare-locks` is asked about a mutex where Ada's source
# has readers.
#
# Usage: bash findings/gnat_protected_functions_exclude_each_other.sh     needs apt-get, dpkg-deb, gcc and two cores; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download gnat-12=12.2.0-14+deb12u1 libgnat-12=12.2.0-14+deb12u1 gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 \
  libgcc-12-dev=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export PATH=$folder/root/usr/bin:$PATH LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >readers.adb <<'A'
with Ada.Real_Time; use Ada.Real_Time;
with Ada.Text_IO;
procedure Readers is
   Inside, Most : Integer := 0 with Atomic;
   protected Board is
      function Read return Integer;
   private
      Value : Integer := 7;
   end Board;
   protected body Board is
      function Read return Integer is
         Begun : constant Time := Clock;
      begin
         Inside := Inside + 1;
         while Clock < Begun + Milliseconds (300) loop
            if Inside > Most then
               Most := Inside;
            end if;
         end loop;
         Inside := Inside - 1;
         return Value;
      end Read;
   end Board;
   task type Reader;
   task body Reader is
      Got : Integer;
   begin
      Got := Board.Read;
      pragma Assert (Got = 7);
   end Reader;
begin
   declare
      Both : array (1 .. 2) of Reader with Unreferenced;
   begin
      null;
   end;
   Ada.Text_IO.Put_Line ("inside at once:" & Most'Image);
end Readers;
A
build() { gnatmake-12 -q -f readers.adb -o "$1" "${@:2}"; }
build plain
echo 'pragma Locking_Policy (Concurrent_Readers_Locking);' >policy.adc
build concurrent -gnatec=policy.adc
gnatmake-12 --version | head -n 1
for name in plain concurrent; do
  "./$name" >$name.txt
  echo "$name: $(cat $name.txt)"
done
grep -qx 'inside at once: 1' plain.txt || { echo "functions don't exclude each other any more"; exit 1; }
grep -qx 'inside at once: 2' concurrent.txt || { echo "functions exclude each other even with the pragma"; exit 1; }
echo "as described: one at a time"
