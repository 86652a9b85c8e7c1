// Prints the verdicts of litmus tests' memory models and, beside them, how often the timed machine showed each outcome.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "litmus/judge.hpp"
#include "sim/terminal/table.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// The outcomes that the timed machine showed.
struct MachineRun {
  std::string consistency = {};  // the machine's own model: tso or ia64
  std::int64_t rounds = 0;
  std::map<litmus::Outcome, std::int64_t> seen = {};  // times, by outcome
  bool can_end_as_asked = true;                       // false: no order of the machine's steps ends as the test asks about
};

// A litmus test with its verdict.
struct JudgedTest {
  const litmus::Program* program = nullptr;
  const litmus::Model* model = nullptr;  // null: there is none for the language
  std::optional<litmus::Judgement> judgement = {};
  std::string not_judged = {};  // the reason, if there is no judgement
  std::optional<MachineRun> machine = {};
  std::string not_run = {};        // the reason, if the machine has not run it
  std::string why_none_ends = {};  // why no execution ends, if none does
  std::string doubt = {};          // a sentence about the machine or the judgement; may be empty
  // Outcomes that the machine showed and the model forbids, with the rule that forbids them; none: no execution has these
  // values.
  std::map<litmus::Outcome, std::optional<litmus::Refusal>> forbidden = {};

  [[nodiscard]] std::int64_t asked_seen() const;      // rounds that ended as the test asks
  [[nodiscard]] std::int64_t forbidden_seen() const;  // rounds that ended as the model forbids
  // Whether the file's own result is the verdict; nothing if one of them is missing.
  [[nodiscard]] std::optional<bool> agrees() const;
  // Whether the file's own result says that what the machine showed does not occur; only of tests without a verdict.
  [[nodiscard]] bool contradicts_what_was_seen() const;
};

std::string outcome_text(const litmus::Program& program, const litmus::Outcome& outcome);
// The page for one test.
void print_litmus_test(const JudgedTest& test, const Painter& paint);
// The table of several tests, with a line for each, and its summary.
void print_litmus_tests(const std::vector<JudgedTest>& tests, const Painter& paint);
// Says that the machine has done what the model forbids, and by which rule.
std::string forbidden_text(const JudgedTest& test, const litmus::Outcome& outcome);

}  // namespace linebounce::sim
