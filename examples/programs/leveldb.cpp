// Four threads fill a LevelDB database and read it, while its own thread compacts. Usage: leveldb FOLDER [TIMES]
// Prints a sum over all that was read, and one over all that is in the database at the end: the same each time.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "leveldb/db.h"

namespace {

constexpr int kThreads = 4;
constexpr int kKeys = 100;  // for each thread
constexpr int kReads = 300;

void demand(const leveldb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "leveldb: %s\n", status.ToString().c_str());
  std::exit(1);
}

std::string key_of(int thread, int number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%d/%06d", thread, number);
  return text.data();
}

std::uint64_t sum_of(const std::string& text) {
  std::uint64_t sum = 14695981039346656037U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return sum;
}

std::uint64_t fill_and_read(leveldb::DB& database, int thread, int times) {
  std::uint64_t read = 0;
  for (int number = 0; number < times * kKeys; ++number) {
    const std::string key = key_of(thread, number);
    demand(database.Put({}, key, key + std::string(150, static_cast<char>('a' + number % 26))));
  }
  unsigned random = thread + 1U;
  for (int i = 0; i < times * kReads; ++i) {
    random = random * 1664525U + 1013904223U;
    std::string value;
    demand(database.Get({}, key_of(thread, static_cast<int>((random >> 8) % static_cast<unsigned>(times * kKeys))), &value));
    read += sum_of(value);
  }
  return read;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const int times = count > 2 ? std::atoi(arguments[2]) : 1;
  leveldb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.write_buffer_size = 64 << 10;  // small enough for compactions
  leveldb::DB* opened = nullptr;
  demand(leveldb::DB::Open(options, arguments[1], &opened));
  const std::unique_ptr<leveldb::DB> database(opened);

  std::vector<std::uint64_t> read(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&database, &read, thread, times] { read[thread] = fill_and_read(*database, thread, times); });
  }
  for (std::thread& thread : threads) thread.join();

  std::uint64_t stored = 0;
  const std::unique_ptr<leveldb::Iterator> entry(database->NewIterator({}));
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) stored += sum_of(entry->value().ToString());
  demand(entry->status());
  std::uint64_t all = 0;
  for (const std::uint64_t sum : read) all += sum;
  std::printf("read %016llx, stored %016llx\n", static_cast<unsigned long long>(all), static_cast<unsigned long long>(stored));
}
