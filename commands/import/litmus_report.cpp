#include "commands/import/litmus_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "litmus/shipped_models.hpp"
#include "models/text/visible.hpp"

namespace linebounce::sim {
namespace {

using litmus::GraphEvent;
using litmus::Observation;
using litmus::Outcome;
using litmus::Program;

constexpr std::string_view kWhyNever =
    "the simulated core completes a load before its next operation, and a store reaches all other CPUs at once";

bool is_asked(const Program& program, const Outcome& outcome) {
  const std::vector<litmus::Place> places = litmus::shown_places(program);
  const auto value = [&](const litmus::Place& place) -> std::optional<litmus::Word> {
    const auto found = std::ranges::find(places, place);
    return found == places.end() ? std::nullopt : std::optional(outcome[found - places.begin()]);
  };
  return (program.condition.holds(value) == true) != (program.quantifier == Program::Quantifier::for_all);
}

std::string event_text(const Program& program, const GraphEvent& event) {
  const std::string variable = event.variable < 0 ? "" : program.variables[event.variable].name;
  if (event.thread < 0) return fmt::format("{} starts at {}", variable, program.text_of(event.value));
  const std::string where = event.line > 0 ? fmt::format(" (line {})", event.line) : "";
  switch (event.kind) {
    case GraphEvent::Kind::read:
      return fmt::format("P{} loads {}={}{}", event.thread, variable, program.text_of(event.value), where);
    case GraphEvent::Kind::write:
      return fmt::format("P{} stores {}={}{}", event.thread, variable, program.text_of(event.value), where);
    case GraphEvent::Kind::sight: return fmt::format("a CPU sees P{}'s store to {}", event.thread, variable);
    case GraphEvent::Kind::fence: break;
  }
  return fmt::format("P{}'s fence{}", event.thread, where);
}

// The rule, and the events that break it.
std::string rule_text(const JudgedTest& test, const litmus::Refusal& refusal) {
  const litmus::ModelRule& rule = test.model->rules[refusal.rule];
  std::vector<std::string> events;
  for (const GraphEvent& event : refusal.events) events.push_back(event_text(*test.program, event));
  if (rule.kind == litmus::ModelRule::Kind::acyclic && !events.empty()) events.emplace_back("the first again");
  return fmt::format("Rule \"{}\": {}{}{}", rule.name, rule.why,
                     events.empty() ? "" : " Against it: ", fmt::join(events, ", then "));
}

bool is_for_all(const JudgedTest& test) {
  return test.program->quantifier == Program::Quantifier::for_all;
}

std::string seen_text(const JudgedTest& test) {
  if (!test.machine) return "";
  const std::int64_t seen = test.asked_seen(), rounds = test.machine->rounds;
  if (seen == 0) return fmt::format(", and never seen in {} rounds", rounds);
  return fmt::format(", and seen in {} of {} rounds", seen, rounds);
}

// Of an outcome that the model allows.
std::string allowed_seen_text(const JudgedTest& test) {
  const bool has_reason = test.machine && test.asked_seen() == 0 && !test.machine->can_end_as_asked;
  return seen_text(test) + (has_reason ? fmt::format(": {}", kWhyNever) : "");
}

// For a test without a verdict: the reason, and how often the machine showed the outcome.
std::string unjudged_text(const JudgedTest& test) {
  std::string text = fmt::format("No verdict: {}.", test.not_judged);
  if (!test.machine) return text;
  const std::int64_t seen = test.asked_seen(), rounds = test.machine->rounds;
  const std::string where = fmt::format("on a machine with {}'s store buffers", test.machine->consistency);
  if (seen > 0)
    return text + fmt::format(" {} of {} rounds {}, {}.", seen, rounds,
                              is_for_all(test) ? "broke the condition" : "ended as asked about", where);
  text += fmt::format(" {} {} rounds {}", is_for_all(test) ? "The condition held in all" : "Never seen in", rounds, where);
  if (test.machine->can_end_as_asked) return text + ".";
  return text + fmt::format(", which can't {}: {}.", is_for_all(test) ? "break it" : "end so", kWhyNever);
}

std::string exists_text(const JudgedTest& test) {
  switch (test.judgement->observation) {
    case Observation::never:
      return fmt::format("forbidden by {}{}{}", test.model->title, test.asked_seen() > 0 ? ", and yet" : "",
                         seen_text(test).substr(test.asked_seen() > 0 ? std::string_view(", and").size() : 0));
    case Observation::sometimes:
    case Observation::always: return fmt::format("allowed by {}{}", test.model->title, allowed_seen_text(test));
    case Observation::no_execution: return fmt::format("by {}, no execution ends: {}", test.model->title, test.why_none_ends);
    case Observation::undecided: break;
  }
  return "not decided: there are too many candidates for an execution to try them all" + seen_text(test);
}

std::string for_all_text(const JudgedTest& test) {
  switch (test.judgement->observation) {
    case Observation::always: return fmt::format("holds: {} allows no other outcome{}", test.model->title, seen_text(test));
    case Observation::never:
    case Observation::sometimes:
      return fmt::format("does not hold: {} allows other outcomes{}", test.model->title, allowed_seen_text(test));
    default: return exists_text(test);
  }
}

std::string verdict_text(const JudgedTest& test) {
  if (!test.judgement) return unjudged_text(test);
  const std::string text = is_for_all(test) ? for_all_text(test) : exists_text(test);
  if (!test.judgement->has_race) return text;
  return fmt::format("a data race: {} promises nothing of this test. Its other rules say: {}", test.model->title, text);
}

std::string stated_text(const JudgedTest& test) {
  const std::string stated = test.program->stated + (test.program->states_race ? " DATARACE" : "");
  if (test.contradicts_what_was_seen()) return fmt::format("The file says {}, which rules out what was seen.", stated);
  const auto agrees = test.agrees();
  return fmt::format("The file says {}{}.", stated,
                     !agrees   ? ""
                     : *agrees ? ", as this verdict does"
                               : ": another verdict than this one");
}

void print_outcomes(const JudgedTest& test, const std::optional<std::set<Outcome>>& sequential, const Painter& paint) {
  std::set<Outcome> all = test.judgement ? test.judgement->outcomes.value_or(std::set<Outcome>()) : std::set<Outcome>();
  if (test.machine) {
    for (const auto& [outcome, times] : test.machine->seen) all.insert(outcome);
  }
  Table table({names("outcome"), figures("seen", 8, 2), words("", 0, 2)}, paint);
  table.add_rule();
  const std::string about = is_for_all(test) ? "breaks the condition" : "asked about";
  for (const Outcome& outcome : all) {
    std::vector<std::string> remarks;
    const bool asked = is_asked(*test.program, outcome);
    if (asked) remarks.push_back(about);
    if (test.forbidden.contains(outcome)) remarks.emplace_back("FORBIDDEN");
    if (sequential && !sequential->contains(outcome)) remarks.emplace_back("no interleaving gives it");
    std::int64_t times = 0;
    if (test.machine && test.machine->seen.contains(outcome)) times = test.machine->seen.at(outcome);
    table.add({{outcome_text(*test.program, outcome), asked ? Colour::bold : Colour::none},
               test.machine ? std::to_string(times) : "-",
               fmt::format("{}", fmt::join(remarks, ", "))});
  }
  if (!all.empty()) std::cout << "\n" << table.text();
}

// Of one test, the outcomes that interleavings give.
std::optional<std::set<Outcome>> sequential_outcomes(const Program& program) {
  const litmus::Model model = litmus::load_model("sc");
  return litmus::Judge(program, model).judgement().outcomes;
}

std::string asked_text(const JudgedTest& test) {
  if (!test.judgement) return "no verdict";
  if (test.judgement->has_race) return "data race";
  switch (test.judgement->observation) {
    case Observation::never: return is_for_all(test) ? "not always" : "forbidden";
    case Observation::sometimes: return is_for_all(test) ? "not always" : "allowed";
    case Observation::always: return is_for_all(test) ? "always" : "allowed";
    case Observation::no_execution: return "deadlock";
    case Observation::undecided: break;
  }
  return "undecided";
}

std::string outcomes_seen_text(const JudgedTest& test) {
  if (!test.machine) return "-";
  const auto seen = std::ranges::count_if(test.machine->seen, [](const auto& one) { return one.second > 0; });
  if (!test.judgement || !test.judgement->outcomes) return std::to_string(seen);
  const auto allowed = std::ranges::count_if(*test.judgement->outcomes, [&](const Outcome& outcome) {
    return test.machine->seen.contains(outcome) && test.machine->seen.at(outcome) > 0;
  });
  return fmt::format("{} of {}", allowed, test.judgement->outcomes->size());
}

// Counts verdicts, for the sentence below the table of several tests.
class Summary {
 public:
  void add(const JudgedTest& test) {
    const std::string asked = asked_text(test);
    if (asked == "allowed" || asked == "not always") {
      ++allowed_;
      allowed_seen_ += test.asked_seen() > 0 ? 1 : 0;
    } else if (asked == "forbidden" || asked == "always") {
      ++forbidden_;
    } else {
      ++others_[test.judgement ? asked : test.not_judged];
    }
    forbidden_times_ += test.forbidden_seen();
    const auto agrees = test.agrees();
    stated_ += agrees ? 1 : 0;
    if (agrees == false) differing_.push_back(visible_name(test.program->name));
    if (test.contradicts_what_was_seen()) contradicting_.push_back(visible_name(test.program->name));
  }

