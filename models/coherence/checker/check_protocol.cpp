#include "models/coherence/checker/check_protocol.hpp"

#include <fmt/format.h>

#include "models/coherence/checker/search.hpp"
#include "models/coherence/checker/world_copies.hpp"

namespace linebounce {
namespace checker {
namespace {

// The Model (see search.hpp) of the caches on one bus.
class BusModel {
 public:
  using Key = checker::Key;
  using World = checker::World;
  using Step = CheckStep;

  BusModel(const Protocol& protocol, const CheckOptions& options)
      : protocol_(protocol), options_(options), rows_run_(protocol) {}

  [[nodiscard]] Key key_of(const World& world) const {
    return options_.symmetry ? canonical(pack(world), options_.caches) : pack(world);
  }
  [[nodiscard]] static World unpack(const Key& key) { return checker::unpack(key); }

  void enabled(const World& world, bool symmetry, std::vector<CheckStep>& steps) const {
    steps.clear();
    // True: the step that runs an access also orders the messages that the access issues.
    const bool at_once = orders_at_once(protocol_);
    const bool due = world.data_step_due();
    for (int cache = 0; cache < options_.caches; ++cache) {
      const ControllerWorld& copy = world.caches[cache];
      if (symmetry && cache > 0 && copy == world.caches[static_cast<std::size_t>(cache) - 1]) continue;
      steps.push_back({StepKind::load, cache});
      steps.push_back({StepKind::store, cache});
      if (protocol_.has_far_atomics()) steps.push_back({StepKind::atomic, cache});
      if (copy.entry.state != 0) steps.push_back({StepKind::evict, cache});
      if (copy.request != 0 && !due && !at_once) steps.push_back({StepKind::order, cache});
      if (copy.data_due) steps.push_back({StepKind::data, cache});
    }
  }

  bool run(World& world, const CheckStep& step) {
    WorldCopies copies(protocol_, options_, world, rows_run_);
    copies.run(step);
    return copies.value_used();
  }

  void check(const World& world) const { check_world(protocol_, options_.caches, world); }
  [[nodiscard]] bool quiescent(const World& world) const { return is_quiescent(protocol_, options_.caches, world); }
  void saw(const World&) const {}
  [[nodiscard]] static Broken broken_by(const ProtocolFault& fault) { return {property_of(fault.kind), fault.what()}; }

  [[nodiscard]] std::string too_large(std::size_t states) const {
    return fmt::format("{}: nothing is proved: {} caches have more than {} states, and {} MiB hold no more; try fewer caches{}",
                       protocol_.name, options_.caches, states, options_.memory_limit_mib,
                       options_.symmetry ? "" : ", or symmetry reduction");
  }

  [[nodiscard]] std::vector<UnreachedRow> unreached() const {
    std::vector<UnreachedRow> rows;
    collect_unreached(Controller::cache, protocol_.cache, rows_run_.cache, rows);
    collect_unreached(Controller::memory, protocol_.memory, rows_run_.memory, rows);
    return rows;
  }

 private:
  static void collect_unreached(Controller controller, const ControllerTable& table, const std::vector<bool>& run,
                                std::vector<UnreachedRow>& rows) {
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (table.rows[i].impossible || run[i]) continue;
      rows.push_back({controller, static_cast<StateId>(i / table.events.size()), static_cast<EventId>(i % table.events.size()),
                      table.rows[i].source_line});
    }
  }

  const Protocol& protocol_;
  const CheckOptions& options_;
  RowsRun rows_run_;
};

}  // namespace
}  // namespace checker

CheckResult check_protocol(const Protocol& protocol, const CheckOptions& options) {
  if (protocol.messages.size() > checker::kMaxMessages) {
    throw CheckTooLarge(fmt::format("{}: a protocol of {} messages can't be checked; at most {} are possible", protocol.name,
                                    protocol.messages.size(), checker::kMaxMessages));
  }
  checker::BusModel model(protocol, options);
  CheckResult result;
  checker::Search(model, options.symmetry, options.memory_limit_mib).run(result);
  if (!result.violation) result.unreached = model.unreached();
  return result;
}

bool claims(const Protocol& protocol, Property property) {
  if (property == Property::single_writer) return protocol.invariant_swmr;
  if (property == Property::data_value) return protocol.invariant_data_value;
  return true;
}

}  // namespace linebounce
