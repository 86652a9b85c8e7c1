#include "commands/advise/byte_use.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

#include "models/machine_layout.hpp"
#include "models/memory/homes.hpp"
#include "models/memory/line_store.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/replay/places.hpp"
#include "workloads/replay/replay.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

using trace::Kind;
using trace::Operation;

struct Access {
  std::uint32_t object = trace::kNone;
  std::int64_t offset = 0, bytes = 0;
  int times = 1;  // at consecutive addresses
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

// Returns an access to a lock's word in an object. Every lock algorithm writes there when it acquires or releases the lock.
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

// Returns the thread of each stream. A handler's stream belongs to the thread that it interrupts.
std::vector<std::uint32_t> threads_of(const std::vector<trace::Stream>& streams) {
  std::vector<std::uint32_t> threads(streams.size());
  for (std::uint32_t stream = 0; stream < streams.size(); ++stream) {
    threads[stream] = stream;
    if (streams[stream].vector < 0) continue;
    const auto interrupted = std::ranges::find_if(
        streams, [&](const trace::Stream& other) { return other.vector < 0 && other.cpu == streams[stream].cpu; });
    if (interrupted != streams.end()) threads[stream] = static_cast<std::uint32_t>(interrupted - streams.begin());
  }
  return threads;
}

// The states of granules, units of 16 bytes that accesses don't cross. Only accessed granules are stored, because an object
// can be far larger than its used parts.
class Granules {
 public:
  static constexpr std::int64_t kBytes = 16;

  explicit Granules(const std::vector<trace::Object>& objects) {
    std::uint64_t next = 0;
    for (const trace::Object& object : objects) {
      first_.push_back(next);
      next += static_cast<std::uint64_t>((object.size + kBytes - 1) / kBytes);
    }
    recent_.fill({~std::uint64_t{0}, nullptr});
  }

  [[nodiscard]] std::uint64_t number(std::uint32_t object, std::int64_t offset) const {
    return first_[object] + static_cast<std::uint64_t>(offset / kBytes);
  }

  // Returns a granule's state; 0 if it was never accessed.
  std::uint32_t& state(std::uint64_t number) {
    auto& [known, chunk] = recent_[number / kChunk % kRecent];
    if (known != number / kChunk) {
      known = number / kChunk;
      chunk = &chunks_[known];  // remains valid, because chunks never move
    }
    return (*chunk)[number % kChunk];
  }

  // Calls use(object, offset, state) for each granule whose state is not 0, in order.
  template <class Use>
  void each(Use&& use) {
    for (auto& [chunk, states] : chunks_) {
      for (std::uint64_t i = 0; i < kChunk; ++i) {
        if (states[i] == 0) continue;
        const std::uint64_t number = chunk * kChunk + i;
        const auto object = std::prev(std::ranges::upper_bound(first_, number)) - first_.begin();
        use(static_cast<std::uint32_t>(object), static_cast<std::int64_t>(number - first_[object]) * kBytes, states[i]);
      }
    }
  }

