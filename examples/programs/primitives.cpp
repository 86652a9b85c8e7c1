// C++20's primitives: jthread, latch, barrier, counting_semaphore, and std::atomic's wait and notify. Four threads count in
// steps that a barrier ends; a semaphore lets two of them at a time through; a last thread waits for each step's number. Usage:
// primitives [TIMES]

#include <array>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4;
int steps_to_do = 200;
constexpr int kRounds = 100;

std::latch ready(kThreads);
std::counting_semaphore<kThreads> places(2);
std::atomic<int> step{0};
std::atomic<int> inside{0};
std::atomic<int> most_inside{0};
#ifdef PADDED
struct alignas(64) Sum {
#else
struct Sum {
#endif
  long value = 0;
};
std::array<Sum, kThreads> sums;

void end_step() noexcept {
  step.fetch_add(1, std::memory_order_release);
  step.notify_all();
}
std::barrier steps(kThreads, end_step);

void work(int thread) {
  ready.arrive_and_wait();
  for (int i = 0; i < steps_to_do; ++i) {
    places.acquire();
    const int now = inside.fetch_add(1) + 1;
    if (now > most_inside.load()) most_inside.store(now);
    inside.fetch_sub(1);
    places.release();
    volatile long& sum = sums[thread].value;
    for (int round = 0; round < kRounds; ++round) sum = sum + round;
    steps.arrive_and_wait();
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) steps_to_do *= std::atoi(arguments[1]);
  int seen = 0;
  {
    std::jthread watcher([&seen] {
      while (seen < steps_to_do) {
        step.wait(seen, std::memory_order_acquire);
        seen = step.load(std::memory_order_acquire);
      }
    });
    std::vector<std::jthread> workers;
    for (int thread = 0; thread < kThreads; ++thread) workers.emplace_back(work, thread);
  }
  long all = 0;
  for (const Sum& sum : sums) all += sum.value;
  std::printf("sum %ld, steps %d, seen %d, at most two inside: %d\n", all, step.load(), seen, most_inside.load() <= 2);
}
