#include "litmus/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

namespace linebounce::sim::litmus {
namespace {

constexpr std::size_t kMostPaths = 200'000;
constexpr std::size_t kMostValues = 64;
constexpr std::size_t kMostRounds = 2;            // of a loop that ends when a load returns a certain value
constexpr std::size_t kMostCountedRounds = 1000;  // of a loop that ends by itself

// By variable: the values that its stores may have put there. A set of more values than can be at the end of any execution does
// no harm: a load needs a store that it reads from.
using Values = std::vector<std::set<Word>>;

// A value and the loads that it comes from.
struct Known {
  Word value = 0;
  PathEvents data = 0, pick = 0;

  void depend_on(const Known& other) {
    data |= other.data;
    pick |= other.pick;
  }
};

struct State {
  std::size_t next = 0;
  std::vector<Known> registers;
  PathEvents control = 0, pick_control = 0;
  std::vector<std::array<PathEvents, 2>> scopes;  // what `control` and `pick_control` were before
  std::vector<PathEvent> events;
  // By instruction: jumps back to it, after rounds in which a branch depended on a load, and after others.
  std::map<std::size_t, std::array<std::size_t, 2>> backward;
  bool has_chosen = false;    // such a branch came since the last jump back
  int reservation = -1;       // the load_exclusive that holds it
  std::vector<int> sections;  // RCU's critical sections that are open
};

class PathFinder {
 public:
  // `stored`: collects the values of stores, also of paths that fail, and of branches that no value takes: an execution may
  // store a value because it has read what another thread has stored because it has read that value. Null: finds the paths.
  PathFinder(const Program& program, std::size_t thread, const Values& values, Paths& result, Values* stored)
      : program_(program),
        thread_(program.threads[thread]),
        values_(values),
        result_(result),
        paths_(result.threads[thread]),
        stored_(stored) {}

  void find() {
    State start;
    for (const Word value : thread_.initial) start.registers.push_back({value});
    run(std::move(start));
  }

 private:
  using Kind = Instruction::Kind;

  // Runs to the end of the path; where a load may return several values, each gets a path of its own.
  void run(State state) {
    while (state.next < thread_.instructions.size()) {
      const Instruction& one = thread_.instructions[state.next];
      ++state.next;
      switch (one.kind) {
        case Kind::assign: write_register(state, one.target, known(state, *one.value)); break;
        case Kind::choose: choose(state, one); break;
        case Kind::scope_begin: state.scopes.push_back({state.control, state.pick_control}); break;
        case Kind::scope_end:
          state.control = state.scopes.back()[0];
          state.pick_control = state.scopes.back()[1];
          state.scopes.pop_back();
          break;
        case Kind::branch:
          if (!branch(state, one)) return;
          break;
        case Kind::require:
          if (stored_ == nullptr && known(state, *one.condition).value == 0) return;
          break;
        case Kind::fence:
          if (!fence(state, one)) return;
          break;
        case Kind::store:
          if (!store(state, one)) return;
          break;
        case Kind::load:
        case Kind::load_exclusive:
        case Kind::update: return load(state, one);
        case Kind::store_exclusive: return store_exclusive(state, one);
      }
    }
    end(std::move(state));
  }

  void end(State state) {
    if (++ends_ > kMostPaths) throw std::invalid_argument(fmt::format("a thread has more than {} paths", kMostPaths));
    if (stored_ != nullptr) return;
    Path path{std::move(state.events), {}};
    for (const Known& one : state.registers) path.registers.push_back(one.value);
    paths_.push_back(std::move(path));
  }

  static Known known(const State& state, const Expression& expression) {
    if (expression.op == Expression::Op::number) return {expression.number};
    if (expression.op == Expression::Op::reg) return state.registers[expression.reg];
    Known result = known(state, *expression.left);
    const Known right = expression.right ? known(state, *expression.right) : Known();
    result.value = applied(expression.op, result.value, right.value);
    result.depend_on(right);
    return result;
  }

  static void write_register(State& state, int target, const Known& value) {
    if (target >= 0) state.registers[target] = value;
  }

  static void choose(State& state, const Instruction& one) {
    const Known condition = known(state, *one.condition);
    Known chosen = known(state, condition.value != 0 ? *one.value : *one.other);
    chosen.pick |= condition.data | condition.pick;
    write_register(state, one.target, chosen);
  }

  bool branch(State& state, const Instruction& one) {
    const Known condition = known(state, *one.condition);
    state.control |= condition.data;
    state.pick_control |= condition.pick;
    const bool depends = (condition.data | condition.pick) != 0;
    state.has_chosen = state.has_chosen || depends;
    if (stored_ != nullptr && depends) {
      State other = state;
      if (condition.value != 0 || jump(other, one)) run(std::move(other));
    }
    return condition.value == 0 || jump(state, one);
  }

