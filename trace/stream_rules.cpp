#include "trace/stream_rules.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

constexpr std::uint32_t kMostNumbers = 1 << 16;  // limit on CPU numbers and vectors

[[noreturn]] void fail(const std::string& what) {
  throw FormatError(what);
}

// By kind.
constexpr std::array<std::uint16_t, kKinds> kLegalFlags = [] {
  std::array<std::uint16_t, kKinds> legal{};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const KindFacts& facts = kKindFacts[kind];
    legal[kind] = facts.repeats ? facts.flags | (kMostRepeats << kRepeatShift) : facts.flags;
  }
  return legal;
}();

void require(const Operation& it, std::string_view what, std::size_t count) {
  if (it.id < count) return;
  fail(fmt::format("{} names number {} of {} {}", facts_of(it.kind).name, it.id, count, what));
}

}  // namespace

void Unended::follow(const Operation& it) {
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
    case Kind::handler: turn_handler(true); break;
    case Kind::handler_end: turn_handler(false); break;
    default: break;
  }
}

Unended::Moment Unended::begin(Kind ended_by, std::uint32_t id) {
  Operation ending;
  ending.kind = ended_by;
  ending.id = id;
  endings_.emplace_hint(endings_.end(), next_, ending);
  return next_++;
}

void Unended::take(std::uint32_t lock, bool shared) {
  const Kind ended_by = shared ? Kind::release_shared : Kind::release;
  std::vector<Moment>& holds = holds_[lock];
  if (!holds.empty() && !(shared && endings_.at(holds.back()).kind == ended_by)) {
    fail(fmt::format("{} of {}, which the stream holds", shared ? "acquire_shared" : "acquire", symbols_.locks[lock].name));
  }
  holds.push_back(begin(ended_by, lock));
}

void Unended::give_back(std::uint32_t lock, bool shared) {
  const Kind ended_by = shared ? Kind::release_shared : Kind::release;
  const auto held = holds_.find(lock);
  if (held == holds_.end() || endings_.at(held->second.back()).kind != ended_by) {
    fail(fmt::format("{} of {}, which the stream does not hold{}", shared ? "release_shared" : "release",
                     symbols_.locks[lock].name, shared ? " shared" : ""));
  }
  endings_.erase(held->second.back());
  held->second.pop_back();
  if (held->second.empty()) holds_.erase(held);
}

void Unended::turn_handler(bool begins) {
  if (begins == handler_.has_value()) {
    fail(begins ? "handler: the last one has not ended" : "handler_end: there is no handler");
  }
  if (begins) {
    handler_ = begin(Kind::handler_end, 0);
  } else {
    endings_.erase(*handler_);
    handler_.reset();
  }
}

const std::string* Unended::latest_lock() const {
  const auto latest =
      std::find_if(endings_.rbegin(), endings_.rend(), [](const auto& each) { return each.second.kind != Kind::handler_end; });
  return latest == endings_.rend() ? nullptr : &symbols_.locks[latest->second.id].name;
}

std::vector<Operation> Unended::endings() const {
  std::vector<Operation> last;
  for (auto each = endings_.rbegin(); each != endings_.rend(); ++each) last.push_back(each->second);
  return last;
}

StreamRules::StreamRules(const Symbols& symbols, std::uint32_t stream)
    : symbols_(symbols), stream_(stream), facts_(symbols.streams[stream]), unended_(symbols) {}

void StreamRules::follow(const Operation& it) {
  const std::uint16_t legal = kLegalFlags[static_cast<std::size_t>(it.kind)];
  if ((it.flags & ~legal) != 0) fail(fmt::format("{} has flags {:#x}; legal: {:#x}", facts_of(it.kind).name, it.flags, legal));
  if (it.is_memory()) return check_access(it);
  const KindFacts& facts = facts_of(it.kind);
  if (it.argument > facts.most)
    fail(fmt::format("{} has the argument {}; legal: 0 to {}", facts.name, it.argument, facts.most));
  check_name(it, facts.names);
  check_other(it);
}

void StreamRules::check_access(const Operation& it) const {
  require(it, "objects", symbols_.objects.size());
  const Object& object = symbols_.objects[it.id];
  const auto size = static_cast<std::uint64_t>(object.size);
  const std::uint64_t bytes = it.bytes;
  const auto name = [&it] { return facts_of(it.kind).name; };
  if (bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0) {
    fail(fmt::format("{} of {} bytes; legal: 1, 2, 4, 8", name(), bytes));
  }
  const std::uint64_t all = bytes * (static_cast<std::uint64_t>(it.repeats()) + 1);
  if (it.argument > size || all > size - it.argument) {
    fail(fmt::format("{} of {} bytes at {} of {}, which has {}", name(), all, it.argument, object.name, object.size));
  }
  if ((it.argument & (bytes - 1)) != 0) {
    fail(fmt::format("{} of {} bytes at {} of {} is not naturally aligned", name(), bytes, it.argument, object.name));
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
  const bool of_handler = it.kind == Kind::handler || it.kind == Kind::handler_end;
  if (of_handler && facts_.vector < 0) fail("a handler in a stream that has no vector");
  unended_.follow(it);
  switch (it.kind) {
    case Kind::enter: ++functions_; break;
    case Kind::leave:
      if (functions_-- == 0) fail("leave: the stream is in no function");
      break;
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

// Shortens the list of CPUs: every stream may cause this message, so its length must not depend on the number of streams.
void StreamRules::check_target(const Operation& it, std::uint32_t cpu) const {
  constexpr std::size_t kShown = 20;
  const std::set<std::uint32_t>& cpus = symbols_.cpus;
  if (cpus.contains(cpu)) return;
  const std::size_t shown = std::min(cpus.size(), kShown);
  std::string legal =
      fmt::format("{}", fmt::join(cpus.begin(), std::next(cpus.begin(), static_cast<std::ptrdiff_t>(shown)), ", "));
  if (cpus.empty()) legal = "none";
  if (shown < cpus.size()) legal += fmt::format(" and {} more", cpus.size() - shown);
  fail(fmt::format("{} of CPU {}, on which no stream ran; legal: {}", facts_of(it.kind).name, cpu, legal));
}

}  // namespace linebounce::trace
