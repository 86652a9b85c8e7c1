#!/usr/bin/env bash
# Spin's checker ends with exit code 0 when it has found an error; rumur's ends with 1.
#
# Guess before the run: both end with another code than 0, so that a script or a grader may rely on it.
# Seen with spin 6.5.2: the checker (pan) that finds a violated assertion prints "errors: 1", writes a trail and exits with 0, and
# so does `spin -run`. rumur 2022.08.20's checker exits with 1 on the same model. A comparison of checkers has to read the text.
# What rests on it: rumur() in commands/check/tests/test_check_protocols.py relies on rumur's exit code, and would be wrong with Spin's.
#
# Usage: bash findings/spin_exits_with_zero_after_an_error.sh     needs apt-get, dpkg-deb and gcc; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download spin=6.5.2+dfsg-1 rumur=2022.08.20-1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export PATH=$folder/root/usr/bin:$PATH

cat >counter.pml <<'P'
byte count;
active proctype step() { do :: count < 3 -> count++; assert(count < 3) :: else -> break od }
P
cat >counter.m <<'M'
var count: 0..3;
startstate begin count := 0; end;
rule count < 3 ==> begin count := count + 1; end;
invariant count < 3;
M
spin -a counter.pml
gcc -O1 -o pan pan.c 2>/dev/null
declare -A code
code[pan]=0; ./pan >pan.txt || code[pan]=$?
code[run]=0; spin -run counter.pml >run.txt 2>&1 || code[run]=$?
rumur counter.m --output counter.c
gcc -O1 -mcx16 -o counter counter.c -pthread -latomic 2>/dev/null
code[rumur]=0; ./counter >rumur.txt || code[rumur]=$?

spin -V
rumur --version
grep -h 'errors:' pan.txt run.txt
echo "exit codes: pan ${code[pan]}, spin -run ${code[run]}, rumur's checker ${code[rumur]}"
for file in pan.txt run.txt; do grep -q "errors: 1" $file || { echo "spin does not find the error"; exit 1; }; done
[ "${code[pan]} ${code[run]} ${code[rumur]}" = "0 0 1" ] || { echo "the exit codes have changed"; exit 1; }
echo "as described: 0, 0 and 1"
