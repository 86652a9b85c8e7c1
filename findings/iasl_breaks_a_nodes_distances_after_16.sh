#!/usr/bin/env bash
# iasl -d breaks a node's distances in SLIT after 16, with a backslash at the line's end.
#
# Guess before the run: the disassembly has one line a locality, so a reader takes the distances behind the colon.
# Seen with iasl 20200925 (acpica-tools): of 20 localities each has two lines: 16 distances and a backslash, then four without
# offset or name. 16 localities have one line each. A reader of lines is right on every machine with up to 16 nodes, and wrong on
# machines with more, such as those with eight nodes of CPUs and memory on CXL behind each.
# What rests on it: forms/numa.cpp reads on behind a backslash; test_distances_of_many_nodes_go_on_in_iasls_next_line in
# commands/import/tests/test_import_machine_forms.py. It did not before this was seen.
#
# Usage: bash findings/iasl_breaks_a_nodes_distances_after_16.sh     needs apt-get and dpkg-deb; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download acpica-tools=20200925-8 >/dev/null
dpkg-deb -x acpica-tools_*.deb root
iasl() { root/usr/bin/iasl "$@" >log 2>&1 || { cat log; exit 1; }; }

# Disassembles a table of the given number of nodes.
table() {
  local nodes=$1 from to
  {
    printf '%s : %s\n' '[0004] Signature' '"SLIT"' '[0004] Table Length' 00000000 '[0001] Revision' 01 '[0001] Checksum' 00 \
      '[0006] Oem ID' '"EXAMPL"' '[0008] Oem Table ID' '"EXAMPLE "' '[0004] Oem Revision' 00000001 '[0004] Asl Compiler ID' '"INTL"' \
      '[0004] Asl Compiler Revision' 20200925
    printf '[0008] Localities : %016X\n' "$nodes"
    for ((from = 0; from < nodes; from++)); do
      printf '[%04d] Locality %d :' "$nodes" "$from"
      for ((to = 0; to < nodes; to++)); do printf ' %02X' $((from == to ? 10 : 20)); done
      echo
    done
  } >"slit_$nodes.asl"
  iasl "slit_$nodes.asl"
  iasl -d "slit_$nodes.aml"
}
table 16
table 20
grep -A1 'Locality   0' slit_20.dsl
[ "$(grep -c 'Locality .*\\$' slit_20.dsl)" = 20 ] || { echo "20 localities are not broken any more"; exit 1; }
[ "$(grep -A1 'Locality   0' slit_20.dsl | tail -n 1 | xargs)" = "14 14 14 14" ] || { echo "the rest is elsewhere now"; exit 1; }
! grep -q '\\$' slit_16.dsl || { echo "16 localities are broken, too, now"; exit 1; }
echo "as described: two lines a locality"
