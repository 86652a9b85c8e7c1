// A breadth-first search of every state that a small system can reach. It finds violations that take few steps first. The
// system is defined by a Model.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/checker/can_finish.hpp"
#include "models/coherence/checker/search_result.hpp"
#include "models/coherence/checker/state_set.hpp"

namespace linebounce::checker {

inline Property property_of(ProtocolFault::Kind kind) {
  switch (kind) {
    case ProtocolFault::Kind::two_suppliers: return Property::one_supplier;
    case ProtocolFault::Kind::nothing_passes:
    case ProtocolFault::Kind::no_data: return Property::data_arrives;
    case ProtocolFault::Kind::nobody: return Property::accounted;
    case ProtocolFault::Kind::impossible: break;
  }
  return Property::impossible_pair;
}

// Runs `action` and returns the violation that it throws, if any.
template <class Model, class Action>
std::optional<Broken> breaks(const Model& model, Action action) {
  try {
    action();
  } catch (const Broken& broken) {
    return broken;
  } catch (const ProtocolFault& fault) {
    return model.broken_by(fault);
  }
  return std::nullopt;
}

// A Model provides:
//   types Key, World (default-constructed: the initial state) and Step (with a member `value`);
//   key_of(world): the state's key; states that differ only in names may share a key;
//   unpack(key): a world with this key;
//   enabled(world, symmetry, steps): lists the possible steps; with symmetry, may omit some that differ only in names;
//   run(world, step): runs the step; true if step.value mattered. Errors: Broken, ProtocolFault, with the world partly changed;
//   check(world): throws Broken if the state violates a property;
//   quiescent(world): true if nothing is pending;
//   saw(world): called by the search once for each state;
//   broken_by(fault): the violation that a ProtocolFault stands for;
//   too_large(states): the message for a user if the memory limit is reached after `states` states.
template <class Model>
class Search {
 public:
  using Step = typename Model::Step;

  Search(Model& model, bool symmetry, std::size_t memory_limit_mib)
      : model_(model), symmetry_(symmetry), memory_limit_mib_(memory_limit_mib) {}

  // Runs the search and fills in `result`, except for `unreached`. Errors: CheckTooLarge.
  void run(SearchResult<Step>& result) {
    const auto broken = breaks(model_, [&] {
      add(model_.key_of(World{}), World{}, 0);
      for (StateNumber number = 0; number < states_.size() && !violation_; ++number) expand(number);
    });
    if (broken) {
      violated_at(parent_, broken->property, broken->text);
      find_last_step();
    }
    if (!violation_) check_finishing();
    result.states = states_.size();
    result.steps = steps_tried_;
    result.depth = depth_;
    result.violation = std::move(violation_);
  }

 private:
  using World = typename Model::World;
  using Key = typename Model::Key;

  void expand(StateNumber number) {
    parent_ = number;
    world_ = model_.unpack(states_[number]);
    model_.saw(world_);
    if (number == first_of_next_depth_) {
      ++depth_;
      first_of_next_depth_ = static_cast<StateNumber>(states_.size());
    }
    model_.enabled(world_, symmetry_, enabled_);
    for (const Step& step : enabled_) take(step);
    if (graph_.successors.size() == graph_.first.back()) {
      return violated_at(number, Property::no_deadlock, "deadlock: nothing that can happen changes anything");
    }
    graph_.first.push_back(graph_.successors.size());
    check_memory();
  }

  // Tries the step with value 0 and, if the value matters, with value 1.
  void take(Step step) {
    for (step.value = 0; step.value < 2; ++step.value) {
      next_ = world_;
      const bool value_used = model_.run(next_, step);
      ++steps_tried_;
      const Key key = model_.key_of(next_);
      if (key != states_[parent_]) graph_.successors.push_back(add(key, next_, parent_));
      if (!value_used) return;
    }
  }

  StateNumber add(const Key& key, const World& world, StateNumber parent) {
    const auto [number, is_new] = states_.insert(key);
    if (is_new) {
      parents_.push_back(parent);
      quiescent_.push_back(model_.quiescent(world));
      model_.check(world);
    }
    return number;
  }

  void check_memory() const {
    const std::size_t used = states_.bytes() + graph_.bytes() + parents_.size() * sizeof(StateNumber) + quiescent_.size() / 8;
    if (used >> 20 >= memory_limit_mib_) throw CheckTooLarge(model_.too_large(states_.size()));
  }

  void check_finishing() {
    if (const auto stuck = first_that_cannot_finish(graph_, quiescent_)) {
      violated_at(*stuck, Property::can_finish, "what waits here can never be finished, whatever happens next");
    }
  }

  // Records a violation in state `number`, and the steps that lead there. Leaves world_ in that state.
  void violated_at(StateNumber number, Property property, std::string text) {
    violation_ = CheckViolation<Step>{property, std::move(text), {}};
    std::vector<Key> path;
    for (; number != 0; number = parents_[number]) path.push_back(states_[number]);
    world_ = World{};
    for (auto key = path.rbegin(); key != path.rend(); ++key) find_step_to(*key);
  }

  // Finds the step from world_ to a state that equals `key` up to renaming, and takes it. Needed because symmetry reduction
  // renames agents in every state, so the path is replayed with one set of names.
  void find_step_to(const Key& key) {
    try_all([&](const std::optional<Broken>& broken) { return !broken && model_.key_of(next_) == key; });
    world_ = next_;
  }

  // Finds the step from world_ that violates the recorded property. Replaces the recorded text by the text of this step's
  // violation, which uses the names of the replayed path.
  void find_last_step() {
    try_all([&](const std::optional<Broken>& broken) {
      if (!broken || broken->property != violation_->property) return false;
      violation_->text = broken->text;
      return true;
    });
  }

  // Tries the steps from world_ until `found` returns true, and records the step that was found. `found` gets the step's
  // violation, if any, and may read next_, the state after the step.
  template <class Found>
  void try_all(Found found) {
    model_.enabled(world_, false, enabled_);
    for (Step step : enabled_) {
      for (step.value = 0; step.value < 2; ++step.value) {
        next_ = world_;
        bool value_used = false;
        const auto broken = breaks(model_, [&] {
          value_used = model_.run(next_, step);
          model_.check(next_);
        });
        if (found(broken)) {
          violation_->steps.push_back(step);
          return;
        }
        if (broken || !value_used) break;
      }
    }
  }

  Model& model_;
  bool symmetry_;
  std::size_t memory_limit_mib_;
  StateSet<Key> states_;
  std::deque<StateNumber> parents_;
  std::vector<bool> quiescent_;
  StepGraph graph_;
  std::size_t steps_tried_ = 0;
  int depth_ = 0;
  StateNumber first_of_next_depth_ = 1;
  std::optional<CheckViolation<Step>> violation_;

  StateNumber parent_ = 0;     // the number of the state that is being expanded
  World world_, next_;         // the state that is being expanded or replayed, and the state after one of its steps
  std::vector<Step> enabled_;  // the possible steps of world_
};

}  // namespace linebounce::checker
