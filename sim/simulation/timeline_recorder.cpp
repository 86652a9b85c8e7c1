#include "sim/simulation/timeline_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>

#include "models/ordinal.hpp"
#include "sim/results/csv.hpp"
#include "sim/statistics/source_names.hpp"

namespace linebounce::sim {
namespace {

constexpr std::array kKindNames = {"function",    "sleep",    "miss", "lock_wait",   "lock_hold",
                                   "bus_address", "bus_data", "link", "grace_period"};

// The time in nanoseconds with three decimals.
std::string ns_text(Tick at, const Timebase& timebase) {
  const std::int64_t ps = std::llround(timebase.to_ns(at) * 1000);
  return fmt::format("{}.{:03}", ps / 1000, ps % 1000);
}

}  // namespace

void TimelineRecorder::add(Span span) {
  span.to = std::min(span.to, end_);
  if (span.to > from_ && span.from < to_ && span.to > span.from) spans_.push_back(span);
}

std::int64_t TimelineRecorder::number_of(const std::string& text) {
  const auto [at, is_new] = numbers_.try_emplace(text, static_cast<std::int64_t>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return at->second;
}

void TimelineRecorder::function(CpuId cpu, FunctionId function, Tick from, Tick to) {
  add({.from = from, .to = to, .kind = Kind::function, .track = cpu.value, .name = function});
}

void TimelineRecorder::sleep(CpuId cpu, Tick from, Tick to) {
  add({.from = from, .to = to, .kind = Kind::sleep, .track = cpu.value});
}

void TimelineRecorder::miss(const Miss& miss) {
  add({.from = miss.issued,
       .to = miss.issued + miss.latency,
       .kind = Kind::miss,
       .access = static_cast<std::uint8_t>(miss.access),
       .track = miss.cpu.value,
       .name = static_cast<std::int64_t>(miss.source),
       .address = miss.address});
}

void TimelineRecorder::lock(CpuId cpu, const std::string& lock, LockPhase phase, Tick from, Tick to) {
  add({.from = from,
       .to = to,
       .kind = phase == LockPhase::wait ? Kind::lock_wait : Kind::lock_hold,
       .track = cpu.value,
       .name = number_of(lock)});
}

void TimelineRecorder::bus(int bus, BusPhase phase, int, const std::string& message, Address line, Tick from, Tick to) {
  add({.from = from,
       .to = to,
       .kind = phase == BusPhase::address ? Kind::bus_address : Kind::bus_data,
       .track = bus,
       .name = number_of(message),
       .address = line});
}

void TimelineRecorder::link(int from_node, int to_node, Address line, bool carries_data, Tick from, Tick to) {
  add({.from = from,
       .to = to,
       .kind = Kind::link,
       .to_node = static_cast<std::uint16_t>(to_node),
       .track = from_node,
       .name = number_of(carries_data ? "line" : "message"),
       .address = line});
}

void TimelineRecorder::grace_period(std::int64_t number, Tick from, Tick to) {
  add({.from = from, .to = to, .kind = Kind::grace_period, .name = number});
}

std::string TimelineRecorder::name_of(const Span& span, const AddressSpace& memory) const {
  switch (span.kind) {
    case Kind::function: return memory.functions()[span.name].name;
    case Kind::sleep: return "asleep";
    case Kind::miss: return kSourceNames[span.name];
    case Kind::grace_period: return std::to_string(span.name);
    case Kind::lock_wait:
    case Kind::lock_hold:
    case Kind::bus_address:
    case Kind::bus_data:
    case Kind::link: return texts_[span.name];
  }
  return {};
}

// Compares texts, not their numbers, because the numbers depend on the order in which texts were reported.
bool TimelineRecorder::before(const Span& a, const Span& b) const {
  const auto key = [](const Span& span) {
    return std::tuple(span.from, span.kind, span.track, span.to_node, span.to, span.address, span.access);
  };
  if (key(a) != key(b)) return key(a) < key(b);
  const bool texts = a.kind >= Kind::lock_wait && a.kind <= Kind::link;
  if (!texts) return a.name < b.name;
  return texts_[a.name] < texts_[b.name];
}

std::string TimelineRecorder::csv(const AddressSpace& memory, const Timebase& timebase, int line_bytes) const {
  std::vector<Span> spans = spans_;
  std::ranges::sort(spans, [this](const Span& a, const Span& b) { return before(a, b); });
  std::string text = "kind,track,begin_ns,end_ns,name,access,object,line,offset,field\n";
  for (const Span& span : spans) {
    std::string track = std::to_string(span.track);
    if (span.kind == Kind::link) track += fmt::format("_{}", span.to_node);
    if (span.kind == Kind::grace_period) track.clear();
    const char* access = span.kind == Kind::miss ? kAccessNames[span.access] : "";
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}", kKindNames[ordinal(span.kind)], track,
                   ns_text(span.from, timebase), ns_text(span.to, timebase), csv_field(name_of(span, memory)), access);
    text += place_columns(span, memory, line_bytes);
  }
  return text;
}

// Columns for the span's place. A bus or link knows only the line, so the place is then the line's first object.
std::string TimelineRecorder::place_columns(const Span& span, const AddressSpace& memory, int line_bytes) {
  const bool whole_line = span.kind >= Kind::bus_address && span.kind <= Kind::link;
  if (span.kind != Kind::miss && !whole_line) return ",,,,\n";
  Address address = span.address;
  for (int byte = 0; whole_line && byte < line_bytes && memory.find(address).object == AddressSpace::kNoObject; ++byte)
    address = span.address + static_cast<Address>(byte);
  const AddressSpace::Place place = memory.find(address);
  if (place.object == AddressSpace::kNoObject) return ",,,,\n";
  const Symbol symbol = memory.symbol(place);
  if (whole_line) return fmt::format(",{},{},,\n", csv_field(symbol.object), symbol.line);
  return fmt::format(",{},{},{},{}\n", csv_field(symbol.object), symbol.line, symbol.offset, csv_field(symbol.field));
}

}  // namespace linebounce::sim
