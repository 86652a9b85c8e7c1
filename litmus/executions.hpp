// Searches the executions of a litmus test that a model allows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "litmus/graph.hpp"

namespace linebounce::sim::litmus {

// The end of an execution: the threads' registers and the variables.
struct FinalState {
  std::vector<std::vector<Word>> registers;
  std::vector<Word> variables;

  [[nodiscard]] Word at(const Place& place) const {
    return place.thread < 0 ? variables[place.number] : registers[place.thread][place.number];
  }
};

// An execution that the model allows.
struct Execution {
  FinalState end;
  bool has_race = false;
};

// The reason why executions with a property are not allowed: the rule that one of them breaks, and the events of the cycle or
// pair.
struct Refusal {
  int rule = -1;
  std::vector<GraphEvent> events;
};

class ExecutionSearch {
 public:
  // Errors: std::invalid_argument if the test is too large.
  ExecutionSearch(const Program& program, const Model& model);

  // Visits allowed executions whose end may satisfy the condition (the caller checks the end), until `visit` returns false.
  // Returns false if the search gave up: it has tried more than `most_tries` candidates.
  bool search(const Condition& condition, std::uint64_t most_tries, const std::function<bool(const Execution&)>& visit);

  [[nodiscard]] const Paths& paths() const { return paths_; }
  // Why the last search rejected a candidate that could satisfy the condition; none if it had no candidate.
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  void choose_path(std::size_t thread);
  [[nodiscard]] bool may_hold(std::size_t ordered_variables) const;
  [[nodiscard]] bool loads_can_be_served() const;
  void try_paths();
  void collect_placements(std::size_t variable);
  void place_stores(std::size_t variable);
  void place_loads(std::size_t variable, std::size_t load);
  void combine(std::size_t variable);
  void judge_whole();
  // How much of an execution is decided.
  enum class Extent : std::uint8_t { variable_begun, variable, part, whole };
  bool is_refused(Extent extent);
  bool count_try();

  const Program& program_;
  const Model& model_;
  Paths paths_;
  // What is being searched.
  const Condition* condition_ = nullptr;
  const std::function<bool(const Execution&)>* visit_ = nullptr;
  std::uint64_t tries_left_ = 0;
  bool is_done_ = false, gave_up_ = false;
  std::vector<std::vector<const Path*>> candidates_;  // by thread: paths that may satisfy the condition
  std::vector<const Path*> chosen_;
  std::optional<Refusal> refusal_;
  Extent refused_extent_ = Extent::variable_begun;  // what `refusal_` is about
  // Of the chosen paths.
  std::unique_ptr<Graph> graph_;
  std::vector<std::vector<int>> stores_, loads_;  // by variable
  // A variable's part of an execution: the order of its stores, and the store of each of its loads.
  struct Placement {
    std::vector<int> stores, sources;
  };
  std::vector<std::vector<Placement>> placements_;  // by variable
  Communication communication_;
};

}  // namespace linebounce::sim::litmus
