#include "models/coherence/checker/network/check_network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/coherence/checker/network/network_steps.hpp"
#include "models/coherence/checker/search.hpp"

namespace linebounce {
namespace checker {
namespace {

// The Model (see search.hpp) of a directory with nodes or caches.
class NetworkModel {
 public:
  using Key = NetworkKey;
  using World = NetworkWorld;
  using Step = NetworkStep;

  NetworkModel(const NetworkProtocols& protocols, const NetworkCheckOptions& options)
      : system_(protocols, options), codec_(system_), options_(options), rows_run_(system_) {}

  [[nodiscard]] NetworkKey key_of(const NetworkWorld& world) const {
    return options_.symmetry ? codec_.canonical(world) : codec_.pack(world);
  }
  [[nodiscard]] NetworkWorld unpack(const NetworkKey& key) const { return codec_.unpack(key); }

  void enabled(const NetworkWorld& world, bool symmetry, std::vector<NetworkStep>& steps) const {
    NetworkSteps::enabled(system_, world, symmetry, steps);
  }

  bool run(NetworkWorld& world, const NetworkStep& step) {
    NetworkSteps steps(system_, world, rows_run_);
    steps.run(step);
    return steps.value_used();
  }

  void check(const NetworkWorld& world) const { check_world(system_, world); }
  [[nodiscard]] bool quiescent(const NetworkWorld& world) const { return is_quiescent(system_, world); }

  void saw(const NetworkWorld& world) {
    std::array<int, kMaxCheckedAgents> forwards{};
    for (std::size_t i = 0; i < world.message_count; ++i) {
      const MessageUnderWay& message = world.messages[i];
      if (way_of(message) != Way::to_agent || !system_.is_forward(message.message.message)) continue;
      most_forwards_ = std::max(most_forwards_, ++forwards[message.to]);
    }
    most_messages_ = std::max(most_messages_, static_cast<int>(world.message_count));
  }

  // A memory row of a node's bus is a row of the node's protocol, so the violation's text must refer to that protocol.
  [[nodiscard]] Broken broken_by(const ProtocolFault& fault) const {
    const Property property = property_of(fault.kind);
    if (fault.controller != Controller::memory) return {property, fault.what()};
    return {property, ProtocolFault(fault.kind, system_.subject, Controller::node, fault.state, fault.event).what()};
  }

  [[nodiscard]] std::string too_large(std::size_t states) const {
    return fmt::format("{}: nothing is proved: there are more than {} states, and {} MiB hold no more; try fewer {}{}",
                       system_.subject.name, states, options_.memory_limit_mib,
                       system_.has_nodes    ? "nodes or caches"
                       : system_.has_groups ? "groups or caches"
                                            : "caches",
                       options_.symmetry ? "" : ", or symmetry reduction");
  }

  [[nodiscard]] std::vector<UnreachedRow> unreached() const {
    std::vector<UnreachedRow> rows;
    collect_unreached(system_.agent_rules.controller, system_.agent(), rows_run_.agent, rows);
    // With groups, the directory's rows are not counted: a system with caches as agents proves the directory.
    if (!system_.has_groups) collect_unreached(Controller::directory, system_.directory(), rows_run_.directory, rows);
    return rows;
  }

  [[nodiscard]] int most_forwards() const { return most_forwards_; }
  [[nodiscard]] int most_messages() const { return most_messages_; }

 private:
  // A row that the protocol's file gives without a guard becomes one table row for each qualified event, all with the same
  // source line. It has run if any of these has run, and is reported at most once.
  static void collect_unreached(Controller controller, const ControllerTable& table, const std::vector<bool>& run,
                                std::vector<UnreachedRow>& rows) {
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
          rows.push_back({controller, static_cast<StateId>(state), static_cast<EventId>(i % table.events.size()), line});
        }
      }
    }
  }

  const CheckedSystem system_;
  const WorldCodec codec_;
  const NetworkCheckOptions& options_;
  NetworkRowsRun rows_run_;
  int most_forwards_ = 0;
  int most_messages_ = 0;
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
  checker::NetworkModel model(protocols, options);
  NetworkCheckResult result;
  checker::Search(model, options.symmetry, options.memory_limit_mib).run(result);
  result.most_forwards = model.most_forwards();
  result.most_messages = model.most_messages();
  // Rows of the bus's protocol are not among the unreached rows, because check_protocol() checks that protocol.
  if (!result.violation) result.unreached = model.unreached();
  return result;
}

}  // namespace linebounce
