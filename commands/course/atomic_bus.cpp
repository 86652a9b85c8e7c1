#include "commands/course/atomic_bus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace linebounce::sim {
namespace {

// Limit on the transactions of one access. A store that misses under an update protocol takes two.
constexpr int kMostTransactionsOfAccess = 4;

// True if a cache without the line has it after some message that the access issues then.
bool allocates(const Protocol& protocol, std::size_t access) {
  const ControllerTable& cache = protocol.cache;
  for (const Action action : cache.row(0, cache.base_events[access].first).steps()) {
    if (action.verb != Verb::issue) continue;
    const BaseEvent& own = cache.base_events[own_event(action.argument)];
    for (int word = 0; word < own.count; ++word) {
      if (cache.row(0, static_cast<EventId>(own.first + word)).next != 0) return true;
    }
  }
  return false;
}

// By row: whether it ends a reservation of the line, because another cache's message takes the copy or writes into it.
std::vector<bool> rows_that_end_reservations(const Protocol& protocol) {
  const ControllerTable& cache = protocol.cache;
  std::vector<bool> ends(cache.rows.size());
  const auto look_at = [&](std::size_t base) {
    for (std::size_t state = 0; state < cache.states.size(); ++state) {
      const std::size_t number = state * cache.events.size() + cache.base_events[base].first;
      const Row& row = cache.rows[number];
      const bool loses = cache.states[state].readable && !cache.states[row.next].readable;
      ends[number] = !row.impossible && (loses || row.does(Verb::apply_word));
    }
  };
  for (std::size_t message = 0; message < protocol.messages.size(); ++message)
    look_at(other_event(static_cast<MessageId>(message)));
  return ends;
}

}  // namespace

// One line's interface to the protocol's rows, as bus_order.hpp requires.
class AtomicBus::Line {
 public:
  Line(AtomicBus& bus, LineAddr line, std::size_t access) : bus_(bus), line_(line), access_(access) {}

  [[nodiscard]] const std::vector<int>& snoopers(MessageId) const { return bus_.everybody_; }
  [[nodiscard]] StateId state(int cache) const {
    const Copy* copy = bus_.find(cache, line_);
    return copy == nullptr ? StateId{0} : copy->state;
  }
  void set_state(int cache, StateId state) {
    if (Copy* copy = bus_.find(cache, line_)) copy->state = state;
  }
  [[nodiscard]] static StateId memory_state() { return 0; }
  static void set_memory_state(StateId) {}
  void copy_to_bus(int cache) { on_bus_ = copy_of(cache).version; }
  void compare_offer(int cache) {
    if (copy_of(cache).version != on_bus_)
      bus_.fail(fmt::format("cache {} offers other data than another cache", cache), line_);
  }
  void memory_to_bus() { on_bus_ = memory().version; }
  void bus_to_copy(int cache) { copy_of(cache).version = on_bus_; }
  void bus_to_memory() { memory().version = on_bus_; }
  void issue(int, MessageId message) { issued_ = message; }
  void free(int cache) { bus_.drop(cache, line_); }
  void complete(int cache) {
    if (access_step(bus_.protocol_, *this, cache, access_) == AccessResult::hit) use(cache);
  }
  void send_word(int cache) { use(cache); }
  void apply_word(int cache) {
    if (copy_of(cache).version + 1 != memory().latest)
      bus_.fail(fmt::format("cache {} takes a word into a stale copy", cache), line_);
    copy_of(cache).version = memory().latest;
  }
  void operate(int) {
    if (memory().version != memory().latest) bus_.fail("memory writes a word into a stale line", line_);
    memory().version = ++memory().latest;
    used_ = true;
  }
  void on_transition(Controller controller, int cache, StateId state, EventId event, StateId) {
    if (controller != Controller::cache) return;
    bus_.counters_.row_ran(cache, line_, state, event);
    if (bus_.ends_reservation_[state * bus_.protocol_.cache.events.size() + event]) bus_.end_reservation(cache, line_);
  }

  // Reads or writes the line's copy in this cache.
  void use(int cache) {
    Copy& copy = copy_of(cache);
    if (copy.version != memory().latest) bus_.fail(fmt::format("cache {} uses a stale copy", cache), line_);
    if (access_ != kLoad) copy.version = ++memory().latest;
    used_ = true;
  }
  [[nodiscard]] bool used() const { return used_; }
  [[nodiscard]] std::optional<MessageId> take_issued() { return std::exchange(issued_, std::nullopt); }

 private:
  [[nodiscard]] Copy& copy_of(int cache) const {
    Copy* copy = bus_.find(cache, line_);
    if (copy == nullptr) bus_.fail(fmt::format("cache {} has no copy to act on", cache), line_);
    return *copy;
  }
  [[nodiscard]] MemoryLine& memory() const { return bus_.memory_[line_.value]; }

  AtomicBus& bus_;
  LineAddr line_;
  std::size_t access_;
  std::int64_t on_bus_ = 0;
  std::optional<MessageId> issued_;
  bool used_ = false;
};

std::uint64_t sets_of(const AtomicCacheSpec& spec) {
  const int set_bytes = spec.ways * spec.line_bytes;
  const auto sets = static_cast<std::uint64_t>(set_bytes > 0 ? spec.size_bytes / set_bytes : 0);
  if (sets == 0 || spec.size_bytes % set_bytes != 0 || !std::has_single_bit(sets)) {
    throw std::invalid_argument(fmt::format("{} bytes in {} ways of {} bytes do not make a power of two of sets",
                                            spec.size_bytes, spec.ways, spec.line_bytes));
  }
  return sets;
}

