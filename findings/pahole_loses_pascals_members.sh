#!/usr/bin/env bash
# pahole misreads Free Pascal's records: variants become holes of 65,532 bytes, bit-packed members have no type, classes don't exist.
#
# Guess before the run: records of Free Pascal are structures in DWARF like C's, so pahole reads them; what it can't, it refuses.
# Seen with pahole 1.24 and Free Pascal 3.2.2 (-gw3): parts of a variant record lie at one offset of a DW_TAG_structure_type, not in
# a union, and pahole counts a hole of 65,532 bytes between them; members of a subrange type (a third of a bitpacked record's) are
# "<ERROR ...>"; a class's members can't be had by its name. The exit code is 0. Each offset itself is right in the debug information.
# What rests on it: types/pahole.cpp makes a union of members at one offset however the listing has them, and refuses the bit-packed
# record with its line; record/collector/type_reader.cpp reads all of them from the program.
#
# Usage: bash findings/pahole_loses_pascals_members.sh     needs apt-get, dpkg-deb and binutils; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download fp-compiler-3.2.2=3.2.2+dfsg-20 fp-units-rtl-3.2.2=3.2.2+dfsg-20 pahole=1.24-4.1 libbpf1=1:1.1.2-0+deb12u1 \
  libdw1=0.188-2.1 libelf1=0.188-2.1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done

cat >records.pas <<'P'
program records;
{$mode objfpc}
type
  TFlags = bitpacked record kind: 0..7; ready: boolean; count: 0..1023; end;
  TValue = record kind: byte; case byte of 0: (whole: longint); 1: (real: double); end;
  TQueue = class head: int64; tail: int64; end;
var
  flags: TFlags; value: TValue; queue: TQueue;
begin
  queue := TQueue.Create;
  flags.count := 5;
  value.real := 1;
  queue.tail := flags.count;
  writeln('TFlags ', sizeof(flags), ' TValue ', sizeof(value), ' tail ', ptruint(@queue.tail) - ptruint(queue));
end.
P
units=$folder/root/usr/lib/x86_64-linux-gnu/fpc/3.2.2/units/x86_64-linux
root/usr/lib/x86_64-linux-gnu/fpc/3.2.2/ppcx64 -n -gw3 -Fu"$units/rtl" records.pas >compiler.txt || { cat compiler.txt; exit 1; }
./records | tee sizes.txt
list() { LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/pahole -C "$1" records 2>/dev/null; }
list TVALUE | tee value.txt
list TFLAGS | tee flags.txt
list TQueue >queue.txt

grep -qx 'TFlags 2 TValue 16 tail 16' sizes.txt || { echo "the compiler lays them out otherwise"; exit 1; }
grep -q '65532 bytes hole' value.txt || { echo "the variants are read otherwise now"; exit 1; }
[ "$(grep -c '<ERROR' flags.txt)" = 2 ] || { echo "members of a subrange are read now"; exit 1; }
! grep -q 'tail' queue.txt || { echo "classes are read now"; exit 1; }
echo "as described: holes, errors, no class, exit code 0"