  // Returns false if the path goes round a loop too often.
  bool jump(State& state, const Instruction& one) {
    const auto to = static_cast<std::size_t>(one.to);
    if (to < state.next) {
      const std::size_t most = state.has_chosen ? kMostRounds : kMostCountedRounds;
      if (++state.backward[to][state.has_chosen ? 0 : 1] > most) {
        result_.has_cut_loops = true;
        return false;
      }
      state.has_chosen = false;
    }
    state.next = to;
    return true;
  }

  // The event at this address, with all that it depends on but its value; nothing for a number that is no address.
  std::optional<PathEvent> event_at(const State& state, const Instruction& one, PathEvent::Kind kind) {
    const Known address = known(state, *one.address);
    const int variable = program_.variable_at(address.value);
    if (variable < 0) {
      result_.has_bad_addresses = true;
      return std::nullopt;
    }
    PathEvent event{.kind = kind, .variable = variable, .tags = one.tags, .line = one.line};
    event.address = address.data;
    event.pick_address = address.pick;
    event.control = state.control;
    event.pick_control = state.pick_control;
    return event;
  }

  int add(State& state, PathEvent event) {
    if (stored_ != nullptr && event.kind == PathEvent::Kind::write) (*stored_)[event.variable].insert(event.value);
    if (state.events.size() == kMostPathEvents)
      throw std::invalid_argument(fmt::format("a thread has more than {} events", kMostPathEvents));
    state.events.push_back(event);
    return static_cast<int>(state.events.size()) - 1;
  }
  static PathEvents bit(int event) { return PathEvents{1} << event; }

  void add_fence(State& state, const Instruction& one, Tags tags) {
    add(state, {.kind = PathEvent::Kind::fence,
                .tags = tags,
                .line = one.line,
                .control = state.control,
                .pick_control = state.pick_control});
  }

  bool fence(State& state, const Instruction& one) {
    PathEvent event{.kind = PathEvent::Kind::fence, .tags = one.tags, .line = one.line};
    event.control = state.control;
    event.pick_control = state.pick_control;
    if (one.address) {
      const auto at = event_at(state, one, PathEvent::Kind::fence);
      if (!at) return false;
      event = *at;
    }
    if (one.value) event.data = known(state, *one.value).data;
    const int number = add(state, event);
    write_register(state, one.target, {0, bit(number)});
    match_section(state, number);
    return true;
  }

  // Pairs the end of a critical section with its beginning. RCU's sections nest, and the outermost counts; a section of SRCU
  // ends with the value that its beginning returned, which here is the beginning's number.
  static void match_section(State& state, int number) {
    PathEvent& event = state.events[number];
    const bool is_rcu_end = has_tag(event.tags, Tag::rcu_unlock), is_srcu_end = has_tag(event.tags, Tag::srcu_unlock);
    if (has_tag(event.tags, Tag::rcu_lock) || has_tag(event.tags, Tag::srcu_lock)) state.sections.push_back(number);
    if (!is_rcu_end && !is_srcu_end) return;
    const auto opens = [&](int one) {
      const PathEvent& begin = state.events[one];
      if (is_rcu_end) return has_tag(begin.tags, Tag::rcu_lock);
      const bool is_named = (event.data & bit(one)) != 0 || event.data == 0;
      return has_tag(begin.tags, Tag::srcu_lock) && begin.variable == event.variable && is_named;
    };
    const auto found = std::find_if(state.sections.rbegin(), state.sections.rend(), opens);
    if (found == state.sections.rend()) return;
    const bool is_inner = is_rcu_end && std::count_if(state.sections.begin(), state.sections.end(), opens) > 1;
    if (!is_inner) event.pairs_with = *found;
    state.sections.erase(std::next(found).base());
  }

  bool store(State& state, const Instruction& one) {
    auto event = event_at(state, one, PathEvent::Kind::write);
    if (!event) return false;
    const Known value = known(state, *one.value);
    event->value = value.value;
    event->data = value.data;
    event->pick_data = value.pick;
    add(state, *event);
    return true;
  }

  void load(const State& state, const Instruction& one) {
    const auto event = event_at(state, one, PathEvent::Kind::read);
    if (!event) return;
    for (const Word value : values_[event->variable]) {
      State next = state;
      PathEvent read = *event;
      read.value = value;
      if (one.kind == Kind::update) {
        update(std::move(next), one, read);
        continue;
      }
      const int number = add(next, read);
      write_register(next, one.target, {value, bit(number)});
      if (one.kind == Kind::load_exclusive) next.reservation = number;
      run(std::move(next));
    }
  }

