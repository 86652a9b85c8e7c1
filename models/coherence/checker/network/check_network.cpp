#include "models/coherence/checker/network/check_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "models/coherence/checker/can_finish.hpp"
#include "models/coherence/checker/network/network_steps.hpp"
#include "models/coherence/checker/state_set.hpp"

namespace linebounce {
namespace checker {
namespace {

Promise promise_of(ProtocolFault::Kind kind) {
  switch (kind) {
    case ProtocolFault::Kind::two_suppliers: return Promise::one_supplier;
    case ProtocolFault::Kind::no_data: return Promise::data_arrives;
    case ProtocolFault::Kind::nobody: return Promise::accounted;
    case ProtocolFault::Kind::impossible: break;
  }
  return Promise::impossible_pair;
}

// Breadth first, so that the first violation found is one of the nearest.
class NetworkExplorer {
 public:
  NetworkExplorer(const NetworkProtocols& protocols, const NetworkCheckOptions& options)
      : system_(protocols, options), options_(options), rows_run_(system_), steps_(system_, next_, rows_run_) {}

  NetworkCheckResult run() {
    const auto broken = breaks([&] {
      add(key_of(NetworkWorld{}), 0);
      for (StateNumber number = 0; number < states_.size() && !result_.violation; ++number) expand(number);
    });
    if (broken) violated(*broken);
    if (!result_.violation) check_finishing();
    if (!result_.violation) collect_unreached();
    result_.states = states_.size();
    return std::move(result_);
  }

 private:
  [[nodiscard]] NetworkKey key_of(const NetworkWorld& world) const {
    return options_.symmetry ? canonical(system_, world) : pack(system_, world);
  }

  // What breaks a promise when `action` is run.
  template <class Run>
  std::optional<Broken> breaks(Run action) const {
    try {
      action();
    } catch (const Broken& broken) {
      return broken;
    } catch (const ProtocolFault& fault) {
      return Broken{promise_of(fault.kind), text_of(fault)};
    }
    return std::nullopt;
  }

  // On a node's bus the table in memory's place is that of the node's file.
  [[nodiscard]] std::string text_of(const ProtocolFault& fault) const {
    if (fault.controller != Controller::memory) return fault.what();
    return ProtocolFault(fault.kind, system_.subject, Controller::node, fault.state, fault.event).what();
  }

  void expand(StateNumber number) {
    parent_ = number;
    world_ = unpack(system_, states_[number]);
    note_sizes();
    if (number == first_of_next_depth_) {
      ++result_.depth;
      first_of_next_depth_ = static_cast<StateNumber>(states_.size());
    }
    NetworkSteps::enabled(system_, world_, options_.symmetry, enabled_);
    for (const NetworkStep& step : enabled_) take(step);
    if (graph_.successors.size() == graph_.first.back()) {
      return violated_at(number, Promise::no_deadlock, "deadlock: nothing that can happen changes anything");
    }
    graph_.first.push_back(graph_.successors.size());
    check_memory();
  }

  void note_sizes() {
    std::array<int, kMaxCheckedAgents> forwards{};
    for (std::size_t i = 0; i < world_.message_count; ++i) {
      const MessageUnderWay message = unpack_message(world_.messages[i]);
      if (message.to == kMemory || !system_.is_forward(message.message.message)) continue;
      result_.most_forwards = std::max(result_.most_forwards, ++forwards[static_cast<std::size_t>(message.to)]);
    }
    result_.most_messages = std::max(result_.most_messages, static_cast<int>(world_.message_count));
  }

  // The step with each value that can make a difference.
  void take(NetworkStep step) {
    for (step.value = 0; step.value < 2; ++step.value) {
      next_ = world_;
      steps_.run(step);
      ++result_.steps;
      visit();
      if (!steps_.value_used()) return;
    }
  }

  void visit() {
    const NetworkKey key = key_of(next_);
    if (key == states_[parent_]) return;
    graph_.successors.push_back(add(key, parent_));
  }

  StateNumber add(const NetworkKey& key, StateNumber parent) {
    const auto [number, is_new] = states_.insert(key);
    if (is_new) {
      parents_.push_back(parent);
      quiescent_.push_back(is_quiescent(system_, next_));
      check_world(system_, next_);
    }
    return number;
  }

  void check_memory() const {
    const std::size_t used = states_.bytes() + graph_.bytes() + parents_.size() * sizeof(StateNumber) + quiescent_.size() / 8;
    if (used >> 20 < options_.memory_limit_mib) return;
    throw CheckTooLarge(
        fmt::format("{}: nothing is proved: there are more than {} states, and {} MiB hold no more; try fewer {}{}",
                    system_.subject.name, states_.size(), options_.memory_limit_mib,
                    system_.has_nodes ? "nodes or caches" : "caches", options_.symmetry ? "" : ", or symmetry reduction"));
  }

