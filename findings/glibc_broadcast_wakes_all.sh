#!/usr/bin/env bash
# glibc's pthread_cond_broadcast wakes all waiters at once; musl's wakes one and queues the others at the mutex.
#
# Guess before the run: both wake one waiter and move the others to the mutex's futex (FUTEX_REQUEUE, which was
# made for it), so a broadcast under the mutex costs one wake-up.
# Seen with glibc 2.36 and musl 1.2.3, eight waiters, the mutex held during the broadcast: glibc calls FUTEX_WAKE for all of them,
# all run to the mutex at once and sleep again there; FUTEX_REQUEUE is never called. musl wakes one, and requeues one more when that
# one has the mutex. So only under glibc does a broadcast make the mutex contended by all.
# What rests on it: record/runtime/conditions.c records a broadcast for all its waiters; in a replay all of them then ask for the
# mutex, as glibc's do.
#
# Usage: bash findings/glibc_broadcast_wakes_all.sh     needs apt-get, dpkg-deb, gcc and ptrace; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download libc6=2.36-9+deb12u14 strace=6.1-0.1 musl-dev=1.2.3-1 libunwind8 liblzma5 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done

cat >broadcast.c <<'C'
#include <pthread.h>
#include <unistd.h>
enum { kWaiters = 8 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int go, waiting;
static void *wait_for_go(void *unused) {
  pthread_mutex_lock(&mutex);
  waiting++;
  while (!go) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  pthread_t threads[kWaiters];
  for (int i = 0; i < kWaiters; i++) pthread_create(&threads[i], 0, wait_for_go, 0);
  for (int all = 0; !all; usleep(1000)) {
    pthread_mutex_lock(&mutex);
    all = waiting == kWaiters;
    pthread_mutex_unlock(&mutex);
  }
  usleep(200000);
  pthread_mutex_lock(&mutex);
  go = 1;
  write(2, "broadcast\n", 10);
  pthread_cond_broadcast(&condition);
  usleep(200000);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < kWaiters; i++) pthread_join(threads[i], 0);
}
C
libraries=$folder/root/lib/x86_64-linux-gnu
gcc -O2 -pthread broadcast.c -o with_glibc
musl=root/usr/lib/x86_64-linux-musl
gcc -O2 -nostdinc -isystem root/usr/include/x86_64-linux-musl -nostdlib -static -fno-pie -no-pie broadcast.c \
  "$musl/crt1.o" "$musl/crti.o" "$musl/libc.a" "$musl/crtn.o" -o with_musl

trace() { LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/strace -f -e trace=futex,write "${@:2}" 2>&1 | sed '1,/"broadcast/d' >"$1"; }
trace glibc.txt "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" ./with_glibc
trace musl.txt ./with_musl

for name in glibc musl; do
  printf '%s: woken at once %s; FUTEX_REQUEUE called %s times\n' "$name" \
    "$(grep -m 1 -o 'FUTEX_WAKE_PRIVATE, [0-9]*) = [0-9]*' $name.txt)" "$(grep -c 'REQUEUE.*= 1\|REQUEUE.*unfinished' $name.txt || true)"
done
grep -q 'FUTEX_WAKE_PRIVATE, 2147483647) = 8' glibc.txt || { echo "glibc does not wake all eight any more"; exit 1; }
! grep -q REQUEUE glibc.txt || { echo "glibc requeues now"; exit 1; }
! grep -q 'FUTEX_WAKE_PRIVATE, 2147483647' musl.txt || { echo "musl wakes all now"; exit 1; }
grep -q 'FUTEX_REQUEUE_PRIVATE, 0, 1' musl.txt || { echo "musl does not requeue any more"; exit 1; }
echo "as described: glibc wakes all, musl one after another"
