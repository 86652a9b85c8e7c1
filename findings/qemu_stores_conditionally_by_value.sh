#!/usr/bin/env bash
# qemu-user lets a store-conditional succeed after another thread has changed the word and changed it back.
#
# Guess before the run: `stxr` fails when another thread has stored to the word since `ldxr`, whatever it stored, for that is what
# makes a load-linked pair safe where a compare-and-swap has the ABA problem.
# Seen with qemu-aarch64 7.2: between ldxr and stxr a second thread stores 1 and then 0 again; the stxr succeeds, for qemu compares the
# value and swaps. If the second thread leaves 1, it fails. On a processor the first must fail, too. So a stack that is right by
# load-linked alone may break under qemu, and a test under qemu says nothing of reservations.
# What rests on it: probe/README.md says that the probe's code for aarch64 was tried in QEMU, which shows that it runs, and nothing of its
# atomic operations' pairs; recordings are of x86-64 (record/README.md), which has no such pairs.
#
# Usage: bash findings/qemu_stores_conditionally_by_value.sh     needs apt-get and dpkg-deb; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download qemu-user-static=1:7.2+dfsg-7+deb12u18+b3 libc6-dev-arm64-cross=2.36-8cross1 linux-libc-dev-arm64-cross=6.1.4-1cross1 \
  libgcc-12-dev-arm64-cross clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libclang-common-14-dev=1:14.0.6-12 \
  lld-14=1:14.0.6-12 libedit2 libz3-4 libxml2 libbsd0 libmd0 libicu72 libffi8 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >reservation.c <<'C'
#include <pthread.h>
#include <stdio.h>
static long word;
static int stage;
static int value_left;
static void await(int wanted) {
  while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) != wanted) {}
}
static void* change(void* unused) {
  await(1);
  __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&word, value_left, __ATOMIC_SEQ_CST);
  __atomic_store_n(&stage, 2, __ATOMIC_RELEASE);
  return unused;
}
static int failed(int left) {
  pthread_t thread;
  long seen;
  int result;
  word = 0;
  stage = 0;
  value_left = left;
  pthread_create(&thread, 0, change, 0);
  __asm__ volatile("ldxr %0, [%1]" : "=&r"(seen) : "r"(&word) : "memory");
  __atomic_store_n(&stage, 1, __ATOMIC_RELEASE);
  await(2);
  __asm__ volatile("stxr %w0, %1, [%2]" : "=&r"(result) : "r"(5l), "r"(&word) : "memory");
  pthread_join(thread, 0);
  return result;
}
int main(void) {
  printf("changed: %s\n", failed(1) ? "fails" : "stores");
  printf("changed and back: %s\n", failed(0) ? "fails" : "stores");
}
C
cross=$folder/root/usr/aarch64-linux-gnu gcc=$folder/root/usr/lib/gcc-cross/aarch64-linux-gnu/12
root/usr/bin/clang-14 --target=aarch64-linux-gnu -O1 -isystem "$cross/include" -c reservation.c -o reservation.o
root/usr/bin/ld.lld-14 -static "$cross/lib/crt1.o" "$cross/lib/crti.o" "$gcc/crtbeginT.o" reservation.o --start-group "$cross/lib/libc.a" \
  "$gcc/libgcc.a" "$gcc/libgcc_eh.a" --end-group "$gcc/crtend.o" "$cross/lib/crtn.o" -o reservation
root/usr/bin/qemu-aarch64-static --version | head -n 1
timeout 60 root/usr/bin/qemu-aarch64-static reservation | tee out.txt
grep -qx 'changed: fails' out.txt || { echo "a changed word is not noticed"; exit 1; }
grep -qx 'changed and back: stores' out.txt || { echo "a word that changed and changed back is noticed now"; exit 1; }
echo "as described: the value alone counts"