 private:
  static constexpr std::uint64_t kChunk = 256;
  static constexpr std::size_t kRecent = 1024;
  using Chunk = std::array<std::uint32_t, kChunk>;
  std::vector<std::uint64_t> first_;  // by object: the number of its first granule
  std::map<std::uint64_t, Chunk> chunks_;
  std::array<std::pair<std::uint64_t, Chunk*>, kRecent> recent_{};
};

// Bits in the state of a granule or a line. The lower bits are 1 + the number of the first thread that used it.
constexpr std::uint32_t kSeveral = 1U << 31, kWritten = 1U << 30, kOnALine = 1U << 29, kThread = kOnALine - 1;

bool matters(std::uint32_t state) {
  return (state & kSeveral) != 0 && (state & kWritten) != 0;
}

std::uint32_t with_use(std::uint32_t state, std::uint32_t thread, bool writes) {
  if (state == 0) state = thread + 1;
  if ((state & kThread) != thread + 1) state |= kSeveral;
  return writes ? state | kWritten : state;
}

std::uint32_t together(std::uint32_t a, std::uint32_t b) {
  if (a == 0) return b;
  return with_use(a, (b & kThread) - 1, (b & kWritten) != 0) | (b & kSeveral);
}

std::uint64_t line_of(const ObjectPlaces& places, std::uint32_t object, std::int64_t offset) {
  return (places.begin[object] + static_cast<std::uint64_t>(offset)) / static_cast<std::uint64_t>(places.line_bytes);
}

ThreadUse& use_of(std::vector<ThreadUse>& uses, std::uint32_t thread) {
  const auto known = std::ranges::find_if(uses, [&](const ThreadUse& use) { return use.thread == thread; });
  return known != uses.end() ? *known : uses.emplace_back(ThreadUse{thread});
}

// Merges overlapping pieces, so that each access covers whole pieces.
void join_overlapping(std::vector<PieceUse>& pieces) {
  std::ranges::sort(pieces, {}, [](const PieceUse& piece) { return std::tuple(piece.object, piece.offset, piece.bytes); });
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

// True if several threads may use the pieces that begin on a line, and one of them writes.
bool matter(const std::vector<PieceUse>& pieces) {
  std::uint32_t state = 0;
  for (const PieceUse& piece : pieces) {
    for (const ThreadUse& use : piece.threads) state = with_use(state, use.thread, use.writes > 0);
  }
  return matters(state);
}

class ByteUses {
 public:
  explicit ByteUses(const std::vector<trace::Object>& objects) : granules_(objects) {}

  // First pass: notes which threads access each granule.
  void look(std::uint32_t thread, const Access& access) {
    std::uint64_t granule = granules_.number(access.object, access.offset);
    const std::uint64_t last = granules_.number(access.object, access.offset + access.bytes * access.times - 1);
    for (; granule <= last; ++granule) {
      std::uint32_t& state = granules_.state(granule);
      state = with_use(state, thread, access.writes);
    }
  }

  // Runs between the passes, once for each placement: marks the granules on lines that several threads may use and one may
  // write. A granule that spans two lines counts as used on both.
  void choose(const ObjectPlaces& places) {
    std::unordered_map<std::uint64_t, std::uint32_t> lines;
    const auto each_line = [&](std::uint32_t object, std::int64_t offset, const auto& use) {
      if (places.begin[object] == ObjectPlaces::kNowhere) return;
      const std::uint64_t first = line_of(places, object, offset);
      const std::uint64_t last = line_of(places, object, offset + Granules::kBytes - 1);
      for (std::uint64_t line = first; line <= last; ++line) use(lines[line]);
    };
    granules_.each([&](std::uint32_t object, std::int64_t offset, std::uint32_t state) {
      each_line(object, offset, [state](std::uint32_t& line) { line = together(line, state); });
    });
    granules_.each([&](std::uint32_t object, std::int64_t offset, std::uint32_t& state) {
      each_line(object, offset, [&state](std::uint32_t line) { state |= matters(line) ? kOnALine : 0; });
    });
  }

  // Second pass: how often?
  void count(std::uint32_t thread, const Access& access) {
    for (int i = 0; i < access.times; ++i) {
      const std::int64_t offset = access.offset + i * access.bytes;
      const std::uint64_t granule = granules_.number(access.object, offset);
      if ((granules_.state(granule) & kOnALine) == 0) continue;
      const auto [number, is_new] = numbers_.try_emplace(granule, pieces_.size());
      if (is_new) pieces_.emplace_back();
      std::vector<PieceUse>& pieces = pieces_[number->second];
      auto piece = std::ranges::find_if(
          pieces, [&](const PieceUse& known) { return known.offset == offset && known.bytes == access.bytes; });
      if (piece == pieces.end()) piece = pieces.insert(pieces.end(), {access.object, offset, access.bytes, {}});
      ThreadUse& use = use_of(piece->threads, thread);
      use.reads += access.reads ? 1 : 0;
      use.writes += access.writes ? 1 : 0;
    }
  }

  [[nodiscard]] std::vector<LineUsers> on_lines_of(const ObjectPlaces& places) const {
    std::vector<std::pair<std::uint64_t, const PieceUse*>> by_line;
    for (const std::vector<PieceUse>& pieces : pieces_) {
      for (const PieceUse& piece : pieces) {
        if (places.begin[piece.object] != ObjectPlaces::kNowhere)
          by_line.emplace_back(line_of(places, piece.object, piece.offset), &piece);
      }
    }
    std::ranges::sort(by_line, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<LineUsers> users;
    for (auto piece = by_line.begin(); piece != by_line.end();) {
      LineUsers on_line{piece->first, {}};
      for (; piece != by_line.end() && piece->first == on_line.line; ++piece) on_line.pieces.push_back(*piece->second);
      if (!matter(on_line.pieces)) continue;
      join_overlapping(on_line.pieces);
      users.push_back(std::move(on_line));
    }
    return users;
  }

 private:
  Granules granules_;
  std::vector<std::vector<PieceUse>> pieces_;               // one list of pieces per granule
  std::unordered_map<std::uint64_t, std::size_t> numbers_;  // of granules in pieces_
};

// Tells when the program's first thread is alone. What it does then disturbs no other thread, for example setting up their
// data. At the start it is alone until it creates a thread. Later it is alone once all threads have ended, which is only
// known if it created all of them itself.
class Solitude {
 public:
  explicit Solitude(const trace::Reader& reader) {
    const auto& streams = reader.symbols().streams;
    const auto is_first = [](const trace::Stream& stream) { return !stream.created; };
    if (std::ranges::count_if(streams, is_first) != 1) return;
    first_ = static_cast<std::uint32_t>(std::ranges::find_if(streams, is_first) - streams.begin());
    created_ = streams.size() - 1;
  }

  // Takes a stream's next operation.
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
void each_access(const trace::Reader& reader, const Visit& visit) {
  const std::vector<std::uint32_t> threads = threads_of(reader.symbols().streams);
  Solitude solitude(reader);
  for (std::uint32_t stream = 0; stream < threads.size(); ++stream) {
    trace::Reader::Cursor cursor = reader.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const Operation& operation : frame) {
        solitude.take(stream, operation);
        const Access access = access_of(operation, reader.symbols());
        if ((access.reads || access.writes) && !solitude.is_alone(stream)) visit(threads[stream], access);
      }
    }
  }
}

}  // namespace

std::vector<std::vector<LineUsers>> lines_of_several_threads(const trace::Reader& reader,
                                                             std::span<const ObjectPlaces> placements) {
  ByteUses uses(reader.symbols().objects);
  each_access(reader, [&uses](std::uint32_t thread, const Access& access) { uses.look(thread, access); });
  for (const ObjectPlaces& places : placements) uses.choose(places);
  each_access(reader, [&uses](std::uint32_t thread, const Access& access) { uses.count(thread, access); });
  std::vector<std::vector<LineUsers>> lines;
  for (const ObjectPlaces& places : placements) lines.push_back(uses.on_lines_of(places));
  return lines;
}

ObjectPlaces object_places(const trace::Reader& reader, const SimulationInput& input) {
  LineStore store(input.machine.caches.back().line_bytes);
  const MachineLayout layout = lay_out(input.machine);
  Homes homes(input.machine, layout, store.line_bytes());
  AddressSpace memory(store, &homes, input.placement);
  LockSet locks(memory, input.machine.cpus, layout.cpus);
  const ReplayPlaces::Choices choices{.algorithm_of = recorded_algorithm,
                                      .home_of = [](const trace::Object& object) { return home_of(object.home); },
                                      .memory = {.heap_shift = heap_shift_of(input.parameters)}};
  const WorkloadSetup setting{memory, locks, input.machine, layout, input.seed, nullptr, &reader};
  const ReplayPlaces places(reader.symbols(), setting, choices);
  ObjectPlaces out{store.line_bytes(), {}};
  for (std::uint32_t object = 0; object < reader.symbols().objects.size(); ++object)
    out.begin.push_back(memory.frames().to_virtual(places.at(object, 0, 0)));
  return out;
}

}  // namespace linebounce::sim
