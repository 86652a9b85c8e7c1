// One thread puts numbers into rigtorp's queue, which has a place for each as in its own benchmark; another takes them out.
// Usage: queue_indices NUMBERS

#include <rigtorp/SPSCQueue.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::uint64_t numbers = std::strtoull(arguments[1], nullptr, 10);
  rigtorp::SPSCQueue<int> queue(numbers);
  std::uint64_t sum = 0;
  std::thread consumer([&] {
    for (std::uint64_t i = 0; i < numbers; i++) {
      while (!queue.front()) {
      }
      sum += static_cast<std::uint64_t>(*queue.front());
      queue.pop();
    }
  });
  for (std::uint64_t i = 1; i <= numbers; i++) queue.push(static_cast<int>(i));
  consumer.join();
  std::printf("sum %llu\n", static_cast<unsigned long long>(sum));
  return 0;
}
