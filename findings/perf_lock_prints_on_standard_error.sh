#!/usr/bin/env bash
# perf lock prints its tables on standard error, and perf lock report calls each wait an acquisition.
#
# Guess before the run: `perf lock contention > waits.txt` keeps the table, as it does for other reports of perf; the column "acquired" of
# perf lock report counts the acquisitions, of which some were contended.
# Seen with perf 6.1 on Linux 6.18 without lockdep, four threads that map and unmap pages: standard output is empty for both commands, and
# both tables are on standard error. In each row of the report "acquired" equals "contended": the kernel's two trace points tell of waits
# alone. So the share of acquisitions that waited, the first thing that such a table seems to give, is not in it.
# What rests on it: docs/production.md has `2> waits.txt`; commands/import/lock_statistics_table.cpp shows no share of acquisitions if
# each row says that all of them waited.
#
# Usage: bash findings/perf_lock_prints_on_standard_error.sh     needs root, tracefs, apt-get, dpkg-deb and gcc; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download linux-perf=6.1.192-3 libbabeltrace1 libcap2 libdebuginfod1 libdw1 libelf1 libnuma1 libopencsd1 libperl5.36 \
  libpython3.11 libslang2 libunwind8 libzstd1 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
LD_LIBRARY_PATH=$(printf '%s:' "$folder"/root/{lib,usr/lib}/x86_64-linux-gnu)
export LD_LIBRARY_PATH
perf=$folder/root/usr/bin/perf

cat >maps.c <<'C'
#include <pthread.h>
#include <sys/mman.h>
static void *maps(void *unused) {
  for (int i = 0; i < 5000; i++) {
    char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 1;
    munmap(page, 4096);
  }
  return unused;
}
int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, maps, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
}
C
gcc -O2 -pthread maps.c -o maps
"$perf" version
"$perf" lock record -o waits.data -- ./maps >record.txt 2>&1 || { cat record.txt; exit 1; }
for command in contention report; do
  "$perf" lock "$command" -i waits.data >"$command.out" 2>"$command.err"
  echo "perf lock $command: $(wc -l <"$command.out") lines on standard output, $(wc -l <"$command.err") on standard error"
  [[ ! -s $command.out ]] || { echo "perf lock $command prints on standard output now"; exit 1; }
done
grep -q 'total wait .* caller' contention.err || { echo "no table of perf lock contention"; exit 1; }
# Rows of the report: a name, acquired, contended, ...; a name that perf has cut may hold blanks.
rows=$(sed -nE 's/^.* +([0-9]+) +([0-9]+) +[0-9.]+ [a-z]+ .*$/\1 \2/p' report.err)
[[ -n $rows ]] || { cat report.err; exit 1; }
echo "acquired and contended, row by row: $(paste -sd, <<<"$rows")"
awk '$1 != $2 {exit 1}' <<<"$rows" || { echo "acquired and contended differ now"; exit 1; }
echo "as described: nothing on standard output, and each acquisition counted is a wait"