  void print(const Painter& paint) const {
    const auto say = [&](const std::string& text, Colour colour = Colour::none) {
      std::cout << paragraph(text, 2, colour, paint);
    };
    if (allowed_ + forbidden_ > 0)
      say(fmt::format(
          "{}: of the outcomes asked about, {} are allowed ({} of them seen), and {} are forbidden. Forbidden outcomes were "
          "seen {} times.",
          plural(allowed_ + forbidden_, "test"), allowed_, allowed_seen_, forbidden_, forbidden_times_));
    for (const auto& [reason, count] : others_)
      say(fmt::format("{} without such a verdict: {}.", plural(count, "test"), reason));
    if (stated_ > 0)
      say(fmt::format("{} of {} verdicts are what the file itself states.", stated_ - differing_.size(), stated_));
    if (!differing_.empty())
      say(fmt::format("Another verdict than the file's own: {}.", fmt::join(differing_, ", ")), Colour::yellow);
    if (!contradicting_.empty())
      say(fmt::format("The file's result rules out what was seen: {}.", fmt::join(contradicting_, ", ")), Colour::yellow);
  }

 private:
  std::size_t allowed_ = 0, allowed_seen_ = 0, forbidden_ = 0, stated_ = 0;
  std::int64_t forbidden_times_ = 0;
  std::map<std::string, std::size_t> others_;  // tests, by why they have no verdict, or what their verdict is
  std::vector<std::string> differing_, contradicting_;
};

}  // namespace

std::int64_t JudgedTest::asked_seen() const {
  std::int64_t times = 0;
  if (!machine) return times;
  for (const auto& [outcome, count] : machine->seen) times += is_asked(*program, outcome) ? count : 0;
  return times;
}

std::int64_t JudgedTest::forbidden_seen() const {
  std::int64_t times = 0;
  for (const auto& [outcome, refusal] : forbidden) times += machine->seen.at(outcome);
  return times;
}

// Of a test with a verdict, the verdict is compared instead. An outcome that the file allows need not be seen.
bool JudgedTest::contradicts_what_was_seen() const {
  if (judgement || !machine) return false;
  const std::int64_t satisfied = is_for_all(*this) ? machine->rounds - asked_seen() : asked_seen();
  return (program->stated == "Never" && satisfied > 0) || (program->stated == "Always" && satisfied < machine->rounds);
}

std::optional<bool> JudgedTest::agrees() const {
  return judgement ? litmus::agrees(*program, *judgement) : std::nullopt;
}

std::string outcome_text(const Program& program, const Outcome& outcome) {
  const std::vector<litmus::Place> places = litmus::shown_places(program);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < places.size(); ++i)
    parts.push_back(fmt::format("{}={}", litmus::place_name(program, places[i]), program.text_of(outcome[i])));
  return visible_name(fmt::format("{}", fmt::join(parts, "; ")));
}