  void check_finishing() {
    if (const auto stuck = first_that_cannot_finish(graph_, quiescent_)) {
      violated_at(*stuck, Promise::can_finish, "what waits here can never be finished, whatever happens next");
    }
  }

  // A step from the state in hand went wrong.
  void violated(const Broken& broken) {
    violated_at(parent_, broken.promise, broken.text);
    find_last_step();
  }

  void violated_at(StateNumber number, Promise promise, std::string text) {
    result_.violation = NetworkViolation{promise, std::move(text), {}};
    std::vector<NetworkKey> path;
    for (; number != 0; number = parents_[number]) path.push_back(states_[number]);
    world_ = NetworkWorld{};
    for (auto key = path.rbegin(); key != path.rend(); ++key) find_step_to(*key);
  }

  // Symmetry reduction has given the agents other names in every state. The path is walked again, each with one name from
  // beginning to end: the step that leads from world_ to a state that is `key` up to names.
  void find_step_to(const NetworkKey& key) {
    NetworkSteps::enabled(system_, world_, false, enabled_);
    for (NetworkStep step : enabled_) {
      for (step.value = 0; step.value < 2; ++step.value) {
        next_ = world_;
        if (breaks([&] { steps_.run(step); })) break;
        if (key_of(next_) == key) {
          result_.violation->steps.push_back(step);
          world_ = next_;
          return;
        }
        if (!steps_.value_used()) break;
      }
    }
  }

  void find_last_step() {
    NetworkSteps::enabled(system_, world_, false, enabled_);
    for (NetworkStep step : enabled_) {
      for (step.value = 0; step.value < 2; ++step.value) {
        next_ = world_;
        const auto broken = breaks([&] {
          steps_.run(step);
          check_world(system_, next_);
        });
        if (broken && broken->promise == result_.violation->promise) {
          result_.violation->steps.push_back(step);
          result_.violation->text = broken->text;
          return;
        }
        if (broken || !steps_.value_used()) break;
      }
    }
  }

  void collect_unreached() {
    collect_unreached(system_.agent_table.controller, system_.agent(), rows_run_.agent);
    collect_unreached(Controller::directory, system_.directory(), rows_run_.directory);
  }

  // A row without a guard covers all words of its event's group; it runs if it runs with one of them.
  void collect_unreached(Controller controller, const ControllerTable& table, const std::vector<bool>& run) {
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      for (const BaseEvent& event : table.base_events) {
        const std::size_t first = state * table.events.size() + event.first;
        for (std::size_t i = first; i < first + event.count; ++i) {
          const std::uint16_t line = table.rows[i].source_line;
          bool runs = false, named = false;
          for (std::size_t other = first; other < first + event.count; ++other) {
            if (table.rows[other].source_line != line) continue;
            runs |= run[other];
            named |= other < i;
          }
          if (table.rows[i].impossible || runs || named) continue;
          result_.unreached.push_back(
              {controller, static_cast<StateId>(state), static_cast<EventId>(i % table.events.size()), line});
        }
      }
    }
  }

  const CheckedSystem system_;
  const NetworkCheckOptions& options_;
  NetworkCheckResult result_;
  BasicStateSet<NetworkKey> states_;
  std::deque<StateNumber> parents_;
  std::vector<bool> quiescent_;
  StepGraph graph_;
  NetworkRowsRun rows_run_;

  StateNumber parent_ = 0;  // the state that is being expanded, its world, the steps to try, and the world after one
  NetworkWorld world_, next_;
  std::vector<NetworkStep> enabled_;
  NetworkSteps steps_;
  StateNumber first_of_next_depth_ = 1;
};

void require_encodable(const Protocol& protocol, std::size_t messages, std::size_t most) {
  if (messages <= most) return;
  throw CheckTooLarge(
      fmt::format("{}: a protocol of {} messages can't be checked; at most {} are possible", protocol.name, messages, most));
}

}  // namespace
}  // namespace checker

NetworkCheckResult check_network(const NetworkProtocols& protocols, const NetworkCheckOptions& options) {
  checker::require_encodable(protocols.directory, protocols.directory.messages.size(), checker::kMaxNetworkMessages);
  if (protocols.bus && protocols.bus->sends_words) {
    throw CheckTooLarge(fmt::format(
        "{}: its stores send words over the bus, and behind a node controller that can't be checked yet", protocols.bus->name));
  }
  if (protocols.bus) checker::require_encodable(*protocols.bus, protocols.bus->messages.size(), checker::kMaxBusMessages);
  return checker::NetworkExplorer(protocols, options).run();
}

}  // namespace linebounce
