// Three threads add up batches of samples of 16 channels; one collects the sums from a queue with a lock and a condition
// variable.
//
// No cure: adding up a batch takes a hundred times as long as putting its sum into the queue.
//
// expect: bottleneck values
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr unsigned threads = 3, batches_each = 5, samples = 1000, channels = 16;

class Queue {
 public:
  void put(unsigned sum) {
    {
      const std::lock_guard lock(mutex_);
      sums_.push_back(sum);
    }
    not_empty_.notify_one();
  }

  unsigned take() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return !sums_.empty(); });
    const unsigned sum = sums_.front();
    sums_.pop_front();
    return sum;
  }

 private:
  alignas(64) std::mutex mutex_;
  std::condition_variable not_empty_;
  std::deque<unsigned> sums_;
};

Queue queue;

// Each sample is one line. The thread adds up the first channels, and stores the running sum in the sample's last channel.
alignas(64) unsigned values[threads][batches_each][samples][channels];

void add_up(unsigned thread) {
  for (auto& batch : values[thread]) {
    unsigned sum = 0;
    for (auto& sample : batch) {
      sum += sample[0] + 1;
      sample[channels - 1] = sum;
    }
    queue.put(sum);
  }
}

}  // namespace

int main() {
  std::vector<std::thread> running;
  running.reserve(threads);
  for (unsigned i = 0; i < threads; i++) running.emplace_back(add_up, i);
  unsigned sum = 0;
  for (unsigned i = 0; i < threads * batches_each; i++) sum += queue.take();
  for (std::thread& thread : running) thread.join();
  std::printf("sum %u\n", sum);
  return sum == threads * batches_each * samples ? 0 : 1;
}
