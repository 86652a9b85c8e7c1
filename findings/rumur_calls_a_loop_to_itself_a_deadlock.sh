#!/usr/bin/env bash
# rumur reports a deadlock in a state whose only rule leads back to it; for Spin that is a loop like any other.
#
# Guess before the run: a deadlock is a state in which no rule is enabled, for both.
# Seen with rumur 2022.08.20 and spin 6.5.2, one variable that counts to 3 and is then set to 3 again and again: rumur ends with
# "deadlock" and exit code 1, by default and with --deadlock-detection stuttering; with "stuck" it finds no error. Spin says
# "errors: 0". A spin loop in a model is such a state, so the two disagree about a lock that is waited for without end.
# What rests on it: `linebounce check --murphi` writes models for rumur; rumur() in commands/check/tests/test_check_protocols.py takes its
# verdict, deadlocks included, for ours.
#
# Usage: bash findings/rumur_calls_a_loop_to_itself_a_deadlock.sh     needs apt-get, dpkg-deb and gcc; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download spin=6.5.2+dfsg-1 rumur=2022.08.20-1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export PATH=$folder/root/usr/bin:$PATH

cat >count.m <<'M'
var count: 0..3;
startstate begin count := 0; end;
rule "step" count < 3 ==> begin count := count + 1; end;
rule "spin" count = 3 ==> begin count := 3; end;
M
cat >count.pml <<'P'
byte count;
active proctype step() { do :: count < 3 -> count++ :: count == 3 -> count = 3 od }
P
declare -A code
check() {
  rumur "${@:2}" count.m --output "$1.c"
  gcc -O1 -mcx16 -w -o "$1" "$1.c" -pthread -latomic
  code[$1]=0
  "./$1" >"$1.txt" || code[$1]=$?
}
check default
check stuttering --deadlock-detection stuttering
check stuck --deadlock-detection stuck
spin -a count.pml
gcc -O1 -w -o pan pan.c
./pan >pan.txt
for name in default stuttering stuck; do echo "rumur, $name: exit code ${code[$name]}, $(grep -c deadlock $name.txt) deadlocks"; done
echo "spin: $(grep -o 'errors: [0-9]*' pan.txt)"
for name in default stuttering; do
  [ "${code[$name]} $(grep -c deadlock $name.txt)" = "1 1" ] || { echo "rumur ($name) finds no deadlock now"; exit 1; }
done
[ "${code[stuck]}" = 0 ] || { echo "rumur (stuck) finds an error now"; exit 1; }
grep -q 'errors: 0' pan.txt || { echo "spin finds an error now"; exit 1; }
echo "as described: rumur alone"
