#include "litmus/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace linebounce::sim::litmus {
namespace {

bool holds(const Condition& condition, const FinalState& end) {
  return condition.holds([&](const Place& place) { return std::optional(end.at(place)); }) == true;
}

// Whether the test has an access of which nothing is said; others do not race.
bool has_plain_access(const Program& program) {
  return std::ranges::any_of(program.threads, [](const Thread& thread) {
    return std::ranges::any_of(thread.instructions, [](const Instruction& one) {
      return one.tags == 0 && (one.kind == Instruction::Kind::load || one.kind == Instruction::Kind::store);
    });
  });
}

}  // namespace

std::vector<Place> shown_places(const Program& program) {
  std::set<Place> registers, variables;
  const auto add = [&](const Place& place) { (place.thread < 0 ? variables : registers).insert(place); };
  program.condition.places(add);
  program.filter.places(add);
  for (std::size_t thread = 0; thread < program.threads.size(); ++thread) {
    const Thread& of = program.threads[thread];
    for (const Instruction& one : of.instructions) {
      // Registers whose names begin with a point belong to the readers.
      if (one.kind == Instruction::Kind::load && of.registers[std::max(one.target, 0)].front() != '.' && one.target >= 0)
        registers.insert({static_cast<int>(thread), one.target});
    }
  }
  std::vector<Place> all(registers.begin(), registers.end());
  all.insert(all.end(), variables.begin(), variables.end());
  return all;
}

std::string place_name(const Program& program, const Place& place) {
  if (place.thread < 0) return program.variables[place.number].name;
  return fmt::format("{}:{}", place.thread, program.threads[place.thread].registers[place.number]);
}

Judge::Judge(const Program& program, const Model& model, const JudgeLimits& limits)
    : program_(program), model_(model), limits_(limits), search_(program, model), places_(shown_places(program)) {}

const Judgement& Judge::judgement() {
  if (!judgement_) {
    judgement_.emplace();
    find_witnesses();
    // A test with too many candidates for a verdict has too many for a list.
    if (judgement_->observation != Observation::undecided) list_all();
  }
  return *judgement_;
}

void Judge::list_all() {
  std::set<Outcome> outcomes;
  bool has_yes = false, has_no = false, has_race = false;
  const bool is_whole = search_.search(program_.filter, limits_.all, [&](const Execution& execution) {
    Outcome outcome;
    for (const Place& place : places_) outcome.push_back(execution.end.at(place));
    (holds(program_.condition, execution.end) ? has_yes : has_no) = true;
    has_race = has_race || execution.has_race;
    outcomes.insert(std::move(outcome));
    return true;
  });
  if (!is_whole) return;
  judgement_->outcomes = std::move(outcomes);
  judgement_->has_race = has_race;
  judgement_->observation = has_yes && has_no ? Observation::sometimes
                            : has_yes         ? Observation::always
                            : has_no          ? Observation::never
                                              : Observation::no_execution;
}

void Judge::find_witnesses() {
  const auto yes = exists(program_.condition);
  // Why not, if not.
  if (yes == false) judgement_->refusal = search_.refusal();
  const auto no = exists(Condition::negated(program_.condition));
  if (yes && no) {
    judgement_->observation =
        *yes ? (*no ? Observation::sometimes : Observation::always) : (*no ? Observation::never : Observation::no_execution);
  } else if (yes == true && !no) {
    judgement_->observation = Observation::sometimes;  // how often the opposite occurs is not known; the question is answered
  }
  const bool may_race = std::ranges::any_of(model_.rules, &ModelRule::is_race) && has_plain_access(program_);
  const auto race = may_race ? exists({}, true) : std::optional(false);
  judgement_->race_is_known = race.has_value();
  judgement_->has_race = race.value_or(false);
}

std::optional<bool> Judge::exists(const Condition& condition, bool with_race) {
  bool is_found = false;
  const Condition both = Condition::joined(Condition::Kind::all, program_.filter, condition);
  const bool is_whole = search_.search(both, limits_.witness, [&](const Execution& execution) {
    is_found = holds(both, execution.end) && (!with_race || execution.has_race);
    return !is_found;
  });
  return is_found ? std::optional(true) : is_whole ? std::optional(false) : std::nullopt;
}

Condition Judge::condition_of(const Outcome& outcome) const {
  Condition condition;
  condition.kind = Condition::Kind::all;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Condition term;
    term.kind = Condition::Kind::term;
    term.place = places_[i];
    term.value = outcome[i];
    condition.parts.push_back(std::move(term));
  }
  return condition;
}

std::optional<bool> Judge::allows(const Outcome& outcome) {
  if (judgement_ && judgement_->outcomes) return judgement_->outcomes->contains(outcome);
  return exists(condition_of(outcome));
}

std::optional<Refusal> Judge::refusal_of(const Outcome& outcome) {
  return exists(condition_of(outcome)) == false ? search_.refusal() : std::nullopt;
}

std::optional<bool> agrees(const Program& program, const Judgement& judgement) {
  if (program.stated.empty() || judgement.observation == Observation::undecided) return std::nullopt;
  // Nothing is promised about a test with a data race, whatever the rest of the rules allows.
  if (program.states_race && !judgement.has_race) return judgement.race_is_known ? std::optional(false) : std::nullopt;
  if (program.states_race) return true;
  // The kernel's documents call a test without any execution a deadlock, or Never.
  if (judgement.observation == Observation::no_execution) return program.stated == "Deadlock" || program.stated == "Never";
  return program.stated == observation_name(judgement.observation);
}

std::string_view observation_name(Observation observation) {
  constexpr std::array<std::string_view, 5> kNames = {"Never", "Sometimes", "Always", "Deadlock", "undecided"};
  return kNames[static_cast<std::size_t>(observation)];
}

}  // namespace linebounce::sim::litmus
