#include "sim/studies/advice/byte_use.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace linebounce::sim {

namespace {

using trace::Kind;
using trace::Operation;

struct Access {
  std::uint32_t object = trace::kNone;
  std::int64_t offset = 0, bytes = 0;
  int times = 1;  // at addresses behind each other
  bool reads = false, writes = false;
};

Access memory_access(const Operation& operation) {
  const bool failed = (operation.flags & trace::kFailed) != 0;
  Access access{operation.id, static_cast<std::int64_t>(operation.argument), operation.bytes};
  const bool plain = operation.kind == Kind::load || operation.kind == Kind::store;
  if (plain) access.times = operation.repeats() + 1;
  access.writes = operation.kind == Kind::store || operation.kind == Kind::exchange || operation.kind == Kind::fetch_add ||
                  (operation.kind == Kind::compare_exchange && !failed);
  access.reads = !access.writes;
  return access;
}

// A lock whose word lies in an object. Whatever algorithm it has, who takes it or lets it go writes there.
Access lock_access(const trace::Lock& lock) {
  return {lock.object, lock.offset, lock.word_bytes, 1, false, lock.object != trace::kNone};
}

Access access_of(const Operation& operation, const trace::Symbols& symbols) {
  if (operation.is_memory() && operation.kind != Kind::prefetch) return memory_access(operation);
  switch (operation.kind) {
    case Kind::acquire:
    case Kind::try_acquire:
    case Kind::release:
    case Kind::acquire_shared:
    case Kind::try_acquire_shared:
    case Kind::release_shared: return lock_access(symbols.locks.at(operation.id));
    default: return {};
  }
}

// A handler runs on a CPU in the place of the thread that it interrupts there.
std::vector<std::uint32_t> threads_of(const std::vector<trace::Stream>& streams) {
  std::vector<std::uint32_t> threads(streams.size());
  for (std::uint32_t stream = 0; stream < streams.size(); ++stream) {
    threads[stream] = stream;
    if (streams[stream].vector < 0) continue;
    const auto interrupted = std::find_if(streams.begin(), streams.end(), [&](const trace::Stream& other) {
      return other.vector < 0 && other.cpu == streams[stream].cpu;
    });
    if (interrupted != streams.end()) threads[stream] = static_cast<std::uint32_t>(interrupted - streams.begin());
  }
  return threads;
}

// Only lines that somebody touches: objects can be far larger than what is used of them.
class Lines {
 public:
  explicit Lines(const ObjectPlaces& places) : places_(&places) {}

  // First pass: is the line used by several, and written?
  void look(std::uint32_t thread, const Access& access, std::int64_t offset) {
    const std::uint64_t line = line_of(access.object, offset);
    std::uint32_t& state = states_[line];
    const bool mattered = matters(state);
    if ((state & kThread) == 0) state |= thread + 1;
    if ((state & kThread) != thread + 1) state |= kSeveral;
    if (access.writes) state |= kWritten;
    if (matters(state) && !mattered) chosen_.push_back({line, {}});
  }

  // Between the passes: of the lines that matter, in order, instead of their states their numbers.
  void choose() {
    states_.clear();
    std::sort(chosen_.begin(), chosen_.end(), [](const LineUsers& a, const LineUsers& b) { return a.line < b.line; });
    for (std::size_t i = 0; i < chosen_.size(); ++i) states_[chosen_[i].line] = static_cast<std::uint32_t>(i);
  }

  // Second pass.
  void count(std::uint32_t thread, const Access& access, std::int64_t offset) {
    const auto chosen = states_.find(line_of(access.object, offset));
    if (chosen == states_.end()) return;
    std::vector<PieceUse>& pieces = chosen_[chosen->second].pieces;
    auto piece = std::find_if(pieces.begin(), pieces.end(), [&](const PieceUse& known) {
      return known.object == access.object && known.offset == offset && known.bytes == access.bytes;
    });
    if (piece == pieces.end()) piece = pieces.insert(pieces.end(), {access.object, offset, access.bytes, {}});
    ThreadUse& use = use_of(piece->threads, thread);
    use.reads += access.reads ? 1 : 0;
    use.writes += access.writes ? 1 : 0;
  }

  std::vector<LineUsers> take() {
    for (LineUsers& line : chosen_) join_overlapping(line.pieces);
    return std::move(chosen_);
  }

