#include "trace/supplies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/kinds.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {

Supplies::Supplies(const Symbols& symbols)
    : symbols_(symbols),
      events_(symbols.events.size()),
      words_(symbols.words.size()),
      arrivals_(symbols.barriers.size()),
      arrivals_of_(symbols.barriers.size()),
      creations_(symbols.streams.size()),
      has_operations_(symbols.streams.size()),
      joins_(symbols.streams.size()) {
  for (std::uint32_t id = 0; id < symbols.words.size(); ++id) {
    word_at_[{symbols.words[id].object, static_cast<std::uint64_t>(symbols.words[id].offset)}] = id;
  }
}

void Supplies::count(const Spot& at, const Operation& it) {
  if (at.operation == 0) {
    has_operations_[at.stream] = true;
    awaits_several_ = false;
  }
  if (it.is_memory()) {
    if ((it.flags & kCounted) != 0) count_write(it);
    return;
  }
  switch (it.kind) {
    case Kind::signal: ++events_[it.id].count; break;
    case Kind::wait: demand(events_[it.id], at, it.argument); break;
    case Kind::await: await(at, it); break;
    case Kind::wake: ++wakes_[it.id].count; break;
    case Kind::sleep: demand(wakes_[static_cast<std::uint32_t>(symbols_.streams[at.stream].cpu)], at, it.argument); break;
    case Kind::barrier:
      ++arrivals_[it.id].count;
      ++arrivals_of_[it.id][at.stream];
      arrivals_[it.id].where = at;
      break;
    case Kind::create: create(it.id); break;
    case Kind::join:
      if (joins_[it.id].stream == kNone) joins_[it.id] = at;
      break;
    default: break;
  }
}

void Supplies::count_write(const Operation& it) {
  const auto word = word_at_.find({it.id, it.argument});
  if (word == word_at_.end()) {
    const std::string place = symbols_.place_name(it.id, static_cast<std::int64_t>(it.argument));
    throw FormatError(fmt::format("counted write of {}, which is no word that is awaited", place));
  }
  if ((it.flags & kFailed) == 0) ++words_[word->second].count;
}

// Of several words that are awaited together any one is enough.
void Supplies::await(const Spot& at, const Operation& it) {
  const bool goes_on = (it.flags & kPaired) != 0;
  if (!goes_on && !awaits_several_) demand(words_[it.id], at, it.argument);
  awaits_several_ = goes_on;
}

void Supplies::create(std::uint32_t stream) {
  if (creations_[stream]) {
    throw FormatError(fmt::format("create of stream {} ({}), which has been created", stream, symbols_.streams[stream].name));
  }
  creations_[stream] = true;
}

void Supplies::demand(Supply& supply, const Spot& at, std::uint64_t count) {
  if (count <= supply.demand) return;
  supply.demand = count;
  supply.where = at;
}

std::optional<Supplies::Debt> Supplies::first_debt() const {
  std::optional<Debt> debt;
  for (std::uint32_t id = 0; id < events_.size() && !debt; ++id) {
    debt = unpaid(events_[id], "wait", fmt::format("signals of {}", symbols_.events[id].name));
  }
  for (std::uint32_t id = 0; id < words_.size() && !debt; ++id) {
    const Word& word = symbols_.words[id];
    debt = unpaid(words_[id], "await", "counted writes of " + symbols_.place_name(word.object, word.offset));
  }
  for (const auto& [cpu, supply] : wakes_) {
    if (!debt) debt = unpaid(supply, "sleep", fmt::format("wake-ups of CPU {}", cpu));
  }
  for (std::uint32_t id = 0; id < arrivals_.size() && !debt; ++id) debt = unpaid_barrier(id);
  for (std::uint32_t id = 0; id < creations_.size() && !debt; ++id) debt = uncreated(id);
  return debt;
}

std::optional<Supplies::Debt> Supplies::unpaid(const Supply& supply, std::string_view kind, const std::string& what) {
  if (supply.demand <= supply.count) return std::nullopt;
  return Debt{supply.where, fmt::format("{} for {} {}; the trace has {}", kind, supply.demand, what, supply.count)};
}

std::optional<Supplies::Debt> Supplies::unpaid_barrier(std::uint32_t id) const {
  const Barrier& barrier = symbols_.barriers[id];
  const std::uint64_t arrivals = arrivals_[id].count;
  if (arrivals % static_cast<std::uint64_t>(barrier.parties) == 0) return std::nullopt;
  return Debt{arrivals_[id].where, fmt::format("the last to come to barrier {}, to which streams come {} times in all; legal: "
                                               "multiples of its {} parties",
                                               barrier.name, arrivals, barrier.parties)};
}

std::optional<Supplies::Debt> Supplies::uncreated(std::uint32_t id) const {
  if (!symbols_.streams[id].created || creations_[id]) return std::nullopt;
  const std::string name = fmt::format("stream {} ({})", id, symbols_.streams[id].name);
  if (joins_[id].stream != kNone) return Debt{joins_[id], fmt::format("join of {}, which nobody creates", name)};
  if (!has_operations_[id]) return std::nullopt;
  return Debt{{id, 0}, "the stream is one that is created, and nobody creates it"};
}

std::string Supplies::lack(const Operation& it, std::uint32_t stream, std::uint64_t come) const {
  const auto text = [&it](std::uint64_t wanted, const Supply& supply) {
    return wanted <= supply.count ? std::string()
                                  : fmt::format("{} for {}; the trace has {}", facts_of(it.kind).name, wanted, supply.count);
  };
  if (it.kind == Kind::wait) return text(it.argument, events_[it.id]);
  if (it.kind == Kind::await && (it.flags & kPaired) == 0) return text(it.argument, words_[it.id]);
  if (it.kind == Kind::barrier && come > meetings(it.id)) return "barrier to which the others do not come any more";
  if (it.kind == Kind::join && symbols_.streams[it.id].created && !creations_[it.id]) return "join of what nobody creates";
  if (it.kind == Kind::sleep) {
    const auto wakes = wakes_.find(static_cast<std::uint32_t>(symbols_.streams[stream].cpu));
    return text(it.argument, wakes == wakes_.end() ? Supply{} : wakes->second);
  }
  return "";
}

// How often all of a barrier's parties come. Where they are not always the same streams, it is not known who comes with whom.
std::uint64_t Supplies::meetings(std::uint32_t barrier) const {
  const auto parties = static_cast<std::uint64_t>(symbols_.barriers[barrier].parties);
  const std::map<std::uint32_t, std::uint64_t>& streams = arrivals_of_[barrier];
  if (streams.size() != parties) return streams.size() < parties ? 0 : arrivals_[barrier].count;
  return std::min_element(streams.begin(), streams.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

}  // namespace linebounce::trace
