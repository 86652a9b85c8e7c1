// The verdict of a memory model on a litmus test.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "litmus/executions.hpp"

namespace linebounce::sim::litmus {

// What a test can show: the registers that its condition or its loads name, and the variables of the condition.
std::vector<Place> shown_places(const Program& program);
std::string place_name(const Program& program, const Place& place);

// A final state, as the values of shown_places().
using Outcome = std::vector<Word>;

enum class Observation : std::uint8_t { never, sometimes, always, no_execution, undecided };

struct Judgement {
  // How often allowed executions satisfy the proposition inside "exists (...)".
  Observation observation = Observation::undecided;
  bool has_race = false;
  bool race_is_known = true;                  // false: the search for a race was too long
  std::optional<std::set<Outcome>> outcomes;  // all that are allowed; none: there are too many candidates to list them
  std::optional<Refusal> refusal;             // never: what forbids it
};

struct JudgeLimits {
  std::uint64_t all = 20'000;      // candidates for a list of all outcomes
  std::uint64_t witness = 60'000;  // candidates for one execution with a property
};

class Judge {
 public:
  // Errors: std::invalid_argument if the test is too large.
  Judge(const Program& program, const Model& model, const JudgeLimits& limits = {});

  const Judgement& judgement();
  // Whether an allowed execution ends with these values of shown_places(). Nothing if the search was too long.
  std::optional<bool> allows(const Outcome& outcome);
  // What forbids such an outcome. Nothing if it is allowed, or if no order of stores and loads gives these values.
  std::optional<Refusal> refusal_of(const Outcome& outcome);
  [[nodiscard]] const Paths& paths() const { return search_.paths(); }

 private:
  void list_all();
  void find_witnesses();
  // Whether an allowed execution satisfies the condition; nothing if the search was too long.
  std::optional<bool> exists(const Condition& condition, bool with_race = false);
  [[nodiscard]] Condition condition_of(const Outcome& outcome) const;

  const Program& program_;
  const Model& model_;
  JudgeLimits limits_;
  ExecutionSearch search_;
  std::vector<Place> places_;
  std::optional<Judgement> judgement_;
};

// What the file says, compared with a judgement. Nothing if the file states nothing, or the judgement is undecided.
std::optional<bool> agrees(const Program& program, const Judgement& judgement);

std::string_view observation_name(Observation observation);

}  // namespace linebounce::sim::litmus