  void update(State state, const Instruction& one, PathEvent read) {
    const Known expected = one.expected ? known(state, *one.expected) : Known();
    const bool stores = !one.expected || (read.value == expected.value) != one.differs || stored_ != nullptr;
    if (!stores) read.tags = one.failed_tags;
    if (stores && one.is_fenced) add_fence(state, one, tag(Tag::full_fence));
    const int number = add(state, read);
    write_register(state, one.target, {read.value, bit(number)});
    if (stores) add_update_store(state, one, number, expected);
    if (stores && one.keeps_expected) keep_expected(state, one, expected, number);
    run(std::move(state));
  }

  void add_update_store(State& state, const Instruction& one, int number, const Known& expected) {
    PathEvent event = state.events[number];
    event.kind = PathEvent::Kind::write;
    event.tags = one.store_tags;
    const Known value = known(state, *one.value);
    event.value = value.value;
    event.data = value.data;
    event.pick_data = value.pick;
    if (one.expected) event.pick_data |= expected.data | expected.pick | bit(number);
    if (!one.is_two_instructions) event.pairs_with = number;
    add(state, event);
    if (one.is_fenced) add_fence(state, one, tag(Tag::full_fence));
  }

  // Arm's CAS that succeeds leaves the register of the expected value as it was. So a core may take the register's value from
  // memory, or keep it before memory has answered: both are paths.
  void keep_expected(State state, const Instruction& one, Known expected, int number) {
    expected.pick |= bit(number);
    write_register(state, one.target, expected);
    run(std::move(state));
  }

  void store_exclusive(const State& state, const Instruction& one) {
    const auto event = event_at(state, one, PathEvent::Kind::write);
    if (!event) return;
    State failed = state;
    failed.reservation = -1;
    failed.has_chosen = true;  // a loop that tries again ends when a store succeeds
    const int reservation = state.reservation;
    if (reservation >= 0 && state.events[reservation].variable == event->variable) {
      State done = failed;
      PathEvent write = *event;
      const Known value = known(state, *one.value);
      write.value = value.value;
      write.data = value.data;
      write.pick_data = value.pick;
      write.pairs_with = reservation;
      write.is_exclusive = true;
      add(done, write);
      write_register(done, one.target, {0});
      run(std::move(done));
    }
    write_register(failed, one.target, {1});
    run(std::move(failed));
  }

  const Program& program_;
  const Thread& thread_;
  const Values& values_;
  Paths& result_;
  std::vector<Path>& paths_;
  Values* stored_;
  std::size_t ends_ = 0;
};

bool is_constant(const Expression& expression) {
  if (expression.op == Expression::Op::reg) return false;
  return (!expression.left || is_constant(*expression.left)) && (!expression.right || is_constant(*expression.right));
}

// How many stores of a path of each thread may store what depends on a load.
std::size_t most_computed_stores(const Program& program) {
  std::size_t total = 0;
  for (const Thread& thread : program.threads) {
    const auto& all = thread.instructions;
    std::size_t count = 0;
    bool has_loop = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool stores = all[i].kind == Instruction::Kind::store || all[i].kind == Instruction::Kind::update ||
                          all[i].kind == Instruction::Kind::store_exclusive;
      if (stores && !is_constant(*all[i].value)) ++count;
      has_loop = has_loop || (all[i].kind == Instruction::Kind::branch && all[i].to <= static_cast<int>(i));
    }
    total += has_loop ? count * (kMostRounds + 1) : count;
  }
  return total;
}

// Begins with the initial values, and adds what is stored until nothing is new. A value that takes a longer chain of
// computations than the test has stores of computed values would be its own reason, through data alone, which no model here
// allows.
Values values_of(const Program& program) {
  Values values;
  for (const Variable& variable : program.variables) values.push_back({variable.initial});
  for (std::size_t round = 0; round <= most_computed_stores(program); ++round) {
    Paths nothing;
    nothing.threads.resize(program.threads.size());
    Values more = values;
    for (std::size_t thread = 0; thread < program.threads.size(); ++thread)
      PathFinder(program, thread, values, nothing, &more).find();
    for (const auto& of_variable : more) {
      if (of_variable.size() > kMostValues)
        throw std::invalid_argument(fmt::format("a variable can have more than {} values", kMostValues));
    }
    if (more == values) break;
    values = std::move(more);
  }
  return values;
}

}  // namespace

Paths paths_of(const Program& program) {
  const Values values = values_of(program);
  Paths paths;
  paths.threads.resize(program.threads.size());
  for (std::size_t thread = 0; thread < program.threads.size(); ++thread)
    PathFinder(program, thread, values, paths, nullptr).find();
  return paths;
}

}  // namespace linebounce::sim::litmus
