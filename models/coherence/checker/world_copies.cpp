#include "models/coherence/checker/world_copies.hpp"

#include <fmt/format.h>

namespace linebounce::checker {

void WorldCopies::run(const CheckStep& step) {
  value_ = step.value;
  value_used_ = false;
  switch (step.kind) {
    case StepKind::load: access(step.cache, kLoad); break;
    case StepKind::store: access(step.cache, kStore); break;
    case StepKind::atomic: access(step.cache, protocol_.atomic); break;
    case StepKind::evict: access(step.cache, kEvict); break;
    case StepKind::order: order(step.cache); break;
    case StepKind::data: data(step.cache); break;
  }
  if (orders_at_once(protocol_)) order_at_once(step.cache);
}

// Orders the messages of an access in the same step, because on an atomic bus nothing comes between them.
void WorldCopies::order_at_once(int number) {
  for (int transactions = 0; cache(number).request != 0; ++transactions) {
    if (transactions == kMostTransactionsAtOnce) {
      throw Broken{Property::can_finish, fmt::format("{} issues one message after another and never finishes", name(number))};
    }
    order(number);
  }
}

const std::vector<int>& WorldCopies::snoopers(MessageId message) {
  const bool all = options_.ask_absent || !protocol_.messages[message].absent_ignores;
  snoopers_.clear();
  for (int number = 0; number < options_.caches; ++number) {
    if (all || cache(number).entry.state != 0) snoopers_.push_back(number);
  }
  return snoopers_;
}

void WorldCopies::on_transition(Controller controller, int cache, StateId state, EventId event, StateId) {
  const bool of_cache = controller == Controller::cache;
  const std::size_t events = (of_cache ? protocol_.cache : protocol_.memory).events.size();
  (of_cache ? rows_run_.cache : rows_run_.memory)[state * events + event] = true;
  if (watcher_ != nullptr) watcher_->transition(controller, cache, state, event);
}

// Checks that the data is up to date even for a store, because a store writes only part of the line.
void WorldCopies::read_and_write(int controller, std::size_t event) {
  std::uint8_t& data = controller == kMemory ? world_.memory.data : cache(controller).data;
  check_latest(controller, data, world_.latest,
               controller == kMemory ? "operates on"
               : event == kLoad      ? "reads a copy with"
                                     : "writes into a copy with");
  if (event == kLoad) {
    if (watcher_ != nullptr) watcher_->read(controller, data);
    return;
  }
  latest_before_ = world_.latest;
  data = world_.latest = value_;
  value_used_ = true;
  if (watcher_ != nullptr) watcher_->wrote(controller, value_);
}

// The word is only part of the line, so the copy must have been up to date before the word was stored.
void WorldCopies::take_word(int number) {
  check_latest(number, cache(number).data, latest_before_, "takes a word into a copy with");
  cache(number).data = world_.latest;
  if (watcher_ != nullptr) watcher_->took_word(number, world_.latest);
}

void WorldCopies::check_latest(int cache, std::uint8_t data, std::uint8_t latest, std::string_view what) const {
  if (!protocol_.invariant_data_value || data == latest) return;
  throw Broken{Property::data_value,
               fmt::format("{} {} the value {}, but {} was written last", name(cache), what, data, latest)};
}

std::string WorldCopies::name(int cache) const {
  return cache == kMemory ? "memory" : name_in_state(protocol_, world_, cache);
}

std::string name_in_state(const Protocol& protocol, const World& world, int cache) {
  return fmt::format("cache {} (in {})", cache, protocol.cache.states[world.caches[cache].entry.state].name);
}

void check_world(const Protocol& protocol, int caches, const World& world) {
  check_caches(protocol, protocol.cache, true, world.latest, [&](auto visit) {
    for (int cache = 0; cache < caches; ++cache) {
      visit([&protocol, &world, cache] { return name_in_state(protocol, world, cache); }, world.caches[cache]);
    }
  });
}

bool is_quiescent(const Protocol& protocol, int caches, const World& world) {
  return std::all_of(world.caches.begin(), world.caches.begin() + caches,
                     [&](const ControllerWorld& cache) { return is_quiescent(cache, protocol.cache); });
}

}  // namespace linebounce::checker
