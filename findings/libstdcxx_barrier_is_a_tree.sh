#!/usr/bin/env bash
# libstdc++'s std::barrier is a tree on the heap: an arrival is several compare-and-swaps of single bytes.
#
# Guess before the run: arrive() is one fetch_sub on a counter that all threads share, in the barrier's own 32 bytes.
# Seen with libstdc++ 12.2: a barrier for 16 threads takes 512 bytes of the heap, 64 for each pair of threads. An arrival looks for a
# pair's byte by compare-and-swap, from a place that the thread's identifier gives; the second of a pair goes up to the next round.
# 16 arrivals of one thread make about 100 compare-and-swaps and no addition. So a recorded phase has hand-offs of several lines, none hot.
# What rests on it: record/README.md says that such barriers are recorded as plain operations: what it records are these bytes.
#
# Usage: bash findings/libstdcxx_barrier_is_a_tree.sh     needs apt-get, dpkg-deb and g++; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download libstdc++-12-dev=12.2.0-14+deb12u1 >/dev/null
dpkg-deb -x libstdc++-12-dev_*.deb root

# The compiler's instrumentation for a thread sanitizer calls these functions in place of each atomic operation.
cat >count.cpp <<'C'
#include <cstdio>
#include <cstdlib>
#include <new>
static long swaps, additions, heap_bytes;
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
bool __tsan_atomic8_compare_exchange_strong(char* at, char* expected, char wanted, int, int) {
  __atomic_fetch_add(&swaps, 1, __ATOMIC_RELAXED);
  return __atomic_compare_exchange_n(at, expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
bool __tsan_atomic8_compare_exchange_weak(char* at, char* expected, char wanted, int, int) {
  return __tsan_atomic8_compare_exchange_strong(at, expected, wanted, 0, 0);
}
char __tsan_atomic8_load(char* at, int) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
void __tsan_atomic8_store(char* at, char value, int) { __atomic_store_n(at, value, __ATOMIC_SEQ_CST); }
int __tsan_atomic32_load(int* at, int) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
int __tsan_atomic32_fetch_add(int* at, int by, int) { return __atomic_fetch_add(at, by, __ATOMIC_SEQ_CST); }
long __tsan_atomic64_load(long* at, int) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); }
void __tsan_atomic64_store(long* at, long value, int) { __atomic_store_n(at, value, __ATOMIC_SEQ_CST); }
long __tsan_atomic64_fetch_add(long* at, long by, int) { additions++; return __atomic_fetch_add(at, by, __ATOMIC_SEQ_CST); }
long __tsan_atomic64_fetch_sub(long* at, long by, int) { additions++; return __atomic_fetch_sub(at, by, __ATOMIC_SEQ_CST); }
#define NOTED(KIND) void __tsan_##KIND(void*) {}
NOTED(read1) NOTED(read2) NOTED(read4) NOTED(read8) NOTED(read16) NOTED(write1) NOTED(write2) NOTED(write4) NOTED(write8) NOTED(write16)
NOTED(vptr_read)
void __tsan_vptr_update(void*, void*) {}
void __tsan_read_range(void*, long) {}
void __tsan_write_range(void*, long) {}
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  heap_bytes += bytes;
  return std::aligned_alloc(static_cast<std::size_t>(alignment), bytes);
}
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void tell(int arrivals) {
  std::printf("%ld bytes on the heap; %d arrivals: %ld compare-and-swaps of a byte, %ld additions\n", heap_bytes, arrivals, swaps, additions);
  std::printf("between 30 and 150: %s\n", swaps >= 30 && swaps <= 150 ? "yes" : "no");
}
C
cat >arrive.cpp <<'C'
#include <barrier>
#include <cstdio>
void tell(int arrivals);
int main() {
  std::barrier<> barrier(16);
  for (int i = 0; i < 16; i++) static_cast<void>(barrier.arrive());
  tell(16);
  std::printf("the barrier itself: %zu bytes\n", sizeof barrier);
}
C
headers=(-nostdinc++ -isystem root/usr/include/c++/12 -isystem root/usr/include/x86_64-linux-gnu/c++/12)
g++ -std=c++20 -O1 "${headers[@]}" -fsanitize=thread -c arrive.cpp -o arrive.o
g++ -std=c++20 -O1 "${headers[@]}" -c count.cpp -o count.o
g++ arrive.o count.o -o arrive -pthread
./arrive | tee out.txt
grep -q '^512 bytes on the heap; 16 arrivals: [0-9]* compare-and-swaps of a byte, 0 additions' out.txt || { echo "otherwise now"; exit 1; }
grep -qx 'between 30 and 150: yes' out.txt || { echo "another number of compare-and-swaps now"; exit 1; }
grep -qx 'the barrier itself: 32 bytes' out.txt || { echo "the barrier has another size now"; exit 1; }
echo "as described: a tree of bytes"