void print_litmus_test(const JudgedTest& test, const Painter& paint) {
  const Program& program = *test.program;
  std::cout << "  " << paint(Colour::bold, visible_name(program.name)) << "  " << visible_name(program.condition_text) << "\n"
            << paragraph(verdict_text(test), 2, Colour::none, paint);
  if (test.judgement && test.judgement->observation == Observation::never && !is_for_all(test)) {
    const auto& refusal = test.judgement->refusal;
    std::cout << paragraph(visible(refusal ? rule_text(test, *refusal) : "No execution has these values."), 2, Colour::none,
                           paint);
  }
  if (!test.not_run.empty())
    std::cout << paragraph(fmt::format("Not run on the machine: {}.", test.not_run), 2, Colour::none, paint);
  print_outcomes(test, sequential_outcomes(program), paint);
  if (test.judgement && !test.judgement->outcomes)
    std::cout << paragraph("There are too many candidates to list all outcomes that the model allows.", 2, Colour::none, paint);
  if (test.judgement && test.machine)
    std::cout << fmt::format("\n  Outcomes that {} forbids: seen {} times.\n", test.model->title, test.forbidden_seen());
  if (!program.stated.empty()) {
    const bool differs = test.agrees() == false || test.contradicts_what_was_seen();
    std::cout << paragraph(stated_text(test), 2, differs ? Colour::yellow : Colour::none, paint);
  }
}

