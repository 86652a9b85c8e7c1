#!/usr/bin/env bash
# hwloc's export for its version 1 renumbers NUMA nodes when one of them has no CPUs.
#
# Guess before the run: what `lstopo --export-xml-flags v1` writes is read back by hwloc 2 with the same nodes under the same logical
# numbers, for only the form of the file is another.
# Seen with hwloc 2.9.0, two packages with a node of CPUs and a node of memory each (CXL, HBM): node L#0 is P#0 before and P#1 behind
# the round trip, in each package the node without CPUs comes first, and it lies in a group of its own without CPUs. So numbers
# that hwloc-bind takes (they are logical) mean other memory, and who attaches memory to the parent's CPUs finds none.
# What rests on it: forms/lstopo.cpp takes the system's numbers (os_index), which survive; it reads no logical ones.
#
# Usage: bash findings/hwloc_v1_turns_memory_nodes_round.sh     needs apt-get and dpkg-deb; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download hwloc-nox=2.9.0-1 libhwloc15=2.9.0-1 libudev1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
lstopo() { LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu HWLOC_PLUGINS_PATH=/nonexistent root/usr/bin/lstopo-no-graphics "$@"; }

machine="pack:2 [numa] [numa(memory=4GB)] l3:2 core:2 pu:1"
lstopo -i "$machine" --export-xml-flags v1 --of xml v1.xml
lstopo -i "$machine" --of console >before.txt
lstopo -i v1.xml --of console >behind.txt
lstopo --version
nodes() { grep -o 'NUMANode L#[0-9] (P#[0-9]' "$1" | sort | tr -d '(' | xargs; }
echo "before: $(nodes before.txt)"
echo "behind: $(nodes behind.txt)"
[ "$(nodes before.txt)" = "NUMANode L#0 P#0 NUMANode L#1 P#1 NUMANode L#2 P#2 NUMANode L#3 P#3" ] || { echo "the machine has other numbers"; exit 1; }
[ "$(nodes behind.txt)" = "NUMANode L#0 P#1 NUMANode L#1 P#0 NUMANode L#2 P#3 NUMANode L#3 P#2" ] || { echo "the round trip has changed"; exit 1; }
[ "$(grep -c Group before.txt) $(grep -c Group behind.txt)" = "0 4" ] || { echo "other groups now"; exit 1; }
echo "as described: the nodes change places"
