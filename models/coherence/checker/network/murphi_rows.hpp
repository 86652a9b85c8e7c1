// Writes the rows of the controllers on a network as Murphi statements, as controller_step.hpp runs them. Each `error` or
// `assert` statement corresponds to an exception in check_network().
#pragma once

#include <string>

#include "models/coherence/checker/network/murphi_messages.hpp"

namespace linebounce::checker {

// A step of a controller: ControllerStep's variables as Murphi expressions.
struct MurphiStep {
  const ControllerRules& rules;
  MurphiController of;
  std::string self = {};          // the controller's number among its parent's agents; empty for the home
  std::string requestor = "0";    // the agent on whose behalf the step runs
  std::string member = "0";       // the member on whose behalf the step runs
  std::string data = "0";         // the data of the message or bus
  std::string has_data = "true";  // the condition that there is such data
};

class MurphiRows {
 public:
  MurphiRows(const CheckedSystem& system, MurphiMessages& messages, MurphiWriter& out);

  const MurphiController home, agent, member;  // `member`: a cache in a node or group
  // A step of agent `a` that no message and no cache causes.
  [[nodiscard]] MurphiStep agent_step() const;
  // A cache in a node or group, or a cache that is itself an agent.
  [[nodiscard]] const MurphiController& cache() const { return system_.has_nodes || system_.has_groups ? member : agent; }

  // The name of a node controller's recall with a bus message.
  [[nodiscard]] std::string transaction(std::size_t message) const;

  // Writes a procedure that runs the rows for one base event. more(depth, row) writes what follows a row's actions.
  template <class More>
  void procedure(const std::string& name, const MurphiVariables& parameters, const MurphiStep& step, std::size_t base_event,
                 More more) {
    const std::string rows = out_.captured([&] {
      out_.rows(1, step.of, base_event, [&](int depth, const Row& row) {
        actions(depth, row, step);
        more(depth, row);
      });
    });
    const bool counts = rows.find("others[i]") != std::string::npos;
    out_.line(0, "procedure {}({});{} begin", name, declared(parameters),
              counts ? fmt::format(" var others: array[{0}] of boolean; count: any_{0};", step.of.members) : "");
    if (counts) {
      out_.line(1, "count := 0; for i: {} do", step.of.members);
      out_.line(2, "others[i] := {}.sharers[i] & i != {}; if others[i] then count := count + 1; end;", step.of.at, step.member);
      out_.line(1, "end;");
    }
    out_.add(rows);
    out_.line(0, "end;\n");
  }
  // Writes the procedure for the arrival of a message.
  void arrival_procedure(Way way, std::size_t message);
  void actions(int depth, const Row& row, const MurphiStep& step);
  // Writes one action. `acks_to_expect` is the number of acknowledgements that an answer in this step announces.
  void action(int depth, Action action, const MurphiStep& step, const std::string& acks_to_expect);

 private:
  const CheckedSystem& system_;
  MurphiMessages& messages_;
  MurphiWriter& out_;
};

}  // namespace linebounce::checker