 private:
  static constexpr std::uint32_t kSeveral = 1U << 31, kWritten = 1U << 30, kThread = kWritten - 1;

  static bool matters(std::uint32_t state) { return (state & kSeveral) != 0 && (state & kWritten) != 0; }

  [[nodiscard]] std::uint64_t line_of(std::uint32_t object, std::int64_t offset) const {
    return (places_->begin[object] + static_cast<std::uint64_t>(offset)) / static_cast<std::uint64_t>(places_->line_bytes);
  }

  static ThreadUse& use_of(std::vector<ThreadUse>& uses, std::uint32_t thread) {
    const auto known = std::find_if(uses.begin(), uses.end(), [&](const ThreadUse& use) { return use.thread == thread; });
    return known != uses.end() ? *known : uses.emplace_back(ThreadUse{thread});
  }

  // What one access covers is one piece, even if others look at parts of it.
  static void join_overlapping(std::vector<PieceUse>& pieces) {
    std::sort(pieces.begin(), pieces.end(), [](const PieceUse& a, const PieceUse& b) {
      return std::tuple(a.object, a.offset, a.bytes) < std::tuple(b.object, b.offset, b.bytes);
    });
    std::vector<PieceUse> joined;
    for (PieceUse& piece : pieces) {
      PieceUse* last = joined.empty() ? nullptr : &joined.back();
      if (last == nullptr || last->object != piece.object || last->offset + last->bytes <= piece.offset) {
        joined.push_back(std::move(piece));
        continue;
      }
      last->bytes = std::max(last->bytes, piece.offset + piece.bytes - last->offset);
      for (const ThreadUse& use : piece.threads) {
        ThreadUse& sum = use_of(last->threads, use.thread);
        sum.reads += use.reads;
        sum.writes += use.writes;
      }
    }
    pieces = std::move(joined);
  }

  const ObjectPlaces* places_;
  std::unordered_map<std::uint64_t, std::uint32_t> states_;  // by line
  std::vector<LineUsers> chosen_;
};

// Follows the stream that begins a program: while no other thread is alive, nobody can be disturbed by what it does, as by
// setting up what they will use. After they have ended that is known only if it has made all of them itself.
class Solitude {
 public:
  explicit Solitude(const trace::Reader& reader) {
    const auto& streams = reader.symbols().streams;
    const auto is_first = [](const trace::Stream& stream) { return !stream.created; };
    if (std::count_if(streams.begin(), streams.end(), is_first) != 1) return;
    first_ = static_cast<std::uint32_t>(std::find_if(streams.begin(), streams.end(), is_first) - streams.begin());
    created_ = streams.size() - 1;
  }

  // The operations of each stream in turn.
  void take(std::uint32_t stream, const Operation& operation) {
    if (stream != first_) return;
    if (operation.kind == Kind::create) ++made_;
    if (operation.kind == Kind::join) ++joined_;
  }
  [[nodiscard]] bool is_alone(std::uint32_t stream) const {
    return stream == first_ && (made_ == 0 || (made_ == joined_ && made_ == created_));
  }

 private:
  std::uint32_t first_ = trace::kNone;
  std::size_t created_ = 0, made_ = 0, joined_ = 0;
};

template <class Visit>
void each_access(const trace::Reader& reader, const ObjectPlaces& places, const Visit& visit) {
  const std::vector<std::uint32_t> threads = threads_of(reader.symbols().streams);
  Solitude solitude(reader);
  for (std::uint32_t stream = 0; stream < threads.size(); ++stream) {
    trace::Reader::Cursor cursor = reader.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const Operation& operation : frame) {
        solitude.take(stream, operation);
        const Access access = access_of(operation, reader.symbols());
        if ((!access.reads && !access.writes) || solitude.is_alone(stream)) continue;
        if (places.begin.at(access.object) == ObjectPlaces::kNowhere) continue;
        for (int i = 0; i < access.times; ++i) visit(threads[stream], access, access.offset + i * access.bytes);
      }
    }
  }
}

}  // namespace

std::vector<LineUsers> lines_of_several_threads(const trace::Reader& reader, const ObjectPlaces& places) {
  Lines lines(places);
  each_access(reader, places, [&](auto thread, const Access& access, auto offset) { lines.look(thread, access, offset); });
  lines.choose();
  each_access(reader, places, [&](auto thread, const Access& access, auto offset) { lines.count(thread, access, offset); });
  return lines.take();
}

}  // namespace linebounce::sim
