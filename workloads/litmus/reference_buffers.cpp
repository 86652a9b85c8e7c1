// Explores interleavings, with or without a store buffer for each thread: every reachable state, by depth-first search.
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

class Explorer {
 public:
  enum class Buffers : std::uint8_t { none, in_order, out_of_order };

  Explorer(const LitmusTest& test, Buffers buffers) : test_(test), buffers_(buffers) {}

  std::set<LitmusOutcome> outcomes() {
    visit(
        {std::vector<ThreadState>(test_.threads.size()), std::vector<int>(test_.registers), std::vector<int>(test_.variables)});
    return outcomes_;
  }

 private:
  void visit(const State& state) {
    if (!seen_.insert(state).second) return;
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

  void try_statement(State state, std::size_t t, const LitmusStatement& statement) {
    ThreadState& thread = state.threads[t];
    using Kind = LitmusStatement::Kind;
    if ((statement.kind == Kind::fence || statement.kind == Kind::exchange) && !thread.buffer.empty()) return;
    if (statement.kind == Kind::await && read(state, t, statement.variable) != statement.value) return;
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
  std::set<State> seen_;
  std::set<LitmusOutcome> outcomes_;
};

}  // namespace

std::set<LitmusOutcome> outcomes_with_store_buffers(const LitmusTest& test, bool in_order) {
  return Explorer(test, in_order ? Explorer::Buffers::in_order : Explorer::Buffers::out_of_order).outcomes();
}

std::set<LitmusOutcome> allowed_outcomes(const LitmusTest& test, Consistency model) {
  switch (model) {
    case Consistency::sc: return Explorer(test, Explorer::Buffers::none).outcomes();
    case Consistency::tso: return outcomes_with_store_buffers(test, true);
    case Consistency::ia64: break;
  }
  return allowed_by_itanium(test);
}

}  // namespace linebounce::workloads