AtomicBus::AtomicBus(const Protocol& protocol, int caches, const AtomicCacheSpec& spec, ClassCounters& counters)
    : protocol_(protocol),
      spec_(spec),
      counters_(counters),
      sets_of_cache_(sets_of(spec)),
      everybody_(static_cast<std::size_t>(caches)),
      allocates_{allocates(protocol, kLoad), allocates(protocol, kStore)},
      ends_reservation_(rows_that_end_reservations(protocol)),
      reserved_(static_cast<std::size_t>(caches)) {
  std::iota(everybody_.begin(), everybody_.end(), 0);
  sets_.resize(static_cast<std::size_t>(caches), std::vector<std::vector<Copy>>(sets_of_cache_));
}

const AtomicAccess& AtomicBus::access(int cache, Address address, int bytes, bool writes) {
  ++accesses_;
  latest_.transactions.clear();
  latest_.evicted.reset();
  latest_.failed = false;
  const LineAddr line = line_of(address);
  const std::size_t event = writes ? kStore : kLoad;
  if (find(cache, line) == nullptr && allocates_[event]) make_room(cache, line);
  if (Copy* copy = find(cache, line)) copy->used = accesses_;
  Line on(*this, line, event);
  const AccessResult result = access_step(protocol_, on, cache, event);
  if (result == AccessResult::hit) on.use(cache);
  for (int transactions = 0; const auto message = on.take_issued(); ++transactions) {
    if (transactions == kMostTransactionsOfAccess) fail("an access issues one message after another", line);
    order(on, *message, cache);
  }
  if (!on.used()) fail("an access never runs", line);
  latest_.hit = result == AccessResult::hit;
  latest_.miss = counters_.access_ran(cache, address, bytes, writes, latest_.hit);
  return latest_;
}

const AtomicAccess& AtomicBus::linked_access(int cache, Address address, int bytes, bool writes) {
  std::optional<LineAddr>& reserved = reserved_[static_cast<std::size_t>(cache)];
  const bool holds = std::exchange(reserved, std::nullopt) == line_of(address);
  if (writes && !holds) {
    latest_ = {};
    latest_.failed = true;
    counters_.store_conditional_failed(cache);
    return latest_;
  }
  access(cache, address, bytes, writes);
  if (!writes) reserved = line_of(address);
  return latest_;
}

void AtomicBus::order(Line& line, MessageId message, int cache) {
  const OrderOutcome outcome = order_step(protocol_, line, message, cache);
  latest_.transactions.push_back({.message = message,
                                  .supplier = outcome.supplier,
                                  .to_memory = outcome.operated ? cache : outcome.memory_sender,
                                  .operated = outcome.operated});
}

StateId AtomicBus::state(int cache, LineAddr line) const {
  const std::vector<Copy>& set = sets_[static_cast<std::size_t>(cache)][line.value % sets_of_cache_];
  const auto found = std::ranges::find(set, line, &Copy::line);
  return found == set.end() ? StateId{0} : found->state;
}

AtomicBus::Copy* AtomicBus::find(int cache, LineAddr line) {
  std::vector<Copy>& set = set_of(cache, line);
  const auto found = std::ranges::find_if(set, [line](const Copy& copy) { return copy.line == line; });
  return found == set.end() ? nullptr : &*found;
}

// A copy that can't be read, such as the tag of a line that another cache has taken, leaves first.
AtomicBus::Copy& AtomicBus::victim_of(std::vector<Copy>& set) const {
  return *std::ranges::min_element(
      set, {}, [this](const Copy& copy) { return std::pair(protocol_.cache.states[copy.state].readable, copy.used); });
}

// Adds an empty copy of the line to the cache. If the set is full, evicts the least recently used copy first.
void AtomicBus::make_room(int cache, LineAddr line) {
  std::vector<Copy>& set = set_of(cache, line);
  if (std::ssize(set) == spec_.ways) {
    const Copy copy = victim_of(set);
    const LineAddr victim = copy.line;
    if (protocol_.cache.states[copy.state].readable) latest_.evicted = {victim, copy.state};
    Line leaving(*this, victim, kEvict);
    access_step(protocol_, leaving, cache, kEvict);
    if (const auto message = leaving.take_issued()) {
      order(leaving, *message, cache);
      latest_.transactions.back().of_eviction = true;
    }
    if (find(cache, victim) != nullptr) fail("an evicted line stays", victim);
  }
  set.push_back({.line = line});
}

void AtomicBus::drop(int cache, LineAddr line) {
  end_reservation(cache, line);
  std::erase_if(set_of(cache, line), [line](const Copy& copy) { return copy.line == line; });
}

void AtomicBus::end_reservation(int cache, LineAddr line) {
  std::optional<LineAddr>& reserved = reserved_[static_cast<std::size_t>(cache)];
  if (reserved == line) reserved.reset();
}

void AtomicBus::fail(const std::string& what, LineAddr line) const {
  throw std::logic_error(
      fmt::format("{}: {}, line 0x{:x}", protocol_.name, what, line.value * static_cast<std::uint64_t>(spec_.line_bytes)));
}

}  // namespace linebounce::sim
