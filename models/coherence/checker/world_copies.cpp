#include "models/coherence/checker/world_copies.hpp"

#include <fmt/format.h>

namespace linebounce::checker {

void WorldCopies::run(const CheckStep& step) {
  value_ = step.value;
  value_used_ = false;
  sender_ = kNobody;
  switch (step.kind) {
    case StepKind::load: access(step.cache, kLoad); break;
    case StepKind::store: access(step.cache, kStore); break;
    case StepKind::atomic: access(step.cache, protocol_.atomic); break;
    case StepKind::evict: access(step.cache, kEvict); break;
    case StepKind::order: order(step.cache); break;
    case StepKind::data: data(step.cache); break;
  }
}

const std::vector<int>& WorldCopies::snoopers(MessageId message) {
  const bool all = options_.ask_absent || !protocol_.messages[message].absent_ignores;
  snoopers_.clear();
  for (int cache = 0; cache < options_.caches; ++cache) {
    if (all || at(cache).state != 0) snoopers_.push_back(cache);
  }
  return snoopers_;
}

void WorldCopies::issue(int cache, MessageId message) {
  if (at(cache).request != 0) {
    throw Broken{Property::accounted,
                 fmt::format("{} issues {} while its {} still waits for its order", name(cache),
                             protocol_.messages[message].name, protocol_.messages[at(cache).request - 1U].name)};
  }
  at(cache).request = static_cast<std::uint8_t>(message + 1);
}

void WorldCopies::complete(int cache) {
  const Waiting waiting = at(cache).access;
  if (waiting == Waiting::nothing) {
    throw Broken{Property::accounted, fmt::format("{} completes an access, but none waits", name(cache))};
  }
  at(cache).access = Waiting::nothing;
  const std::size_t event = event_of(waiting, protocol_);
  if (!access(cache, event)) {
    throw Broken{Property::accounted, fmt::format("{} completes its {}, which doesn't hit there", name(cache),
                                                  protocol_.cache.base_events[event].name)};
  }
}

void WorldCopies::send_word(int cache) {
  if (at(cache).access != Waiting::store) {
    throw Broken{Property::accounted, fmt::format("{} sends a word, but no store waits", name(cache))};
  }
  at(cache).access = Waiting::nothing;
  latest_before_ = world_.latest;
  read_and_write(cache, kStore);
}

// The word is only part of the line, so the copy must have been up to date before the word was stored.
void WorldCopies::apply_word(int cache) {
  check_latest(cache, at(cache).data, latest_before_, "takes a word into a copy with");
  at(cache).data = world_.latest;
  if (watcher_ != nullptr) watcher_->took_word(cache, world_.latest);
}

void WorldCopies::operate(int cache) {
  if (at(cache).access != Waiting::atomic) {
    throw Broken{Property::accounted, fmt::format("memory operates for {}, but no atomic operation waits", name(cache))};
  }
  at(cache).access = Waiting::nothing;
  check_latest(kMemory, world_.memory_data, world_.latest, "operates on");
  world_.memory_data = world_.latest = value_;
  value_used_ = true;
  if (watcher_ != nullptr) watcher_->wrote(kMemory, value_);
}

void WorldCopies::on_transition(Controller controller, int cache, StateId state, EventId event, StateId) {
  const bool of_cache = controller == Controller::cache;
  const std::size_t events = (of_cache ? protocol_.cache : protocol_.memory).events.size();
  (of_cache ? rows_run_.cache : rows_run_.memory)[state * events + event] = true;
  if (watcher_ != nullptr) watcher_->transition(controller, cache, state, event);
}

// Runs an access, and returns true if it hit.
bool WorldCopies::access(int cache, std::size_t event) {
  const AccessResult result = access_step(protocol_, *this, cache, event);
  if (result == AccessResult::issued && event != kEvict) {
    if (at(cache).access != Waiting::nothing) {
      throw Broken{Property::accounted, fmt::format("{} has two accesses that wait", name(cache))};
    }
    at(cache).access = waiting_for(event);
  }
  if (result == AccessResult::hit) read_and_write(cache, event);
  return result == AccessResult::hit;
}

// Runs an access that hits. Checks that the copy is up to date even for a store, because a store writes only part of the line.
void WorldCopies::read_and_write(int cache, std::size_t event) {
  CacheWorld& copy = at(cache);
  check_latest(cache, copy.data, world_.latest, event == kLoad ? "reads a copy with" : "writes into a copy with");
  if (event == kLoad) {
    if (watcher_ != nullptr) watcher_->read(cache, copy.data);
    return;
  }
  copy.data = world_.latest = value_;
  value_used_ = true;
  if (watcher_ != nullptr) watcher_->wrote(cache, value_);
}

void WorldCopies::check_latest(int cache, std::uint8_t data, std::uint8_t latest, std::string_view what) const {
  if (!protocol_.invariant_data_value || data == latest) return;
  throw Broken{Property::data_value,
               fmt::format("{} {} the value {}, but {} was written last", name(cache), what, data, latest)};
}

void WorldCopies::order(int cache) {
  const auto message = static_cast<MessageId>(at(cache).request - 1);
  at(cache).request = 0;
  at(cache).data_due = order_step(protocol_, *this, message, cache).needs_data_step;
  if (!at(cache).data_due) world_.bus_data = 0;  // no step will read the value, so it must not distinguish states
}

void WorldCopies::data(int cache) {
  data_step(protocol_, *this, cache);
  at(cache).data_due = false;
  world_.bus_data = 0;
}

void WorldCopies::drive(int sender, std::uint8_t value) {
  if (sender_ != kNobody && sender_ != sender) {
    throw Broken{Property::one_supplier,
                 fmt::format("{} and {} put data on the bus in the same order step", name(sender_), name(sender))};
  }
  sender_ = sender;
  world_.bus_data = value;
  if (watcher_ != nullptr) watcher_->drove_bus(sender, value);
}

std::string WorldCopies::name(int cache) const {
  if (cache == kMemory) return "memory";
  return fmt::format("cache {} (in {})", cache, protocol_.cache.states[at(cache).state].name);
}

namespace {

void check_accounts(const Protocol& protocol, int cache, const CacheWorld& copy) {
  const StateInfo& info = protocol.cache.states[copy.state];
  const bool waits = copy.access != Waiting::nothing || !info.stable;
  const char* wrong = nullptr;
  if (waits && copy.request == 0 && !copy.data_due) wrong = "waits, but no request of it is under way";
  if (copy.access != Waiting::nothing && info.stable) wrong = "has forgotten the access that waits";
  if (copy.request != 0 && info.stable) wrong = "has forgotten its request, which is still under way";
  if (wrong != nullptr) throw Broken{Property::accounted, fmt::format("cache {} (in {}) {}", cache, info.name, wrong)};
}

void check_single_writer(const Protocol& protocol, int caches, const World& world, int writer) {
  const auto info = [&](int cache) -> const StateInfo& { return protocol.cache.states[world.caches[cache].state]; };
  if (!info(writer).writable) return;
  for (int other = 0; other < caches; ++other) {
    if (other == writer || !info(other).readable) continue;
    throw Broken{Property::single_writer,
                 fmt::format("cache {} (in {}) can write while cache {} (in {}) can {}", writer, info(writer).name, other,
                             info(other).name, info(other).writable ? "write too" : "read")};
  }
}

}  // namespace

void check_world(const Protocol& protocol, int caches, const World& world) {
  for (int cache = 0; cache < caches; ++cache) {
    const CacheWorld& copy = world.caches[cache];
    const StateInfo& info = protocol.cache.states[copy.state];
    if (protocol.invariant_swmr) check_single_writer(protocol, caches, world, cache);
    if (protocol.invariant_data_value && info.readable && copy.data != world.latest) {
      throw Broken{Property::data_value, fmt::format("cache {} (in {}) can read the value {}, but {} was written last", cache,
                                                     info.name, copy.data, world.latest)};
    }
    check_accounts(protocol, cache, copy);
  }
}

bool is_quiescent(const Protocol& protocol, int caches, const World& world) {
  return std::all_of(world.caches.begin(), world.caches.begin() + caches, [&](const CacheWorld& cache) {
    return cache.request == 0 && cache.access == Waiting::nothing && !cache.data_due &&
           protocol.cache.states[cache.state].stable;
  });
}

}  // namespace linebounce::checker
