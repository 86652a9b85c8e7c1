#include "trace/profile.hpp"

namespace linebounce::trace {
namespace {

class Counter {
 public:
  explicit Counter(const Reader& reader)
      : reader_(reader), seen_(reader.symbols().objects.size()), seen_locks_(reader.symbols().locks.size(), kNone) {
    counts_.streams.resize(reader.symbols().streams.size());
    counts_.objects.resize(seen_.size());
    counts_.locks.resize(seen_locks_.size());
    counts_.entries.resize(reader.symbols().functions.size());
  }

  Profile run() {
    for (std::uint32_t stream = 0; stream < counts_.streams.size(); ++stream) {
      stream_ = stream;
      Reader::Cursor cursor = reader_.open(stream);
      for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
        for (const Operation& operation : frame) count(operation);
      }
      counts_.streams[stream].operations = reader_.operations(stream);
    }
    return std::move(counts_);
  }

 private:
  // For an object: the last stream that accessed it, and the last that wrote it.
  struct Seen {
    std::uint32_t touched = kNone, written = kNone;
  };

  void count(const Operation& it) {
    ++counts_.kinds[static_cast<std::size_t>(it.kind)];
    switch (it.kind) {
      case Kind::load:
      case Kind::store:
      case Kind::exchange:
      case Kind::fetch_add:
      case Kind::compare_exchange: count_access(it); break;
      case Kind::enter:
        if (it.id < counts_.entries.size()) ++counts_.entries[it.id];
        break;
      case Kind::acquire:
      case Kind::try_acquire: count_lock(it, &Profile::OfLock::acquisitions); break;
      case Kind::acquire_shared:
      case Kind::try_acquire_shared: count_lock(it, &Profile::OfLock::shared); break;
      default: break;
    }
  }

  void count_access(const Operation& it) {
    if (it.id >= counts_.objects.size()) return;
    const auto accesses = static_cast<std::uint64_t>(it.repeats()) + 1;
    counts_.streams[stream_].accesses += accesses;
    Profile::OfObject& object = counts_.objects[it.id];
    (it.kind == Kind::load ? object.loads : it.kind == Kind::store ? object.writes : object.atomics) += accesses;
    Seen& seen = seen_[it.id];
    if (seen.touched != stream_) ++object.streams;
    seen.touched = stream_;
    if (it.kind == Kind::load) return;
    if (seen.written != stream_) ++object.writers;
    seen.written = stream_;
  }

  void count_lock(const Operation& it, std::uint64_t Profile::OfLock::*kind) {
    if (it.id >= counts_.locks.size()) return;
    Profile::OfLock& lock = counts_.locks[it.id];
    if (seen_locks_[it.id] != stream_) ++lock.streams;
    seen_locks_[it.id] = stream_;
    if ((it.flags & kFailed) != 0) {
      ++lock.failed;
    } else {
      ++(lock.*kind);
      ++counts_.streams[stream_].acquisitions;
    }
  }

  const Reader& reader_;
  Profile counts_;
  std::uint32_t stream_ = 0;
  std::vector<Seen> seen_;
  std::vector<std::uint32_t> seen_locks_;
};

}  // namespace

Profile profile(const Reader& reader) {
  return Counter(reader).run();
}

}  // namespace linebounce::trace
