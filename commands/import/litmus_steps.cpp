#include "commands/import/litmus_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "commands/steps/recorded_steps.hpp"
#include "sim/results/numbers.hpp"
#include "workloads/litmus/litmus_test.hpp"

namespace linebounce::sim {
namespace {

using litmus::MachineProgram;
using litmus::Outcome;
using litmus::Program;

constexpr std::size_t kMostStepsOfRounds = 4'000'000;
constexpr std::int64_t kFirstRounds = 8;  // tried at first

// Reruns the test, and finds the steps of its last round. The rounds that a run begins with do not depend on how many follow.
class RoundFinder {
 public:
  RoundFinder(const Program& program, const MachineProgram& test, const std::string& machine, const std::string& experiment)
      : program_(program), test_(test), machine_(machine), experiment_(experiment) {}

  std::optional<RoundSteps> find(const Outcome& outcome, std::int64_t most) {
    std::int64_t without = 0, with = std::min(kFirstRounds, most);
    while (!ends_so(outcome, with)) {
      if (with == most) return std::nullopt;
      without = with;
      with = std::min(2 * with, most);
    }
    while (with - without > 1) {
      const std::int64_t middle = without + (with - without) / 2;
      (ends_so(outcome, middle) ? with : without) = middle;
    }
    record(with);
    return RoundSteps{with, last_round()};
  }

 private:
  void record(std::int64_t rounds) {
    const auto text = [](const std::string& value) { return fmt::format("\"{}\"", value); };
    Overrides point;
    point.machine = machine_;
    point.sets = {{"machine.cpu.consistency", text(test_.consistency)},
                  {"workload.threads", text(test_.threads)},
                  {"workload.asks", text(test_.asks)},
                  {"workload.judge", text("none")},
                  {"workload.rounds", std::to_string(rounds)}};
    run_ = record_steps(experiment_, point, kMostStepsOfRounds);
  }

  // Whether one of the first rounds ends so.
  bool ends_so(const Outcome& outcome, std::int64_t rounds) {
    record(rounds);
    return std::ranges::any_of(run_.results.metrics, [&](const auto& metric) {
      constexpr std::string_view kSeen = "litmus.seen.";
      return metric.first.starts_with(kSeen) && as_double(metric.second.value) > 0 &&
             test_.outcome(std::string_view(metric.first).substr(kSeen.size())) == outcome;
    });
  }

  // The variable of the file whose word this is; empty: none. The workload places x alone, as x[node][0], or as
  // together[node][0].
  [[nodiscard]] std::string variable(const RunStep& step) const {
    const auto found = run_.facts.words.find({step.where, step.bytes});
    if (found == run_.facts.words.end()) return "";
    const std::string& name = found->second;
    const std::size_t last = name.rfind('[');
    if (last == name.npos) return "";
    std::size_t letter = workloads::kLitmusVariables.find(name.front());
    if (name.starts_with("together[")) {
      letter = std::strtoul(name.c_str() + last + 1, nullptr, 10);
    } else if (name.size() < 2 || name[1] != '[') {
      return "";
    }
    return letter < test_.variables.size() ? program_.variables[test_.variables[letter]].name : "";
  }

  // The round's steps come behind the barrier's last release but one. Each CPU prepares its caches between two computations.
  [[nodiscard]] std::vector<std::string> last_round() const {
    constexpr int kPrepared = 2;
    std::vector<std::string> all;
    std::map<int, int> computations;
    std::vector<std::size_t> releases;
    for (std::size_t i = 0; i < run_.steps.size(); ++i) {
      if (releases_barrier(run_.steps[i])) releases.push_back(i);
    }
    const std::size_t begin = releases.size() < 2 ? 0 : releases[releases.size() - 2];
    const std::size_t end = releases.empty() ? run_.steps.size() : releases.back();
    Tick start = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const RunStep& step = run_.steps[i];
      if (step.kind == RunStepKind::operation && static_cast<StepOperation>(step.what) == StepOperation::compute)
        ++computations[step.cpu];
      if (step.kind != RunStepKind::access && step.kind != RunStepKind::buffer) continue;
      if (computations[step.cpu] < kPrepared || variable(step).empty()) continue;
      const std::string said = sentence(step);
      if (said.empty()) continue;
      if (all.empty()) start = step.time;
      all.push_back(fmt::format("{:>8.1f} ns  {}", static_cast<double>(step.time - start) * run_.tick_ns(), said));
    }
    return all;
  }

  [[nodiscard]] bool releases_barrier(const RunStep& step) const {
    if (step.kind != RunStepKind::access || step.what != 1) return false;
    const auto found = run_.facts.words.find({step.where, step.bytes});
    return found != run_.facts.words.end() && found->second == "round.generation";
  }

  [[nodiscard]] std::string sentence(const RunStep& step) const {
    const std::string name = variable(step);
    if (step.kind == RunStepKind::buffer) {
      switch (static_cast<BufferMove>(step.what)) {
        case BufferMove::in: return fmt::format("CPU {} puts {}={} into its store buffer", step.cpu, name, step.fresh);
        case BufferMove::read: return fmt::format("CPU {} loads {}={} from its store buffer", step.cpu, name, step.fresh);
        case BufferMove::out: return "";  // the access says it
      }
    }
    const std::array<std::string_view, 3> verbs = {"loads", "stores", "exchanges for"};
    return fmt::format("CPU {} {} {}={}", step.cpu, verbs.at(step.what), name, step.fresh);
  }

  const Program& program_;
  const MachineProgram& test_;
  const std::string& machine_;
  const std::string& experiment_;
  RecordedSteps run_;
};

}  // namespace

std::optional<RoundSteps> steps_to(const Outcome& outcome, const Program& program, const MachineProgram& test,
                                   const std::string& machine, const std::string& experiment, std::int64_t rounds) {
  return RoundFinder(program, test, machine, experiment).find(outcome, rounds);
}

}  // namespace linebounce::sim
