#include "trace/stream_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "trace/symbol_json.hpp"

namespace linebounce::trace {

namespace {

constexpr std::uint32_t kMostNumbers = 1 << 16;  // of CPUs and of vectors

[[noreturn]] void fail(const std::string& what) {
  throw FormatError(what);
}

void require(const Operation& it, std::string_view what, std::size_t count) {
  if (it.id < count) return;
  fail(fmt::format("{} names number {} of {} {}", facts_of(it.kind).name, it.id, count, what));
}

}  // namespace

void HeldLocks::follow(const Operation& it) {
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

void HeldLocks::take(std::uint32_t lock, bool shared) {
  for (const Held& held : held_) {
    if (held.lock != lock || (held.shared && shared)) continue;
    fail(fmt::format("{} of {}, which the stream holds", shared ? "acquire_shared" : "acquire", symbols_.locks[lock].name));
  }
  held_.push_back({lock, shared});
}

void HeldLocks::give_back(std::uint32_t lock, bool shared) {
  const auto is_it = [lock, shared](const Held& held) { return held.lock == lock && held.shared == shared; };
  const auto latest = std::find_if(held_.rbegin(), held_.rend(), is_it);
  if (latest == held_.rend()) {
    fail(fmt::format("{} of {}, which the stream does not hold{}", shared ? "release_shared" : "release",
                     symbols_.locks[lock].name, shared ? " shared" : ""));
  }
  held_.erase(std::prev(latest.base()));
}

std::vector<Operation> HeldLocks::releases() const {
  std::vector<Operation> last;
  for (auto held = held_.rbegin(); held != held_.rend(); ++held) {
    Operation release;
    release.kind = held->shared ? Kind::release_shared : Kind::release;
    release.id = held->lock;
    last.push_back(release);
  }
  return last;
}

StreamRules::StreamRules(const Symbols& symbols, std::uint32_t stream)
    : symbols_(symbols), stream_(stream), facts_(symbols.streams[stream]), held_(symbols) {
  for (const Stream& each : symbols.streams) {
    if (each.cpu >= 0) cpus_.insert(static_cast<std::uint32_t>(each.cpu));
  }
}

void StreamRules::follow(const Operation& it) {
  const KindFacts& facts = facts_of(it.kind);
  const std::uint16_t legal = facts.repeats ? facts.flags | (kMostRepeats << kRepeatShift) : facts.flags;
  if ((it.flags & ~legal) != 0) fail(fmt::format("{} has flags {:#x}; legal: {:#x}", facts.name, it.flags, legal));
  if (it.is_memory()) return check_access(it);
  check_name(it, facts.names);
  check_other(it);
}

void StreamRules::check_access(const Operation& it) const {
  require(it, "objects", symbols_.objects.size());
  const Object& object = symbols_.objects[it.id];
  const auto size = static_cast<std::uint64_t>(object.size);
  const std::uint64_t bytes = it.bytes;
  const std::string_view name = facts_of(it.kind).name;
  if (bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0) {
    fail(fmt::format("{} of {} bytes; legal: 1, 2, 4, 8", name, bytes));
  }
  const std::uint64_t all = bytes * (static_cast<std::uint64_t>(it.repeats()) + 1);
  if (it.argument > size || all > size - it.argument) {
    fail(fmt::format("{} of {} bytes at {} of {}, which has {}", name, all, it.argument, object.name, object.size));
  }
  if (it.argument % bytes != 0) {
    fail(fmt::format("{} of {} bytes at {} of {} is not naturally aligned", name, bytes, it.argument, object.name));
  }
}

void StreamRules::check_name(const Operation& it, Names names) const {
  switch (names) {
    case Names::function: return require(it, "functions", symbols_.functions.size());
    case Names::lock: return require(it, "locks", symbols_.locks.size());
    case Names::barrier: return require(it, "barriers", symbols_.barriers.size());
    case Names::word: return require(it, "words", symbols_.words.size());
    case Names::event: return require(it, "events", symbols_.events.size());
    case Names::stream: return require(it, "streams", symbols_.streams.size());
    case Names::cpu: return require(it, "CPUs", kMostNumbers);
    case Names::vector: return require(it, "vectors", kMostNumbers);
    default: return;
  }
}

void StreamRules::check_other(const Operation& it) {
  held_.follow(it);
  switch (it.kind) {
    case Kind::enter: ++functions_; break;
    case Kind::leave:
      if (functions_-- == 0) fail("leave: the stream is in no function");
      break;
    case Kind::handler: turn_handler(true); break;
    case Kind::handler_end: turn_handler(false); break;
    case Kind::sleep:
      if (facts_.cpu < 0) fail("sleep in a stream that has no CPU");
      break;
    case Kind::wake: check_target(it, it.id); break;
    case Kind::interrupt: check_target(it, it.id >> 16U); break;
    case Kind::create: check_created(it.id); break;
    case Kind::join:
      if (it.id == stream_) fail("join of the stream itself");
      break;
    default: break;
  }
}

void StreamRules::check_created(std::uint32_t stream) const {
  const Stream& created = symbols_.streams[stream];
  if (!created.created) fail(fmt::format("create of stream {} ({}), which begins with the trace", stream, created.name));
}

void StreamRules::check_target(const Operation& it, std::uint32_t cpu) const {
  if (cpus_.contains(cpu)) return;
  const std::string legal = cpus_.empty() ? "none" : fmt::format("{}", fmt::join(cpus_, ", "));
  fail(fmt::format("{} of CPU {}, on which no stream ran; legal: {}", facts_of(it.kind).name, cpu, legal));
}

void StreamRules::turn_handler(bool begins) {
  if (facts_.vector < 0) fail("a handler in a stream that has no vector");
  if (begins == in_handler_) fail(begins ? "handler: the last one has not ended" : "handler_end: there is no handler");
  in_handler_ = begins;
}

}  // namespace linebounce::trace
