// Checks each operation on its own as it is read. Also counts what streams need from each other, and checks these counts at the
// end.
#include "trace/check.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "trace/error.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

// Throws an error about an operation that was read earlier.
[[noreturn]] void fail_at(const Reader& reader, const Spot& spot, const std::string& what) {
  Reader::Cursor cursor = reader.open(spot.stream);
  std::uint64_t end = 0;
  while (end <= spot.operation) end += cursor.frame().size();
  throw TraceError(cursor.place(spot.operation) + ": " + what);
}

// Checks the streams in several threads, without saying what is wrong.
class SoundStreams {
 public:
  SoundStreams(const Reader& reader, const std::function<void()>& each_frame)
      : reader_(reader), each_frame_(each_frame), supplies_(reader.symbols()) {}

  // Returns false if anything is wrong, or if `each_frame` has thrown.
  bool check(std::size_t workers) {
    {
      std::vector<std::jthread> threads;
      try {
        while (threads.size() + 1 < workers) threads.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        // Ignored: under a limit on threads, fewer of them do all.
      }
      work();
    }
    return is_sound_ && !supplies_.first_debt();
  }

 private:
  void work() try {
    Supplies supplies(reader_.symbols());
    for (std::size_t stream = 0; is_sound_ && (stream = next_++) < reader_.symbols().streams.size();) {
      const SoundPart sound = sound_part(reader_, static_cast<std::uint32_t>(stream), supplies, each_frame_);
      if (!sound.why.empty() || sound.unended.latest_lock() != nullptr) is_sound_ = false;
    }
    const std::lock_guard held(lock_);
    if (!supplies_.add(supplies)) is_sound_ = false;
  } catch (...) {
    is_sound_ = false;
  }

  const Reader& reader_;
  const std::function<void()>& each_frame_;
  std::atomic<std::size_t> next_ = 0;  // the first stream that no thread has begun with
  std::atomic<bool> is_sound_ = true;
  std::mutex lock_;
  Supplies supplies_;  // under the lock
};

// Checks one stream after the other, and says where the first fault is.
void check_in_order(const Reader& reader, const std::function<void()>& each_frame) {
  const Symbols& symbols = reader.symbols();
  const bool is_whole = reader.damage().empty();
  Supplies supplies(symbols);
  for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) {
    const SoundPart sound = sound_part(reader, stream, supplies, each_frame);
    if (!sound.why.empty()) throw TraceError(sound.why);
    const std::string* const lock = sound.unended.latest_lock();
    if (!is_whole || lock == nullptr) continue;
    fail_at(reader, {stream, sound.operations - 1}, "the stream ends here and holds " + *lock);
  }
  if (!is_whole) return;
  if (const auto debt = supplies.first_debt()) fail_at(reader, debt->where, debt->what);
}

}  // namespace

SoundPart sound_part(const Reader& reader, std::uint32_t stream, Supplies& supplies, const std::function<void()>& each_frame) {
  Reader::Cursor cursor = reader.open(stream);
  StreamRules rules(reader.symbols(), stream);
  Spot at{stream, 0};
  std::string why;
  try {
    const auto next = [&] {
      if (each_frame) each_frame();
      return cursor.frame();
    };
    for (auto frame = next(); !frame.empty(); frame = next()) {
      for (const Operation& operation : frame) {
        rules.follow(operation);
        supplies.count(at, operation);
        ++at.operation;
      }
    }
  } catch (const FormatError& error) {
    why = cursor.place(at.operation) + ": " + error.what();
  }
  return {at.operation, rules.unended(), why};
}

void check(const Reader& reader, const std::function<void()>& each_frame) {
  const std::size_t workers = std::min<std::size_t>(std::thread::hardware_concurrency(), reader.symbols().streams.size());
  if (workers > 1 && reader.damage().empty() && SoundStreams(reader, each_frame).check(workers)) return;
  check_in_order(reader, each_frame);
}

}  // namespace linebounce::trace
