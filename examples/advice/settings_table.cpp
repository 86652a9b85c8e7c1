// Four threads rate samples by settings from a table, which one of them changes now and then.
//
// No cure: the table has a lock for readers and writers, which a thread takes once per 500 samples.
//
// expect: bottleneck values
#include <array>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

constexpr unsigned threads = 4, rounds = 15, samples = 500, channels = 16;

class Settings {
 public:
  [[nodiscard]] unsigned at(unsigned number) const {
    const std::shared_lock lock(mutex_);
    return values_[number % values_.size()];
  }

  void set(unsigned number, unsigned value) {
    const std::unique_lock lock(mutex_);
    values_[number % values_.size()] = value;
  }

 private:
  alignas(64) mutable std::shared_mutex mutex_;
  alignas(64) std::array<unsigned, 64> values_{};
};

Settings settings;

// Each sample is one line; the rating of its first channel is stored in its last one.
alignas(64) unsigned values[threads][rounds * samples][channels];

void rate(unsigned thread) {
  for (unsigned round = 0; round < rounds; round++) {
    if (thread == 0 && round == rounds / 2) settings.set(round, 3);
    const unsigned limit = settings.at(round);
    for (unsigned i = round * samples; i < (round + 1) * samples; i++) {
      unsigned* sample = values[thread][i];
      sample[channels - 1] = sample[0] < limit ? 1 : 2;
    }
  }
}

}  // namespace

int main() {
  std::vector<std::thread> running;
  running.reserve(threads);
  for (unsigned i = 0; i < threads; i++) running.emplace_back(rate, i);
  for (std::thread& thread : running) thread.join();
  unsigned sum = 0;
  for (const auto& of_thread : values) sum += of_thread[rounds * samples - 1][channels - 1];
  std::printf("%u\n", sum);
}
