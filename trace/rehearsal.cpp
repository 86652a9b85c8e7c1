#include "trace/rehearsal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/operation_kinds.hpp"

namespace linebounce::trace {

// Null: the stream has come to its end.
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

// Until it ends or waits; true: it has come further.
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

// Of several words any one is enough; who waits for none of them only looks.
bool Rehearsal::may_pass_awaits(const Actor& actor) const {
  const auto goes_on = [](const Operation& await) { return (await.flags & kPaired) != 0; };
  const auto waits = [](const Operation& await) { return await.argument > 0; };
  const auto has_come = [this, &actor](const Operation& await) {
    return await.argument > 0 && await.argument <= so_far_.comes(await, actor.stream);
  };
  const std::vector<Operation>& group = actor.awaited;
  return goes_on(group.back()) || std::none_of(group.begin(), group.end(), waits) ||
         std::any_of(group.begin(), group.end(), has_come);
}

std::uint64_t Rehearsal::wanted(const Actor& actor, const Operation& it) {
  if (it.kind == Kind::barrier) return *actor.opens_at;
  return it.kind == Kind::handler ? actor.handlers + 1 : it.argument;
}

void Rehearsal::pass(Actor& actor, const Operation& it) {
  if (it.kind != Kind::barrier) so_far_.count({actor.stream, actor.at}, it);  // its coming has been counted
  actor.unended.follow(it);
  actor.opens_at.reset();
  if (it.kind == Kind::await && (it.flags & kPaired) == 0) actor.awaited.clear();
  if (it.kind == Kind::handler) ++actor.handlers;
  if (it.kind == Kind::create) actors_[it.id].created = true;
  ++actor.at;
  ++actor.in_frame;
}

// REQUIRES, here and below: the actor waits.
const Operation& Rehearsal::waits_at(const Actor& actor) const {
  const Operation& it = actor.frame[actor.in_frame];
  if (it.kind != Kind::await) return it;
  return *std::find_if(actor.awaited.begin(), actor.awaited.end(), [](const Operation& await) { return await.argument > 0; });
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

// REQUIRES: nobody waits. So their creators have not begun either.
std::vector<Rehearsal::Stuck> Rehearsal::never_begun() {
  std::vector<Stuck> never;
  for (Actor& actor : actors_) {
    if (actor.ended || is_on_its_way(actor) || actor.next() == nullptr) continue;
    never.push_back({actor.stream, 0, {}, actor.cursor.place(0) + ": the stream is created only by what it creates itself"});
  }
  return never;
}

void Rehearsal::end(Actor& actor) {
  if (actor.opens_at) so_far_.forget(actor.stream, waits_at(actor));  // it had come there, and does not any more
  for (const Operation* it = actor.next(); it != nullptr; it = actor.next()) {
    all_.forget(actor.stream, *it);
    ++actor.in_frame;
  }
  actor.ended = true;
}

}  // namespace linebounce::trace
