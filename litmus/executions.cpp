// The search: a path of each thread; for these, the orders of each variable's stores and the sources of its loads that break no
// rule by themselves; and then all combinations of these.
#include "litmus/executions.hpp"

#include <algorithm>
#include <set>

namespace linebounce::sim::litmus {
namespace {

// Models begin with coherence and atomicity, which few of the possible orders keep.
constexpr std::size_t kEarlyRules = 2;

}  // namespace

ExecutionSearch::ExecutionSearch(const Program& program, const Model& model)
    : program_(program), model_(model), paths_(paths_of(program)) {}

bool ExecutionSearch::search(const Condition& condition, std::uint64_t most_tries,
                             const std::function<bool(const Execution&)>& visit) {
  condition_ = &condition;
  visit_ = &visit;
  tries_left_ = most_tries;
  is_done_ = gave_up_ = false;
  refusal_.reset();
  candidates_.clear();
  chosen_.assign(program_.threads.size(), nullptr);
  for (std::size_t thread = 0; thread < program_.threads.size(); ++thread) {
    candidates_.emplace_back();
    for (const Path& path : paths_.threads[thread]) {
      chosen_[thread] = &path;
      if (may_hold(0)) candidates_.back().push_back(&path);
    }
    chosen_[thread] = nullptr;
  }
  choose_path(0);
  return !gave_up_;
}

// False if the chosen paths' registers, or the last stores of the first few variables, contradict the condition.
bool ExecutionSearch::may_hold(std::size_t ordered_variables) const {
  const auto known = [&](const Place& place) -> std::optional<Word> {
    if (place.thread < 0) {
      if (place.number >= static_cast<int>(ordered_variables)) return std::nullopt;
      return graph_->events()[communication_.stores_of[place.number].back()].value;
    }
    if (chosen_[place.thread] == nullptr) return std::nullopt;
    return chosen_[place.thread]->registers[place.number];
  };
  return condition_->holds(known) != false;
}

void ExecutionSearch::choose_path(std::size_t thread) {
  if (thread == candidates_.size()) return try_paths();
  for (const Path* path : candidates_[thread]) {
    chosen_[thread] = path;
    if (may_hold(0) && loads_can_be_served()) choose_path(thread + 1);
    if (is_done_ || gave_up_) break;
  }
  chosen_[thread] = nullptr;
}

// Whether each chosen load's value is an initial one, or is stored by a chosen path or by one that may still be chosen.
bool ExecutionSearch::loads_can_be_served() const {
  std::set<std::pair<int, Word>> served;
  for (std::size_t variable = 0; variable < program_.variables.size(); ++variable)
    served.insert({static_cast<int>(variable), program_.variables[variable].initial});
  const auto add = [&](const Path& path) {
    for (const PathEvent& event : path.events) {
      if (event.kind == PathEvent::Kind::write) served.insert({event.variable, event.value});
    }
  };
  for (std::size_t thread = 0; thread < chosen_.size(); ++thread) {
    if (chosen_[thread] != nullptr) {
      add(*chosen_[thread]);
      continue;
    }
    for (const Path* path : candidates_[thread]) add(*path);
  }
  return std::ranges::all_of(chosen_, [&](const Path* path) {
    return path == nullptr || std::ranges::all_of(path->events, [&](const PathEvent& event) {
             return event.kind != PathEvent::Kind::read || served.contains({event.variable, event.value});
           });
  });
}

void ExecutionSearch::try_paths() {
  graph_ = std::make_unique<Graph>(program_, chosen_, model_);
  const std::size_t variables = program_.variables.size();
  stores_.assign(variables, {});
  loads_.assign(variables, {});
  for (int event = 0; event < graph_->size(); ++event) {
    const GraphEvent& one = graph_->events()[event];
    if (one.kind == GraphEvent::Kind::write) stores_[one.variable].push_back(event);
    if (one.kind == GraphEvent::Kind::read) loads_[one.variable].push_back(event);
  }
  communication_.reads_from.assign(graph_->size(), -1);
  communication_.stores_of.assign(variables, {});
  communication_.later_stores.assign(variables, {});
  placements_.assign(variables, {});
  for (std::size_t variable = 0; variable < variables; ++variable) {
    collect_placements(variable);
    if (placements_[variable].empty() || gave_up_) return;
  }
  combine(0);
}

bool ExecutionSearch::count_try() {
  if (tries_left_ == 0) gave_up_ = true;
  if (gave_up_) return false;
  --tries_left_;
  return true;
}

// The sources and orders that, by themselves, break no rule: first the source of each load, then the order of the stores, of
// which the initial value is the first.
void ExecutionSearch::collect_placements(std::size_t variable) {
  communication_.stores_of[variable] = {stores_[variable].front()};
  communication_.later_stores[variable] = {stores_[variable].begin() + 1, stores_[variable].end()};
  place_loads(variable, 0);
  communication_.stores_of[variable].clear();
  communication_.later_stores[variable].clear();
}

void ExecutionSearch::place_loads(std::size_t variable, std::size_t load) {
  if (load == loads_[variable].size()) return place_stores(variable);
  int& source = communication_.reads_from[loads_[variable][load]];
  for (const int store : stores_[variable]) {
    if (graph_->events()[store].value != graph_->events()[loads_[variable][load]].value) continue;
    source = store;
    if (count_try() && !is_refused(Extent::variable_begun)) place_loads(variable, load + 1);
    if (gave_up_) break;
  }
  source = -1;
}

void ExecutionSearch::place_stores(std::size_t variable) {
  std::vector<int>& order = communication_.stores_of[variable];
  std::vector<int>& later = communication_.later_stores[variable];
  if (later.empty()) {
    if (!count_try() || is_refused(Extent::variable)) return;
    Placement placement{order, {}};
    for (const int one : loads_[variable]) placement.sources.push_back(communication_.reads_from[one]);
    placements_[variable].push_back(std::move(placement));
    return;
  }
  const std::vector<int> rest = later;
  for (std::size_t i = 0; i < rest.size() && !gave_up_; ++i) {
    order.push_back(rest[i]);
    later = rest;
    later.erase(later.begin() + static_cast<std::ptrdiff_t>(i));
    if (count_try() && !is_refused(Extent::variable_begun)) place_stores(variable);
    order.pop_back();
  }
  later = rest;
}

void ExecutionSearch::combine(std::size_t variable) {
  if (variable == placements_.size()) return judge_whole();
  for (const Placement& placement : placements_[variable]) {
    communication_.stores_of[variable] = placement.stores;
    for (std::size_t i = 0; i < placement.sources.size(); ++i)
      communication_.reads_from[loads_[variable][i]] = placement.sources[i];
    // A variable with one placement changes nothing that was not judged before it, mostly: only choices are worth a look.
    const bool is_last = variable + 1 == placements_.size();
    const bool is_worth_a_look = !is_last && placements_[variable].size() > 1 && variable > 0;
    if (is_worth_a_look && !count_try()) break;
    if (may_hold(variable + 1) && !(is_worth_a_look && is_refused(Extent::part))) combine(variable + 1);
    if (is_done_ || gave_up_) break;
  }
  communication_.stores_of[variable].clear();
  for (const int load : loads_[variable]) communication_.reads_from[load] = -1;
}

void ExecutionSearch::judge_whole() {
  if (!count_try()) return;
  Execution execution;
  for (const Path* path : chosen_) execution.end.registers.push_back(path->registers);
  for (const auto& stores : communication_.stores_of) execution.end.variables.push_back(graph_->events()[stores.back()].value);
  if (condition_->holds([&](const Place& place) { return std::optional(execution.end.at(place)); }) == false) return;
  if (is_refused(Extent::whole)) return;
  execution.has_race = graph_->has_race();
  is_done_ = !(*visit_)(execution);
}

// Judges the execution, by a model's first rules alone or by all. Remembers a reason: against a whole execution, or else
// against a part of one, or else against the sources and the order of one variable.
bool ExecutionSearch::is_refused(Extent extent) {
  const std::size_t rules = extent == Extent::variable_begun ? kEarlyRules : model_.rules.size();
  const int broken = graph_->broken_rule(communication_, extent != Extent::whole, rules);
  if (broken < 0) return false;
  if (refusal_ && refused_extent_ >= extent) return true;
  refused_extent_ = extent;
  refusal_ = Refusal{broken, {}};
  for (const int event : graph_->offence(static_cast<std::size_t>(broken))) refusal_->events.push_back(graph_->events()[event]);
  return true;
}

}  // namespace linebounce::sim::litmus
