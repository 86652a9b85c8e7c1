// Explores interleavings, with or without a store buffer for each thread: every reachable state, by depth-first search.
//
// A step that commutes with every later step of the other threads needs no alternatives: whatever comes first, the same states
// follow. Such are a store into the own buffer, a fence, a load of a word that no other thread writes any more, and a store to
// a word that no other thread accesses any more. No step prevents a thread's other steps, and each brings the test nearer to
// its end, so an order that is left out ends as one that is not.
#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstddef>

#include "workloads/litmus/reference.hpp"

namespace linebounce::workloads {
namespace {

struct BufferedStore {
  int variable = 0;
  int value = 0;
  bool release = false;
  std::strong_ordering operator<=>(const BufferedStore&) const = default;
};

struct ThreadState {
  std::size_t next = 0;  // the next statement
  std::vector<BufferedStore> buffer;
  std::strong_ordering operator<=>(const ThreadState&) const = default;
};

struct State {
  std::vector<ThreadState> threads;
  std::vector<int> registers;
  std::vector<int> memory;
  std::strong_ordering operator<=>(const State&) const = default;
};

// Each step of a search is a call within the call of the step before.
constexpr std::size_t kMostStatements = 200;

class Explorer {
 public:
  enum class Buffers : std::uint8_t { none, in_order, out_of_order };

  Explorer(const LitmusTest& test, Buffers buffers, const ReferenceLimits& limits)
      : test_(test), buffers_(buffers), limits_(limits) {}

  std::set<LitmusOutcome> outcomes() {
    std::size_t statements = 0;
    for (const auto& thread : test_.threads) statements += thread.size();
    if (statements > kMostStatements) throw TooManyOrders(fmt::format("more than {} operations", kMostStatements));
    visit(
        {std::vector<ThreadState>(test_.threads.size()), std::vector<int>(test_.registers), std::vector<int>(test_.variables)});
    return outcomes_;
  }

 private:
  void visit(const State& state) {
    if (!seen_.insert(state).second) return;
    require_few_states(seen_.size(), limits_);
    if (limits_.one_of_equals && take_unnoticed_step(state)) return;
    bool over = true;
    for (std::size_t t = 0; t < state.threads.size(); ++t) {
      const ThreadState& thread = state.threads[t];
      over = over && thread.next == test_.threads[t].size() && thread.buffer.empty();
      if (thread.next < test_.threads[t].size()) try_statement(state, t, test_.threads[t][thread.next]);
      for (std::size_t entry = 0; entry < thread.buffer.size(); ++entry) {
        if (may_drain(thread.buffer, entry)) drain(state, t, entry);
      }
    }
    if (over) add_outcome(state);
  }

  using Kind = LitmusStatement::Kind;

