#!/usr/bin/env bash
# bpftrace -f json writes different keys of several parts as the same member, twice in one object.
#
# Guess before the run: a key of two parts is written so that it stays one of its own, such as an array or with escapes, and each
# member of the object that stands for the map has a name of its own.
# Seen with bpftrace 0.17: the parts are joined by a comma without escapes, so that ("a,b", "c") and ("a", "b,c") are both "a,b,c". The
# object has this member twice; most JSON libraries keep the last and lose the other's count without a word. As text, the parts are
# joined by a comma and a blank.
# What rests on it: forms/bpftrace.cpp reads every member and adds up those of one name; it lost one before
# (commands/import/tests/test_import_lock_statistics.py).
#
# Usage: bash findings/bpftrace_writes_two_keys_as_one.sh     needs root, BPF, apt-get, dpkg-deb and python3; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download bpftrace=0.17.0-1 libbpfcc=0.26.0+ds-1 libbpf1 libllvm14 libclang1-14 libclang-cpp14 libelf1 libedit2 libbsd0 libz3-4 \
  libxml2 libicu72 libdw1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
LD_LIBRARY_PATH=$(printf '%s:' "$folder"/root/{lib,usr/lib}/x86_64-linux-gnu)
export LD_LIBRARY_PATH
bpftrace=$folder/root/usr/bin/bpftrace
program='BEGIN { @wait_ns["a,b", "c"] = 100; @wait_ns["a", "b,c"] = 250; exit(); }'

"$bpftrace" --version
"$bpftrace" -e "$program" 2>/dev/null | tee text.txt | grep @
"$bpftrace" -f json -e "$program" 2>/dev/null | tee json.txt | grep @
unset LD_LIBRARY_PATH
if [[ $(grep -cxE '@wait_ns\[(a,b, c\]: 100|a, b,c\]: 250)' text.txt) != 2 ]]; then echo "the text has changed"; exit 1; fi
python3 - <<'P'
import json

text = next(line for line in open("json.txt") if "@wait_ns" in line)
members = json.loads(text, object_pairs_hook=lambda pairs: pairs)
of_map = dict(dict(members)["data"])["@wait_ns"]
print("members:", of_map, "- as a dictionary:", dict(of_map))
if sorted(of_map) != [("a,b,c", 100), ("a,b,c", 250)]:
    raise SystemExit("the keys are written otherwise now")
P
echo "as described: one member's name for two keys"
