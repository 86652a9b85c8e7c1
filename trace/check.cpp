// The rules that one operation can break are looked at as it comes. What streams owe each other is counted, and looked at when
// all have been read: the order between streams is not known here, only how often anything happens at all.
#include "trace/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/kinds.hpp"

namespace linebounce::trace {

namespace {

constexpr std::uint32_t kMostNumbers = 1 << 16;  // of CPUs and of vectors

struct Spot {
  std::uint32_t stream = kNone;
  std::uint64_t operation = 0;
};

// What the trace has of something, the most that anybody waits for, and where.
struct Supply {
  std::uint64_t count = 0;
  std::uint64_t demand = 0;
  Spot where;
};

// What one stream holds and is in, so far.
struct Progress {
  struct Held {
    std::uint32_t lock;
    bool shared;
  };
  std::vector<Held> held;
  std::uint64_t functions = 0;
  bool in_handler = false;
  bool awaits_several = false;  // the last await goes on with the next
};

class Check {
 public:
  explicit Check(const Reader& reader)
      : reader_(reader),
        symbols_(reader.symbols()),
        is_whole_(reader.damage().empty()),
        events_(symbols_.events.size()),
        words_(symbols_.words.size()),
        arrivals_(symbols_.barriers.size()),
        arrivals_of_(symbols_.barriers.size()),
        creations_(symbols_.streams.size()),
        joins_(symbols_.streams.size()) {
    for (std::uint32_t id = 0; id < symbols_.words.size(); ++id) {
      word_at_[{symbols_.words[id].object, static_cast<std::uint64_t>(symbols_.words[id].offset)}] = id;
    }
  }

  // Ends streams where they make no sense; true: one that did not end there before.
  bool end_streams(Reader& reader) {
    bool any = false;
    for (std::uint32_t stream = 0; stream < symbols_.streams.size(); ++stream) {
      std::string why;
      try {
        follow_stream(stream);
      } catch (const TraceError& error) {
        why = error.what();
      }
      if (why.empty() && progress_.held.empty()) continue;
      reader.end_stream(stream, at_.operation, releases(), why);
      any = true;
    }
    return any;
  }

  // The same of streams that wait for what does not come. REQUIRES: end_streams() found nothing.
  bool end_waiting(Reader& reader) {
    bool any = false;
    for (std::uint32_t stream = 0; stream < symbols_.streams.size(); ++stream) {
      progress_ = {};
      at_ = {stream, 0};
      come_.assign(symbols_.barriers.size(), 0);
      const std::string why = first_unpaid(reader.open(stream));
      if (why.empty()) continue;
      reader.end_stream(stream, at_.operation, releases(), why);
      any = true;
    }
    return any;
  }

  void run() {
    for (std::uint32_t stream = 0; stream < symbols_.streams.size(); ++stream) check_stream(stream);
    if (is_whole_) check_debts();
  }

 private:
  // Where it first waits for too much; empty: nowhere.
  std::string first_unpaid(Reader::Cursor cursor) {
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const Operation& it : frame) {
        if (it.kind == Kind::barrier) ++come_[it.id];
        const std::string what = unpaid(it);
        if (!what.empty()) return cursor.place(at_.operation) + ": " + what;
        hold(it);
        ++at_.operation;
      }
    }
    return "";
  }

  [[nodiscard]] std::string unpaid(const Operation& it) const {
    const auto text = [&it](std::uint64_t wanted, const Supply& supply) {
      return wanted <= supply.count ? std::string()
                                    : fmt::format("{} for {}; the trace has {}", facts_of(it.kind).name, wanted, supply.count);
    };
    if (it.kind == Kind::wait) return text(it.argument, events_[it.id]);
    if (it.kind == Kind::await && (it.flags & kPaired) == 0) return text(it.argument, words_[it.id]);
    if (it.kind == Kind::barrier && come_[it.id] > meetings(it.id)) return "barrier to which the others do not come any more";
    if (it.kind == Kind::join && symbols_.streams[it.id].created && !creations_[it.id]) return "join of what nobody creates";
    if (it.kind == Kind::sleep) {
      const auto wakes = wakes_.find(static_cast<std::uint32_t>(symbols_.streams[at_.stream].cpu));
      return text(it.argument, wakes == wakes_.end() ? Supply{} : wakes->second);
    }
    return "";
  }

