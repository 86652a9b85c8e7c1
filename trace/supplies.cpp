#include "trace/supplies.hpp"

#include <fmt/format.h>

#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

std::uint32_t interrupt_of(const Stream& handlers) {
  return static_cast<std::uint32_t>(handlers.cpu) << 16U | static_cast<std::uint32_t>(handlers.vector);
}

std::string signals(const Event& event) {
  return "signals of " + event.name;
}
std::string writes(const Symbols& symbols, const Word& word) {
  return "counted writes of " + symbols.place_name(word.object, word.offset);
}
std::string wake_ups(std::uint32_t cpu) {
  return fmt::format("wake-ups of CPU {}", cpu);
}
std::string interrupts(std::uint32_t which) {
  return fmt::format("interrupts {} of CPU {}", which & 0xFFFFU, which >> 16U);
}

}  // namespace

Supplies::Supplies(const Symbols& symbols)
    : symbols_(symbols),
      events_(symbols.events.size()),
      words_(symbols.words.size()),
      arrivals_(symbols.barriers.size()),
      creations_(symbols.streams.size()),
      has_operations_(symbols.streams.size()),
      joins_(symbols.streams.size()) {
  for (std::uint32_t id = 0; id < symbols.words.size(); ++id) {
    word_at_[{symbols.words[id].object, static_cast<std::uint64_t>(symbols.words[id].offset)}] = id;
  }
}

bool Supplies::add(const Supplies& other) {
  const auto add_supply = [](Supply& to, const Supply& from) {
    to.count += from.count;
    demand(to, from.where, from.demand);
  };
  const auto add_all = [&](std::vector<Supply>& to, const std::vector<Supply>& from) {
    for (std::size_t id = 0; id < to.size(); ++id) add_supply(to[id], from[id]);
  };
  add_all(events_, other.events_);
  add_all(words_, other.words_);
  add_all(arrivals_, other.arrivals_);
  for (const auto& [cpu, supply] : other.wakes_) add_supply(wakes_[cpu], supply);
  for (const auto& [which, supply] : other.interrupts_) add_supply(interrupts_[which], supply);
  bool is_created_once = true;
  for (std::size_t stream = 0; stream < creations_.size(); ++stream) {
    is_created_once &= !creations_[stream] || !other.creations_[stream];
    creations_[stream] = creations_[stream] || other.creations_[stream];
    has_operations_[stream] = has_operations_[stream] || other.has_operations_[stream];
    if (joins_[stream].stream == kNone) joins_[stream] = other.joins_[stream];
  }
  return is_created_once;
}

void Supplies::begin(std::uint32_t stream) {
  has_operations_[stream] = true;
  awaits_several_ = false;
}

void Supplies::count_supply(const Spot& at, const Operation& it) {
  if (Supply* const supply = brought_by(at.stream, it)) ++supply->count;
  switch (it.kind) {
    case Kind::wait: demand(events_[it.id], at, it.argument); break;
    case Kind::await: await(at, it); break;
    case Kind::sleep: demand(wakes_[static_cast<std::uint32_t>(symbols_.streams[at.stream].cpu)], at, it.argument); break;
    case Kind::barrier: arrivals_[it.id].where = at; break;
    case Kind::handler: {
      Supply& supply = interrupts_[interrupt_of(symbols_.streams[at.stream])];
      demand(supply, at, supply.demand + 1);
      break;
    }
    case Kind::create: create(it.id); break;
    case Kind::join:
      if (joins_[it.id].stream == kNone) joins_[it.id] = at;
      break;
    default: break;
  }
}

void Supplies::forget(std::uint32_t stream, const Operation& it) {
  if (Supply* const supply = brought_by(stream, it)) --supply->count;
  if (it.kind == Kind::create) creations_[it.id] = false;
}

// The supply that this operation increases by one; nullptr if there is none.
Supplies::Supply* Supplies::brought_by(std::uint32_t stream, const Operation& it) {
  if (it.is_memory()) return (it.flags & kCounted) == 0 ? nullptr : written_by(it);
  switch (it.kind) {
    case Kind::signal: return &events_[it.id];
    case Kind::wake: return &wakes_[it.id];
    case Kind::barrier: return &arrivals_[it.id];
    case Kind::timer: return &interrupts_[static_cast<std::uint32_t>(symbols_.streams[stream].cpu) << 16U | it.id];
    case Kind::interrupt: return &interrupts_[it.id];
    default: return nullptr;
  }
}

Supplies::Supply* Supplies::written_by(const Operation& it) {
  const auto word = word_at_.find({it.id, it.argument});
  if (word == word_at_.end()) {
    const std::string place = symbols_.place_name(it.id, static_cast<std::int64_t>(it.argument));
    throw FormatError(fmt::format("counted write of {}, which is not a word that is awaited", place));
  }
  return (it.flags & kFailed) != 0 ? nullptr : &words_[word->second];
}

// Only a single awaited word must be written often enough. In a group of words, the first one written ends the wait, so a
// group demands nothing.
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
    debt = unpaid(events_[id], "wait", signals(symbols_.events[id]));
  }
  for (std::uint32_t id = 0; id < words_.size() && !debt; ++id) {
    debt = unpaid(words_[id], "await", writes(symbols_, symbols_.words[id]));
  }
  for (const auto& [cpu, supply] : wakes_) {
    if (!debt) debt = unpaid(supply, "sleep", wake_ups(cpu));
  }
  for (const auto& [which, supply] : interrupts_) {
    if (!debt) debt = unpaid(supply, "handler", interrupts(which));
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

std::uint64_t Supplies::comes(const Operation& it, std::uint32_t stream) const {
  const auto of = [](const std::map<std::uint32_t, Supply>& supplies, std::uint32_t key) {
    const auto known = supplies.find(key);
    return known == supplies.end() ? 0 : known->second.count;
  };
  switch (it.kind) {
    case Kind::wait: return events_[it.id].count;
    case Kind::await: return words_[it.id].count;
    case Kind::barrier: return arrivals_[it.id].count;
    case Kind::sleep: return of(wakes_, static_cast<std::uint32_t>(symbols_.streams[stream].cpu));
    case Kind::handler: return of(interrupts_, interrupt_of(symbols_.streams[stream]));
    default: return 0;
  }
}

std::string Supplies::awaited(const Operation& it, std::uint32_t stream) const {
  switch (it.kind) {
    case Kind::wait: return signals(symbols_.events[it.id]);
    case Kind::await: return writes(symbols_, symbols_.words[it.id]);
    case Kind::barrier: return "streams at " + symbols_.barriers[it.id].name;
    case Kind::sleep: return wake_ups(static_cast<std::uint32_t>(symbols_.streams[stream].cpu));
    case Kind::handler: return interrupts(interrupt_of(symbols_.streams[stream]));
    default: return "";
  }
}

}  // namespace linebounce::trace
