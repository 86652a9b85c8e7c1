// Several threads log messages and one writes them. Messages pass through a queue with a lock and condition variables.
//
//   log_queue [THREADS that log] [MESSAGES of each]
//
// What it shows: for each message, a thread acquires the queue's lock, fetches its lines, and often wakes the writer. With
// -DBATCH=32 a thread collects 32 messages before it puts them into the queue.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#ifndef BATCH
#define BATCH 1
#endif

namespace {

struct Message {
  unsigned thread = 0, number = 0;
  std::array<char, 56> text{};
};

// Holds at most `places` messages. A thread that logs to a full queue waits.
class Queue {
 public:
  void put(const std::vector<Message>& messages) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return last_ - first_ + messages.size() <= places; });
    for (const Message& message : messages) ring_[last_++ % places] = message;
    not_empty_.notify_one();
  }

  // Takes all messages in the queue. None means that the log has ended.
  void take(std::vector<Message>& messages) {
    messages.clear();
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return last_ != first_ || ended_; });
    while (first_ != last_) messages.push_back(ring_[first_++ % places]);
    not_full_.notify_all();
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    not_empty_.notify_one();
  }

 private:
  static constexpr unsigned places = 256;
  std::mutex mutex_;
  std::condition_variable not_empty_, not_full_;
  unsigned first_ = 0, last_ = 0;
  bool ended_ = false;
  std::array<Message, places> ring_;
};

Queue queue;

Message formatted(unsigned thread, unsigned number) {
  Message message{thread, number, {}};
  constexpr std::string_view words = "request served in so and so many microseconds: ";
  char* end = message.text.begin();
  for (const char character : words) *end++ = character;
  for (unsigned rest = number; end != message.text.end() && rest != 0; rest /= 10) *end++ = static_cast<char>('0' + rest % 10);
  return message;
}

void log_messages(unsigned thread, unsigned messages) {
  std::vector<Message> batch;
  batch.reserve(BATCH);
  for (unsigned number = 0; number < messages; number++) {
    batch.push_back(formatted(thread, number));
    if (batch.size() < BATCH) continue;
    queue.put(batch);
    batch.clear();
  }
  if (!batch.empty()) queue.put(batch);
}

// Writes a checksum instead of the messages; returns how many messages there were.
unsigned write_messages(unsigned& sum) {
  std::vector<Message> messages;
  unsigned written = 0;
  for (queue.take(messages); !messages.empty(); queue.take(messages)) {
    for (const Message& message : messages)
      for (const char character : message.text) sum += static_cast<unsigned char>(character);
    written += messages.size();
  }
  return written;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const unsigned messages = argc > 2 ? std::atoi(argv[2]) : 500;
  unsigned written = 0, sum = 0;
  std::thread writer([&] { written = write_messages(sum); });
  std::vector<std::thread> loggers;
  for (unsigned thread = 0; thread < threads; thread++) loggers.emplace_back(log_messages, thread, messages);
  for (std::thread& logger : loggers) logger.join();
  queue.end();
  writer.join();
  std::printf("%u messages written, sum %u\n", written, sum);
  return written == threads * messages ? 0 : 1;
}