  // How often all of a barrier's parties come. Where they are not always the same streams, it is not known who comes with whom.
  [[nodiscard]] std::uint64_t meetings(std::uint32_t barrier) const {
    const auto parties = static_cast<std::uint64_t>(symbols_.barriers[barrier].parties);
    const std::map<std::uint32_t, std::uint64_t>& streams = arrivals_of_[barrier];
    if (streams.size() != parties) return streams.size() < parties ? 0 : arrivals_[barrier].count;
    return std::min_element(streams.begin(), streams.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
        ->second;
  }

  // What the stream holds at this place, given back, the latest first.
  [[nodiscard]] std::vector<Operation> releases() const {
    std::vector<Operation> last;
    for (auto held = progress_.held.rbegin(); held != progress_.held.rend(); ++held) {
      Operation release;
      release.kind = held->shared ? Kind::release_shared : Kind::release;
      release.id = held->lock;
      last.push_back(release);
    }
    return last;
  }

  void check_stream(std::uint32_t stream) {
    follow_stream(stream);
    if (is_whole_ && !progress_.held.empty()) {
      --at_.operation;
      fail(fmt::format("the stream ends here and holds {}", symbols_.locks[progress_.held.back().lock].name));
    }
  }

  void follow_stream(std::uint32_t stream) {
    cursor_.emplace(reader_.open(stream));
    at_ = {stream, 0};
    progress_ = {};
    for (auto frame = cursor_->frame(); !frame.empty(); frame = cursor_->frame()) {
      for (const Operation& operation : frame) {
        check_operation(operation);
        ++at_.operation;
      }
    }
  }

  void check_operation(const Operation& operation) {
    const KindFacts& facts = facts_of(operation.kind);
    const std::uint16_t legal = facts.repeats ? facts.flags | (kMostRepeats << kRepeatShift) : facts.flags;
    if ((operation.flags & ~legal) != 0) {
      fail(fmt::format("{} has flags {:#x}; legal: {:#x}", facts.name, operation.flags, legal));
    }
    if (operation.is_memory()) {
      check_access(operation);
    } else {
      check_other(operation, facts);
    }
  }

  void check_access(const Operation& it) {
    if (it.id >= symbols_.objects.size()) undefined(it, "objects", symbols_.objects.size());
    const auto size = static_cast<std::uint64_t>(symbols_.objects[it.id].size);
    const std::uint64_t bytes = it.bytes;
    if (bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0) {
      fail(fmt::format("{} of {} bytes; legal: 1, 2, 4, 8", facts_of(it.kind).name, bytes));
    }
    const std::uint64_t all = bytes * (static_cast<std::uint64_t>(it.repeats()) + 1);
    if (it.argument > size || all > size - it.argument) outside(it, all);
    if (it.argument % bytes != 0) {
      fail(fmt::format("{} of {} bytes at {} of {} is not naturally aligned", facts_of(it.kind).name, bytes, it.argument,
                       symbols_.objects[it.id].name));
    }
    if ((it.flags & kCounted) != 0) count_write(it);
  }

  void count_write(const Operation& it) {
    const auto word = word_at_.find({it.id, it.argument});
    if (word == word_at_.end()) {
      const std::string place = symbols_.place_name(it.id, static_cast<std::int64_t>(it.argument));
      fail(fmt::format("counted write of {}, which is no word that is awaited", place));
    }
    if ((it.flags & kFailed) == 0) ++words_[word->second].count;
  }

  void check_other(const Operation& it, const KindFacts& facts) {
    switch (facts.names) {
      case Names::function: require(it, "functions", symbols_.functions.size()); break;
      case Names::lock: require(it, "locks", symbols_.locks.size()); break;
      case Names::barrier: require(it, "barriers", symbols_.barriers.size()); break;
      case Names::word: require(it, "words", symbols_.words.size()); break;
      case Names::event: require(it, "events", symbols_.events.size()); break;
      case Names::stream: require(it, "streams", symbols_.streams.size()); break;
      case Names::cpu: require(it, "CPUs", kMostNumbers); break;
      case Names::vector: require(it, "vectors", kMostNumbers); break;
      default: break;
    }
    follow(it);
  }

  void follow(const Operation& it) {
    hold(it);
    switch (it.kind) {
      case Kind::enter: ++progress_.functions; break;
      case Kind::leave:
        if (progress_.functions-- == 0) fail("leave: the stream is in no function");
        break;
      case Kind::handler: turn_handler(true); break;
      case Kind::handler_end: turn_handler(false); break;
      case Kind::signal: ++events_[it.id].count; break;
      case Kind::wait: demand(events_[it.id], it.argument); break;
      case Kind::await: await(it); break;
      case Kind::wake: ++wakes_[it.id].count; break;
      case Kind::sleep: sleep(it.argument); break;
      case Kind::barrier: arrive(it.id); break;
      case Kind::create: create(it.id); break;
      case Kind::join: join(it.id); break;
      default: break;
    }
  }

  void hold(const Operation& it) {
    const bool failed = (it.flags & kFailed) != 0;
    switch (it.kind) {
      case Kind::acquire: take(it.id, false); break;
      case Kind::acquire_shared: take(it.id, true); break;
      case Kind::try_acquire:
        if (!failed) take(it.id, false);
        break;
      case Kind::try_acquire_shared:
        if (!failed) take(it.id, true);
        break;
      case Kind::release: give_back(it.id, false); break;
      case Kind::release_shared: give_back(it.id, true); break;
      default: break;
    }
  }

  void take(std::uint32_t lock, bool shared) {
    for (const Progress::Held& held : progress_.held) {
      if (held.lock != lock || (held.shared && shared)) continue;
      fail(fmt::format("{} of {}, which the stream holds", shared ? "acquire_shared" : "acquire", symbols_.locks[lock].name));
    }
    progress_.held.push_back({lock, shared});
  }

  void give_back(std::uint32_t lock, bool shared) {
    std::vector<Progress::Held>& all = progress_.held;
    const auto is_it = [lock, shared](const Progress::Held& held) { return held.lock == lock && held.shared == shared; };
    const auto latest = std::find_if(all.rbegin(), all.rend(), is_it);
    if (latest == all.rend()) {
      fail(fmt::format("{} of {}, which the stream does not hold{}", shared ? "release_shared" : "release",
                       symbols_.locks[lock].name, shared ? " shared" : ""));
    }
    all.erase(std::prev(latest.base()));
  }

  void turn_handler(bool begins) {
    if (symbols_.streams[at_.stream].vector < 0) fail("a handler in a stream that has no vector");
    if (begins == progress_.in_handler)
      fail(begins ? "handler: the last one has not ended" : "handler_end: there is no handler");
    progress_.in_handler = begins;
  }

  void sleep(std::uint64_t wakes) {
    const int cpu = symbols_.streams[at_.stream].cpu;
    if (cpu < 0) fail("sleep in a stream that has no CPU");
    demand(wakes_[static_cast<std::uint32_t>(cpu)], wakes);
  }

  // Of several words that are awaited together any one is enough.
  void await(const Operation& it) {
    const bool goes_on = (it.flags & kPaired) != 0;
    if (!goes_on && !progress_.awaits_several) demand(words_[it.id], it.argument);
    progress_.awaits_several = goes_on;
  }

  void demand(Supply& supply, std::uint64_t count) {
    if (count <= supply.demand) return;
    supply.demand = count;
    supply.where = at_;
  }

  void arrive(std::uint32_t barrier) {
    ++arrivals_[barrier].count;
    ++arrivals_of_[barrier][at_.stream];
    arrivals_[barrier].where = at_;
  }

  void create(std::uint32_t stream) {
    const std::string name = fmt::format("create of stream {} ({})", stream, symbols_.streams[stream].name);
    if (!symbols_.streams[stream].created) fail(name + ", which begins with the trace");
    if (creations_[stream]) fail(name + ", which has been created");
    creations_[stream] = true;
  }

  void join(std::uint32_t stream) {
    if (stream == at_.stream) fail("join of the stream itself");
    if (joins_[stream].stream == kNone) joins_[stream] = at_;
  }

  void check_debts() const {
    for (std::uint32_t id = 0; id < events_.size(); ++id) {
      require_paid(events_[id], "wait", fmt::format("signals of {}", symbols_.events[id].name));
    }
    for (std::uint32_t id = 0; id < words_.size(); ++id) {
      const Word& word = symbols_.words[id];
      require_paid(words_[id], "await", "counted writes of " + symbols_.place_name(word.object, word.offset));
    }
    for (const auto& [cpu, supply] : wakes_) require_paid(supply, "sleep", fmt::format("wake-ups of CPU {}", cpu));
    for (std::uint32_t id = 0; id < arrivals_.size(); ++id) check_barrier(id);
    for (std::uint32_t id = 0; id < creations_.size(); ++id) check_created(id);
  }

  void require_paid(const Supply& supply, std::string_view kind, const std::string& what) const {
    if (supply.demand <= supply.count) return;
    fail_at(supply.where, fmt::format("{} for {} {}; the trace has {}", kind, supply.demand, what, supply.count));
  }

  void check_barrier(std::uint32_t id) const {
    const Barrier& barrier = symbols_.barriers[id];
    const std::uint64_t arrivals = arrivals_[id].count;
    if (arrivals % static_cast<std::uint64_t>(barrier.parties) == 0) return;
    fail_at(arrivals_[id].where, fmt::format("the last to come to barrier {}, to which streams come {} times in all; legal: "
                                             "multiples of its {} parties",
                                             barrier.name, arrivals, barrier.parties));
  }

  void check_created(std::uint32_t id) const {
    if (!symbols_.streams[id].created || creations_[id]) return;
    const std::string name = fmt::format("stream {} ({})", id, symbols_.streams[id].name);
    if (joins_[id].stream != kNone) fail_at(joins_[id], fmt::format("join of {}, which nobody creates", name));
    if (reader_.operations(id) > 0) fail_at({id, 0}, "the stream is one that is created, and nobody creates it");
  }

  void require(const Operation& it, std::string_view what, std::size_t count) const {
    if (it.id >= count) undefined(it, what, count);
  }

  [[noreturn]] void undefined(const Operation& it, std::string_view what, std::size_t count) const {
    fail(fmt::format("{} names number {} of {} {}", facts_of(it.kind).name, it.id, count, what));
  }

  [[noreturn]] void outside(const Operation& it, std::uint64_t bytes) const {
    const Object& object = symbols_.objects[it.id];
    fail(fmt::format("{} of {} bytes at {} of {}, which has {}", facts_of(it.kind).name, bytes, it.argument, object.name,
                     object.size));
  }

  [[noreturn]] void fail(const std::string& what) const { throw TraceError(cursor_->place(at_.operation) + ": " + what); }

  // Of an operation that has been read before.
  [[noreturn]] void fail_at(const Spot& spot, const std::string& what) const {
    Reader::Cursor cursor = reader_.open(spot.stream);
    std::uint64_t end = 0;
    while (end <= spot.operation) end += cursor.frame().size();
    throw TraceError(cursor.place(spot.operation) + ": " + what);
  }

  const Reader& reader_;
  const Symbols& symbols_;
  const bool is_whole_;

  // Of the stream that is being read.
  std::optional<Reader::Cursor> cursor_;
  Spot at_;
  Progress progress_;
  std::vector<std::uint64_t> come_;  // to each barrier

  // Of the whole trace.
  std::vector<Supply> events_, words_, arrivals_;
  std::vector<std::map<std::uint32_t, std::uint64_t>> arrivals_of_;  // by barrier, of each stream
  std::map<std::uint32_t, Supply> wakes_;                            // by CPU
  std::vector<bool> creations_;
  std::vector<Spot> joins_;  // the first, of each stream
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> word_at_;
};

}  // namespace

void check(const Reader& reader) {
  Check(reader).run();
}

// What one stream does not do any more, another may wait for.
void keep_what_makes_sense(Reader& reader) {
  for (bool any = true; any;) {
    Check check(reader);
    any = check.end_streams(reader) || check.end_waiting(reader);
  }
}

}  // namespace linebounce::trace