  // Takes a step that the other threads can't notice or prevent, if there is one.
  bool take_unnoticed_step(const State& state) {
    for (std::size_t t = 0; t < state.threads.size(); ++t) {
      const ThreadState& thread = state.threads[t];
      if (thread.next < test_.threads[t].size()) {
        const LitmusStatement& statement = test_.threads[t][thread.next];
        if (can_run(state, t, statement) && is_unnoticed(state, t, statement)) {
          try_statement(state, t, statement);
          return true;
        }
      }
      for (std::size_t entry = 0; entry < thread.buffer.size(); ++entry) {
        if (!may_drain(thread.buffer, entry) || others_access(state, t, thread.buffer[entry].variable, true)) continue;
        drain(state, t, entry);
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool is_unnoticed(const State& state, std::size_t t, const LitmusStatement& statement) const {
    if (statement.kind == Kind::fence) return true;
    if (statement.kind == Kind::store && buffers_ != Buffers::none) return true;
    return !others_access(state, t, statement.variable, statement.writes());
  }

  // Whether another thread will still write the variable or, if `reads` counts, read it.
  [[nodiscard]] bool others_access(const State& state, std::size_t t, int variable, bool reads) const {
    for (std::size_t other = 0; other < state.threads.size(); ++other) {
      if (other == t) continue;
      const ThreadState& thread = state.threads[other];
      const auto is_to_come = [&](const LitmusStatement& statement) {
        return statement.kind != Kind::fence && statement.variable == variable && (reads || statement.writes());
      };
      const auto& statements = test_.threads[other];
      if (std::any_of(statements.begin() + static_cast<std::ptrdiff_t>(thread.next), statements.end(), is_to_come)) return true;
      if (std::ranges::find(thread.buffer, variable, &BufferedStore::variable) != thread.buffer.end()) return true;
    }
    return false;
  }

  [[nodiscard]] static bool can_run(const State& state, std::size_t t, const LitmusStatement& statement) {
    if (statement.kind == Kind::fence || statement.kind == Kind::exchange) return state.threads[t].buffer.empty();
    return statement.kind != Kind::await || read(state, t, statement.variable) == statement.value;
  }

  void try_statement(State state, std::size_t t, const LitmusStatement& statement) {
    if (!can_run(state, t, statement)) return;
    ThreadState& thread = state.threads[t];
    ++thread.next;
    if (statement.reads()) state.registers[statement.target] = read(state, t, statement.variable);
    if (statement.writes()) {
      const auto value =
          statement.value_from == LitmusStatement::kNone ? statement.value : state.registers[statement.value_from];
      if (statement.kind == Kind::exchange || buffers_ == Buffers::none) {
        state.memory[statement.variable] = value;
      } else {
        thread.buffer.push_back({statement.variable, value, statement.ordered});
      }
    }
    visit(state);
  }

  [[nodiscard]] static int read(const State& state, std::size_t t, int variable) {
    const auto& buffer = state.threads[t].buffer;
    const auto own = std::find_if(buffer.rbegin(), buffer.rend(),
                                  [variable](const BufferedStore& store) { return store.variable == variable; });
    return own != buffer.rend() ? own->value : state.memory[variable];
  }

  [[nodiscard]] bool may_drain(const std::vector<BufferedStore>& buffer, std::size_t entry) const {
    if (entry == 0) return true;
    if (buffers_ == Buffers::in_order || buffer[entry].release) return false;
    return std::none_of(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(entry),
                        [&](const BufferedStore& earlier) { return earlier.variable == buffer[entry].variable; });
  }

  void drain(State state, std::size_t t, std::size_t entry) {
    auto& buffer = state.threads[t].buffer;
    state.memory[buffer[entry].variable] = buffer[entry].value;
    buffer.erase(buffer.begin() + static_cast<std::ptrdiff_t>(entry));
    visit(state);
  }

  void add_outcome(const State& state) {
    LitmusOutcome outcome = state.registers;
    for (const int variable : test_.last_values) outcome.push_back(state.memory[variable]);
    outcomes_.insert(outcome);
  }

  const LitmusTest& test_;
  Buffers buffers_;
  const ReferenceLimits& limits_;
  std::set<State> seen_;
  std::set<LitmusOutcome> outcomes_;
};

}  // namespace

void require_few_states(std::size_t states, const ReferenceLimits& limits) {
  if (states > limits.states) throw TooManyOrders(fmt::format("more than {} states", limits.states));
}

std::set<LitmusOutcome> outcomes_with_store_buffers(const LitmusTest& test, bool in_order, const ReferenceLimits& limits) {
  return Explorer(test, in_order ? Explorer::Buffers::in_order : Explorer::Buffers::out_of_order, limits).outcomes();
}

std::set<LitmusOutcome> allowed_outcomes(const LitmusTest& test, Consistency model, const ReferenceLimits& limits) {
  switch (model) {
    case Consistency::sc: return Explorer(test, Explorer::Buffers::none, limits).outcomes();
    case Consistency::tso: return outcomes_with_store_buffers(test, true, limits);
    case Consistency::ia64: break;
  }
  return allowed_by_itanium(test, limits);
}

}  // namespace linebounce::workloads