void print_litmus_tests(const std::vector<JudgedTest>& tests, const Painter& paint) {
  const bool states = std::ranges::any_of(tests, [](const JudgedTest& one) { return !one.program->stated.empty(); });
  Table table({names("test"), words("model", 0, 2), words("asked about", 0, 2), figures("seen", 7, 2),
               figures("outcomes seen", 13, 2), figures("forbidden seen", 14, 2), words(states ? "file says" : "", 0, 2)},
              paint);
  table.add_rule();
  for (const JudgedTest& test : tests) {
    const bool is_broken = !test.forbidden.empty();
    table.add(
        {{visible_name(test.program->name), Colour::bold},
         test.model == nullptr ? "-" : test.model->name,
         asked_text(test),
         test.machine ? std::to_string(test.asked_seen()) : "-",
         outcomes_seen_text(test),
         {test.machine && test.judgement ? std::to_string(test.forbidden_seen()) : "-", is_broken ? Colour::red : Colour::none},
         test.program->stated + (test.program->states_race ? " DATARACE" : "")});
  }
  Summary summary;
  for (const JudgedTest& test : tests) summary.add(test);
  std::cout << table.text() << "\n";
  summary.print(paint);
}

std::string forbidden_text(const JudgedTest& test, const Outcome& outcome) {
  const auto& refusal = test.forbidden.at(outcome);
  return fmt::format("{}: the machine ended with {} in {} of {} rounds, which {} forbids. {}", visible_name(test.program->name),
                     outcome_text(*test.program, outcome), test.machine->seen.at(outcome), test.machine->rounds,
                     test.model->title, refusal ? visible(rule_text(test, *refusal)) : "No execution has these values.");
}

}  // namespace linebounce::sim
