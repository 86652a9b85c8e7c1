#include "trace/recover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "trace/check.hpp"
#include "trace/operation.hpp"
#include "trace/stream_rules.hpp"
#include "trace/supplies.hpp"

namespace linebounce::trace {
namespace {

// Finds waits that never end: runs all streams together like a replay, but without time and locks. Every stream proceeds as far
// as it can. The order of streams matters only at barriers that different streams may reach. Holds one frame of each stream in
// memory.
class Rehearsal {
 public:
  // `all`: supplies of the whole trace. REQUIRES: each stream is sound on its own, and every `created` one has its `create`.
  Rehearsal(const Reader& reader, Supplies& all);

  // Runs until no stream can proceed. May be called again after end_stuck(). Streams that are no longer `created` begin at
  // once. Errors: TraceError.
  void run();

  struct Stuck {
    std::uint32_t stream;
    std::uint64_t operation;         // the wait that never ends
    std::vector<Operation> endings;  // operations that end the stream's open locks and handler
    std::string why;                 // the reason for ending it, with its place
  };
  // Ends some waiting streams, so that the others can proceed, and removes from `all` what the ended ones would have supplied.
  // Ends the first of these groups that is not empty: streams that wait for more than the whole trace supplies; that wait for a
  // supply which comes only after another wait; that wait for a waiting stream's end; and streams that only streams created by
  // them create. Errors: TraceError.
  std::vector<Stuck> end_stuck();

 private:
  struct Actor {
    std::uint32_t stream;
    Reader::Cursor cursor;
    Unended unended;
    std::span<const Operation> frame;
    std::size_t in_frame = 0;
    std::uint64_t at = 0;
    bool created = false, ended = false;
    std::uint64_t handlers = 0;               // handlers begun
    std::optional<std::uint64_t> opens_at{};  // at a barrier: the number of arrivals that lets the stream pass
    std::vector<Operation> awaited{};         // the awaits of a group so far, until it is complete

    const Operation* next();
  };
  enum class Reason { never_comes, comes_behind, other_ends };

  [[nodiscard]] bool is_on_its_way(const Actor& actor) const;
  bool go_on(Actor& actor);
  std::vector<Stuck> never_begun();
  void end(Actor& actor);
  bool may_pass(Actor& actor, const Operation& it);
  void pass(Actor& actor, const Operation& it);
  bool may_pass_awaits(const Actor& actor) const;
  [[nodiscard]] static std::uint64_t wanted(const Actor& actor, const Operation& it);
  [[nodiscard]] const Operation& waits_at(const Actor& actor) const;
  [[nodiscard]] Reason reason_of(const Actor& actor) const;
  [[nodiscard]] std::string why(const Actor& actor) const;

