#!/usr/bin/env bash
# pahole's listing of a union does not say how large the union is.
#
# Guess before the run: pahole -C NAME ends with "/* size: N, ... */" for a union, as it does for a structure.
# Seen with pahole 1.24 (Debian 12): for a union it prints the members with offset and size, and nothing behind them. The
# union's size may be larger than that of its largest member: here 8 bytes, because an int aligns it, but the members have 5
# and 4. So whoever makes a layout of such a listing can't know where the next object of an array begins.
# What rests on it: the section "The size of a union is not in pahole's listing" of docs/warts.md; types/pahole.cpp infers the size.
#
# Usage: bash findings/pahole_unions_have_no_size.sh     needs apt-get, dpkg-deb and gcc; fails if the behaviour has changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download pahole=1.24-4.1 libbpf1=1:1.1.2-0+deb12u1 libdw1=0.188-2.1 libelf1=0.188-2.1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done

cat >packet.c <<'C'
union packet { char raw[5]; int word; };
struct queue { union packet first; long last; };
struct queue queue;
int main(void) { return (int)sizeof(union packet) + queue.first.raw[0]; }
C
gcc -g -o packet packet.c
size=0
./packet || size=$?

list() { LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/pahole -C "$1" packet; }
echo "pahole $(LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/pahole --version); sizeof(union packet) is $size"
list packet | tee union.txt
list queue >structure.txt

[ "$size" = 8 ] || { echo "the union has $size bytes here, not 8"; exit 1; }
grep -q '/\* size: 16' structure.txt || { echo "the structure's listing has no size any more"; exit 1; }
grep -q 'raw\[5\];.*/\* *0 *5 \*/' union.txt || { echo "the members have other comments now"; exit 1; }
! grep -q 'size:' union.txt || { echo "the union's listing has a size now"; exit 1; }
echo "as described: the union's listing has no size"
