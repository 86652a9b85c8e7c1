#include "models/coherence/checker/check_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "models/coherence/checker/can_finish.hpp"
#include "models/coherence/checker/state_set.hpp"
#include "models/coherence/checker/world_copies.hpp"

namespace linebounce {
namespace checker {
namespace {

Promise promise_of(ProtocolFault::Kind kind) {
  switch (kind) {
    case ProtocolFault::Kind::two_suppliers: return Promise::one_supplier;
    case ProtocolFault::Kind::no_data: return Promise::data_arrives;
    case ProtocolFault::Kind::nobody:  // on a network only
    case ProtocolFault::Kind::impossible: break;
  }
  return Promise::impossible_pair;
}

// Breadth first, so that the first violation found is one of the nearest.
class Explorer {
 public:
  Explorer(const Protocol& protocol, const CheckOptions& options)
      : protocol_(protocol), options_(options), rows_run_(protocol), world_copies_(protocol, options, next_, rows_run_) {}

  CheckResult run() {
    add(pack(World{}), {});
    try {
      for (StateNumber number = 0; number < states_.size() && !result_.violation; ++number) expand(number);
    } catch (const Broken& broken) {
      violated(broken.promise, broken.text);
    } catch (const ProtocolFault& fault) {
      violated(promise_of(fault.kind), fault.what());
    }
    if (!result_.violation) check_finishing();
    if (!result_.violation) collect_unreached();
    result_.states = states_.size();
    return std::move(result_);
  }

 private:
  struct Origin {
    StateNumber parent = 0;
    CheckStep step;
  };

  void expand(StateNumber number) {
    parent_ = number;
    world_ = unpack(states_[number]);
    if (number == first_of_next_depth_) {
      ++result_.depth;
      first_of_next_depth_ = static_cast<StateNumber>(states_.size());
    }
    const bool due = world_.data_step_due();
    for (int cache = 0; cache < options_.caches; ++cache) {
      const CacheWorld& copy = world_.caches[static_cast<std::size_t>(cache)];
      if (options_.symmetry && cache > 0 && copy == world_.caches[static_cast<std::size_t>(cache) - 1]) continue;
      take({StepKind::load, cache});
      take({StepKind::store, cache});
      if (copy.state != 0) take({StepKind::evict, cache});
      if (copy.request != 0 && !due) take({StepKind::order, cache});
      if (copy.data_due) take({StepKind::data, cache});
    }
    if (graph_.successors.size() == graph_.first.back()) {
      return violated_at(number, Promise::no_deadlock, "deadlock: nothing that can happen changes anything");
    }
    graph_.first.push_back(graph_.successors.size());
    check_memory();
  }

  // The step with each value that can make a difference.
  void take(CheckStep step) {
    for (step.value = 0; step.value < 2; ++step.value) {
      step_ = step;
      next_ = world_;
      world_copies_.run(step);
      ++result_.steps;
      visit();
      if (!world_copies_.value_used()) return;
    }
  }

  void visit() {
    const Key key = options_.symmetry ? canonical(pack(next_), options_.caches) : pack(next_);
    if (key == states_[parent_]) return;
    graph_.successors.push_back(add(key, {parent_, step_}));
  }

  StateNumber add(const Key& key, const Origin& origin) {
    const auto [number, is_new] = states_.insert(key);
    if (is_new) {
      origins_.push_back(origin);
      quiescent_.push_back(is_quiescent(protocol_, options_.caches, next_));
      check_world(protocol_, options_.caches, next_);
    }
    return number;
  }

  void check_memory() const {
    const std::size_t used = states_.bytes() + graph_.bytes() + origins_.size() * sizeof(Origin) + quiescent_.size() / 8;
    if (used >> 20 < options_.memory_limit_mib) return;
    throw CheckTooLarge(
        fmt::format("{}: nothing is proved: {} caches have more than {} states, and {} MiB hold no more; try fewer caches{}",
                    protocol_.name, options_.caches, states_.size(), options_.memory_limit_mib,
                    options_.symmetry ? "" : ", or symmetry reduction"));
  }

