// One thread puts numbers into yse-soundengine's bounded queue, and another takes them out, as the engine's own benchmark does.
// Usage: ring_cells NUMBERS

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "utils/mpmcQueue.hpp"

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::uint64_t numbers = std::strtoull(arguments[1], nullptr, 10);
  YSE::mpmcQueue<void*> queue(1024);
  std::atomic<std::uint64_t> taken{0};
  std::uint64_t sum = 0;
  std::thread producer([&queue, numbers] {
    for (std::uintptr_t i = 1; i <= numbers; i++) {
      while (!queue.try_push(reinterpret_cast<void*>(i))) std::this_thread::yield();
    }
  });
  while (taken.load(std::memory_order_relaxed) < numbers) {
    void* number = nullptr;
    if (queue.try_pop(number)) {
      sum += reinterpret_cast<std::uintptr_t>(number);
      taken.fetch_add(1, std::memory_order_relaxed);
    } else {
      std::this_thread::yield();
    }
  }
  producer.join();
  std::printf("sum %llu\n", static_cast<unsigned long long>(sum));
  return 0;
}