  const Symbols& symbols_;
  Supplies& all_;
  Supplies so_far_;
  std::vector<Actor> actors_;
};

// The next operation; null at the stream's end.
const Operation* Rehearsal::Actor::next() {
  if (in_frame == frame.size()) {
    frame = cursor.frame();
    in_frame = 0;
  }
  return frame.empty() ? nullptr : &frame[in_frame];
}

Rehearsal::Rehearsal(const Reader& reader, Supplies& all) : symbols_(reader.symbols()), all_(all), so_far_(reader.symbols()) {
  actors_.reserve(symbols_.streams.size());
  for (std::uint32_t stream = 0; stream < symbols_.streams.size(); ++stream) {
    actors_.push_back({.stream = stream, .cursor = reader.open(stream), .unended = Unended(symbols_), .frame = {}});
  }
}

void Rehearsal::run() {
  for (bool any = true; any;) {
    any = false;
    for (Actor& actor : actors_) {
      if (is_on_its_way(actor)) any = go_on(actor) || any;
    }
  }
}

bool Rehearsal::is_on_its_way(const Actor& actor) const {
  const bool begun = actor.created || !symbols_.streams[actor.stream].created;
  return begun && !actor.ended;
}

// Runs a stream until it ends or must wait. Returns whether it got any further.
bool Rehearsal::go_on(Actor& actor) {
  bool any = false;
  for (const Operation* it = actor.next(); it != nullptr; it = actor.next()) {
    if (!may_pass(actor, *it)) return any;
    pass(actor, *it);
    any = true;
  }
  actor.ended = true;
  return true;
}

bool Rehearsal::may_pass(Actor& actor, const Operation& it) {
  switch (it.kind) {
    case Kind::await:
      if (actor.awaited.empty() || (actor.awaited.back().flags & kPaired) != 0) actor.awaited.push_back(it);
      return may_pass_awaits(actor);
    case Kind::barrier:
      if (!actor.opens_at) {
        const auto parties = static_cast<std::uint64_t>(symbols_.barriers[it.id].parties);
        actor.opens_at = (so_far_.comes(it, actor.stream) / parties + 1) * parties;
        so_far_.count({actor.stream, actor.at}, it);
      }
      break;
    case Kind::join: return !symbols_.streams[it.id].created || actors_[it.id].ended;
    case Kind::wait:
    case Kind::sleep:
    case Kind::handler: break;
    default: return true;
  }
  return wanted(actor, it) <= so_far_.comes(it, actor.stream);
}

// Of several awaited words, one is enough. An await with argument 0 only reads.
bool Rehearsal::may_pass_awaits(const Actor& actor) const {
  const auto goes_on = [](const Operation& await) { return (await.flags & kPaired) != 0; };
  const auto waits = [](const Operation& await) { return await.argument > 0; };
  const auto has_come = [this, &actor](const Operation& await) {
    return await.argument > 0 && await.argument <= so_far_.comes(await, actor.stream);
  };
  const std::vector<Operation>& group = actor.awaited;
  return goes_on(group.back()) || std::ranges::none_of(group, waits) || std::ranges::any_of(group, has_come);
}

std::uint64_t Rehearsal::wanted(const Actor& actor, const Operation& it) {
  if (it.kind == Kind::barrier) return *actor.opens_at;
  return it.kind == Kind::handler ? actor.handlers + 1 : it.argument;
}

void Rehearsal::pass(Actor& actor, const Operation& it) {
  // At a barrier, the stream's arrival was counted before it waited.
  if (it.kind != Kind::barrier) so_far_.count({actor.stream, actor.at}, it);
  actor.unended.follow(it);
  actor.opens_at.reset();
  if (it.kind == Kind::await && (it.flags & kPaired) == 0) actor.awaited.clear();
  if (it.kind == Kind::handler) ++actor.handlers;
  if (it.kind == Kind::create) actors_[it.id].created = true;
  ++actor.at;
  ++actor.in_frame;
}

// The operation that the actor waits in. REQUIRES, here and below: the actor waits.
const Operation& Rehearsal::waits_at(const Actor& actor) const {
  const Operation& it = actor.frame[actor.in_frame];
  if (it.kind != Kind::await) return it;
  return *std::ranges::find_if(actor.awaited, [](const Operation& await) { return await.argument > 0; });
}

Rehearsal::Reason Rehearsal::reason_of(const Actor& actor) const {
  const Operation& it = waits_at(actor);
  if (it.kind == Kind::join) return Reason::other_ends;
  return wanted(actor, it) > all_.comes(it, actor.stream) ? Reason::never_comes : Reason::comes_behind;
}

std::string Rehearsal::why(const Actor& actor) const {
  const Operation& it = waits_at(actor);
  const std::string place = actor.cursor.place(actor.at) + ": ";
  if (it.kind == Kind::join) return place + fmt::format("join of {}, which waits itself", symbols_.streams[it.id].name);
  const std::string what =
      fmt::format("{} for {} {}", facts_of(it.kind).name, wanted(actor, it), all_.awaited(it, actor.stream));
  if (reason_of(actor) == Reason::comes_behind) return place + what + ", which come only behind what waits itself";
  return place + fmt::format("{}; what is left has {}", what, all_.comes(it, actor.stream));
}

std::vector<Rehearsal::Stuck> Rehearsal::end_stuck() {
  auto first = Reason::other_ends;
  for (const Actor& actor : actors_) {
    if (is_on_its_way(actor)) first = std::min(first, reason_of(actor));
  }
  std::vector<Stuck> stuck;
  for (const Actor& actor : actors_) {
    if (!is_on_its_way(actor) || reason_of(actor) != first) continue;
    stuck.push_back({actor.stream, actor.at, actor.unended.endings(), why(actor)});
  }
  if (stuck.empty()) stuck = never_begun();
  for (const Stuck& each : stuck) end(actors_[each.stream]);
  return stuck;
}

// Streams that can't begin, because their creators can't either. REQUIRES: no stream waits.
std::vector<Rehearsal::Stuck> Rehearsal::never_begun() {
  std::vector<Stuck> never;
  for (Actor& actor : actors_) {
    if (actor.ended || is_on_its_way(actor) || actor.next() == nullptr) continue;
    never.push_back({actor.stream, 0, {}, actor.cursor.place(0) + ": the stream is created only by what it creates itself"});
  }
  return never;
}

void Rehearsal::end(Actor& actor) {
  if (actor.opens_at) so_far_.forget(actor.stream, waits_at(actor));  // the stream no longer arrives at the barrier
  for (const Operation* it = actor.next(); it != nullptr; it = actor.next()) {
    all_.forget(actor.stream, *it);
    ++actor.in_frame;
  }
  actor.ended = true;
}

// What a stream leaves open: "holds files, which it gives back".
std::string unfinished(const Unended& unended) {
  const std::string* const lock = unended.latest_lock();
  return lock == nullptr ? "is in a handler, which it ends" : fmt::format("holds {}, which it gives back", *lock);
}

// Ends each stream where it breaks a rule, and ends its open locks and handler there.
void end_unsound(Reader& reader, Supplies& supplies) {
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    const SoundPart sound = sound_part(reader, stream, supplies);
    if (sound.why.empty() && sound.unended.empty()) continue;
    std::string why = sound.why;
    if (why.empty()) {
      why = fmt::format("stream {} ({}) ends with operation {} and {}", stream, reader.symbols().streams[stream].name,
                        sound.operations - 1, unfinished(sound.unended));
    }
    reader.end_stream(stream, sound.operations, sound.unended.endings(), why);
  }
}

// A stream whose `create` is missing begins with the trace: when it was created is lost.
void begin_uncreated(Reader& reader, const Supplies& supplies) {
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    const Stream& facts = reader.symbols().streams[stream];
    if (!facts.created || supplies.creates(stream)) continue;
    const bool is_missed = supplies.has_operations(stream);
    reader.begin_stream(
        stream, is_missed ? fmt::format("stream {} ({}) begins with the trace: nothing creates it", stream, facts.name) : "");
  }
}

// Ends streams that wait for operations that other streams no longer make. A stream that is no longer created begins with the
// trace.
void end_waiting(Reader& reader, Supplies& supplies) {
  Rehearsal rehearsal(reader, supplies);
  for (bool again = true; again;) {
    rehearsal.run();
    const auto stuck = rehearsal.end_stuck();
    for (const Rehearsal::Stuck& each : stuck) reader.end_stream(each.stream, each.operation, each.endings, each.why);
    begin_uncreated(reader, supplies);
    again = !stuck.empty();
  }
}

}  // namespace

void keep_what_makes_sense(Reader& reader) {
  Supplies supplies(reader.symbols());
  end_unsound(reader, supplies);
  begin_uncreated(reader, supplies);
  end_waiting(reader, supplies);
}

}  // namespace linebounce::trace