  void check_finishing() {
    if (const auto stuck = first_that_cannot_finish(graph_, quiescent_)) {
      violated_at(*stuck, Promise::can_finish, "what waits here can never be finished, whatever happens next");
    }
  }

  // The step in hand, from the state in hand, went wrong.
  void violated(Promise promise, std::string text) {
    violated_at(parent_, promise, std::move(text));
    result_.violation->steps.push_back(step_);
    rename();
  }

  void violated_at(StateNumber number, Promise promise, std::string text) {
    result_.violation = Violation{promise, std::move(text), {}};
    std::vector<CheckStep>& steps = result_.violation->steps;
    for (; number != 0; number = origins_[number].parent) steps.push_back(origins_[number].step);
    std::reverse(steps.begin(), steps.end());
    if (promise == Promise::no_deadlock || promise == Promise::can_finish) rename();
  }

  // Sorting has renamed the caches after every step; gives each one name from beginning to end, and says what went wrong anew.
  void rename() {
    if (!options_.symmetry) return;
    Violation& violation = *result_.violation;
    World world;
    RowsRun ignored(protocol_);
    WorldCopies copies(protocol_, options_, world, ignored);
    try {
      for (CheckStep& step : violation.steps) {
        step.cache = sorted_caches(world)[static_cast<std::size_t>(step.cache)];
        copies.run(step);
        check_world(protocol_, options_.caches, world);
      }
    } catch (const Broken& broken) {
      violation.text = broken.text;
    } catch (const ProtocolFault& fault) {
      violation.text = fault.what();
    }
  }

  // The caches in the order in which the canonical state has them.
  [[nodiscard]] std::vector<int> sorted_caches(const World& world) const {
    std::vector<int> order(static_cast<std::size_t>(options_.caches));
    std::iota(order.begin(), order.end(), 0);
    const auto word = [&](int cache) { return pack(world.caches[static_cast<std::size_t>(cache)]); };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return word(a) < word(b); });
    return order;
  }

  void collect_unreached() {
    collect_unreached(Controller::cache, protocol_.cache, rows_run_.cache);
    collect_unreached(Controller::memory, protocol_.memory, rows_run_.memory);
  }

  void collect_unreached(Controller controller, const ControllerTable& table, const std::vector<bool>& run) {
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (table.rows[i].impossible || run[i]) continue;
      result_.unreached.push_back({controller, static_cast<StateId>(i / table.events.size()),
                                   static_cast<EventId>(i % table.events.size()), table.rows[i].source_line});
    }
  }

  const Protocol& protocol_;
  const CheckOptions& options_;
  CheckResult result_;
  StateSet states_;
  std::deque<Origin> origins_;
  std::vector<bool> quiescent_;
  StepGraph graph_;
  RowsRun rows_run_;

  StateNumber parent_ = 0;  // the state that is being expanded, its world, the step tried, and the world after it
  World world_, next_;
  CheckStep step_;
  WorldCopies world_copies_;
  StateNumber first_of_next_depth_ = 1;
};

}  // namespace
}  // namespace checker

CheckResult check_protocol(const Protocol& protocol, const CheckOptions& options) {
  if (protocol.messages.size() > checker::kMaxMessages) {
    throw CheckTooLarge(fmt::format("{}: a protocol of {} messages can't be checked; at most {} are possible", protocol.name,
                                    protocol.messages.size(), checker::kMaxMessages));
  }
  return checker::Explorer(protocol, options).run();
}

bool promises(const Protocol& protocol, Promise promise) {
  if (promise == Promise::single_writer) return protocol.invariant_swmr;
  if (promise == Promise::data_value) return protocol.invariant_data_value;
  return true;
}

}  // namespace linebounce
