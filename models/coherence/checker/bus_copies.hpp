// The copies of the line on a checked bus, on which the functions of bus_order.hpp run rows. They check properties during each
// order step and data step.
#pragma once

#include <fmt/format.h>

#include <string>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/checker/search_result.hpp"
#include "models/coherence/checker/world.hpp"

namespace linebounce::checker {

// Implements LineCopies, except for snoopers() and on_transition(). A Host, which derives from BusCopies<Host>, provides:
//   protocol(): the bus's protocol;
//   cache(number) and memory(): the ControllerWorlds on the bus; bus_data(): the value on the data bus;
//   latest(): the value written last;
//   name(controller): a cache, or kMemory, with its state, for people;
//   read_and_write(controller, event): runs an access on the controller's data, and checks that the data is up to date;
//   take_word(cache): writes the word that the order step's requestor has stored into the cache's copy;
//   drove(sender, value): is told who drives the data bus.
template <class Host>
class BusCopies {
 public:
  [[nodiscard]] StateId state(int cache) { return host().cache(cache).entry.state; }
  [[nodiscard]] StateId memory_state() { return host().memory().entry.state; }
  void set_state(int cache, StateId state) { host().cache(cache).entry.state = state; }
  void set_memory_state(StateId state) { host().memory().entry.state = state; }
  void copy_to_bus(int cache) { drive(cache, host().cache(cache).data); }
  void compare_offer(int cache) {
    if (host().cache(cache).data == host().bus_data()) return;
    throw Broken{Property::one_supplier, fmt::format("{} and {} offer different data in the same order step",
                                                     host().name(sender_), host().name(cache))};
  }
  void memory_to_bus() { drive(kMemory, host().memory().data); }
  void bus_to_copy(int cache) { host().cache(cache).data = host().bus_data(); }
  void bus_to_memory() { host().memory().data = host().bus_data(); }
  void free(int cache) { host().cache(cache).data = 0; }
  void issue(int cache, MessageId message) {
    std::uint8_t& request = host().cache(cache).request;
    if (request != 0) {
      const auto& messages = host().protocol().messages;
      broken(cache, fmt::format("issues {} while its {} still waits for its order", messages[message].name,
                                messages[request - 1U].name));
    }
    request = static_cast<std::uint8_t>(message + 1);
  }
  void complete(int cache) {
    const Waiting waiting = take_access(cache);
    if (waiting == Waiting::nothing) broken(cache, "completes an access, but none waits");
    const std::size_t event = event_of(waiting, host().protocol());
    const AccessResult result = access(cache, event);
    const bool continues = result == AccessResult::issued && orders_at_once(host().protocol());
    if (result != AccessResult::hit && !continues) {
      broken(cache, fmt::format("completes its {}, which doesn't hit there", host().protocol().cache.base_events[event].name));
    }
  }
  void send_word(int cache) {
    if (take_access(cache) != Waiting::store) broken(cache, "sends a word, but no store waits");
    host().read_and_write(cache, kStore);
  }
  void apply_word(int cache) { host().take_word(cache); }
  void operate(int cache) {
    const std::size_t access = host().protocol().atomic;
    if (take_access(cache) != waiting_for(access)) {
      broken(kMemory, fmt::format("operates, but no {} waits", access == kStore ? "store" : "atomic operation"));
    }
    host().read_and_write(kMemory, access);
  }

  AccessResult access(int cache, std::size_t event) {
    const AccessResult result = access_step(host().protocol(), host(), cache, event);
    if (result == AccessResult::issued && event != kEvict) {
      if (host().cache(cache).access != Waiting::nothing) broken(cache, "has two accesses that wait");
      host().cache(cache).access = waiting_for(event);
    }
    if (result == AccessResult::hit) host().read_and_write(cache, event);
    return result;
  }

  OrderOutcome order(int cache) {
    ControllerWorld& requestor = host().cache(cache);
    const std::uint8_t request = requestor.request;
    requestor.request = 0;
    sender_ = kNobody;
    const OrderOutcome outcome = order_step(host().protocol(), host(), static_cast<MessageId>(request - 1), cache);
    if (outcome.deferred) requestor.request = request;
    requestor.data_due = outcome.needs_data_step;
    // Without a data step, no later step reads the value. Clearing it makes states equal that differ only in it.
    if (!requestor.data_due) host().bus_data() = 0;
    return outcome;
  }

  void data(int cache) {
    data_step(host().protocol(), host(), cache);
    host().cache(cache).data_due = false;
    host().bus_data() = 0;
  }

  // Whether a controller put data on the bus in this step.
  [[nodiscard]] bool has_data() const { return sender_ != kNobody; }

 private:
  [[nodiscard]] Host& host() { return static_cast<Host&>(*this); }
  [[noreturn]] void broken(int controller, const std::string& what) {
    throw Broken{Property::accounted, host().name(controller) + " " + what};
  }
  Waiting take_access(int cache) { return std::exchange(host().cache(cache).access, Waiting::nothing); }

  void drive(int sender, std::uint8_t value) {
    if (sender_ != kNobody && sender_ != sender) {
      throw Broken{Property::one_supplier, fmt::format("{} and {} put data on the bus in the same order step",
                                                       host().name(sender_), host().name(sender))};
    }
    sender_ = sender;
    host().bus_data() = value;
    host().drove(sender, value);
  }

  int sender_ = kNobody;
};

}  // namespace linebounce::checker
