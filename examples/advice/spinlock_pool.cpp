// Each of four threads copies its own pointer, which no other thread uses. A lock from a common pool guards each copy.
//
// The case: boost's spinlock_pool, from which atomic_load(&pointer) chooses one of 41 spin locks by the pointer's address.
// Locks of different pointers are neighbours in one array. CURED: each lock has its own line.
//
// published: +40 % Liu et al., PREDATOR (PPoPP 2014): boost 1.49
// expect: layout pool
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace {

#ifdef CURED
constexpr std::size_t lock_bytes = 64;
#else
constexpr std::size_t lock_bytes = alignof(std::atomic<int>);
#endif

struct alignas(lock_bytes) SpinLock {
  std::atomic<int> value{0};

  void lock() {
    while (value.exchange(1, std::memory_order_acquire) != 0) std::this_thread::yield();
  }
  void unlock() { value.store(0, std::memory_order_release); }
};

constexpr unsigned threads = 4, copies = 1500;

alignas(64) std::array<SpinLock, 41> pool;

struct alignas(64) Slot {
  const int* pointer = nullptr;
  long copied = 0;
};

std::array<Slot, threads> slots;

SpinLock& lock_for(const Slot& slot) {
  return pool[reinterpret_cast<std::uintptr_t>(&slot) / sizeof(Slot) % pool.size()];
}

void copy_pointers(Slot& slot) {
  SpinLock& lock = lock_for(slot);
  for (unsigned i = 0; i < copies; i++) {
    lock.lock();
    const int* pointer = slot.pointer;
    lock.unlock();
    slot.copied += *pointer;
  }
}

}  // namespace

int main() {
  static constexpr int one = 1;
  std::vector<std::thread> workers;
  for (Slot& slot : slots) {
    slot.pointer = &one;
    workers.emplace_back(copy_pointers, std::ref(slot));
  }
  long all = 0;
  for (unsigned i = 0; i < threads; i++) {
    workers[i].join();
    all += slots[i].copied;
  }
  std::printf("%ld pointers copied\n", all);
  return all == static_cast<long>(threads) * copies ? 0 : 1;
}
