// The Itanium architecture's ordering rules, as orders of events.
//
// A load is one event. A store is several: it becomes visible to its own thread (local), then remotely to its own processor,
// then to each other one, and in between others may happen; a releasing store becomes visible to all processors in one event.
// An order of all events is legal if it keeps
//   - program order: an acquiring load comes before all events of what follows it; what precedes a releasing store comes before
//   it,
//     on every processor; a fence comes after all events of what precedes it and before those of what follows;
//   - dependences through memory in one thread: load before store, store before load, store before store of one word, but not
//   load
//     before load;
//   - dependences through registers: a value or address comes before what uses it;
//   - coherence: stores to one word become visible in one order to all processors.
// A load returns the thread's own latest store to the word that is local but not yet visible to its processor, else what was
// visible last. An exchange stands for Cpu::exchange: an atomic event with a fence on both sides.
//
// An event that commutes with every event that may follow needs no alternatives: a fence; a local event, for program order
// ranks it among all events that depend on it; and a store's becoming visible to a processor whose thread will not read the
// word, if no other store to the word exists, with which coherence would have to rank it.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <compare>
#include <cstddef>

#include "workloads/litmus/reference.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::size_t kMaximumEvents = 64;
constexpr std::size_t kMaximumStores = 8;

using EventSet = std::uint64_t;

enum class EventKind : std::uint8_t { read, local, remote, fence, exchange };
constexpr int kEverywhere = -1;

struct Event {
  EventKind kind;
  int thread;
  int statement;
  int processor = kEverywhere;  // for a remote event: the processor to which the store becomes visible
  int store = -1;               // the number of the store among the test's stores; -1 for other events
  EventSet before = 0;          // events that must come before it
};

class Events {
 public:
  explicit Events(const LitmusTest& test) : test_(test) {
    for (std::size_t t = 0; t < test.threads.size(); ++t) {
      for (std::size_t s = 0; s < test.threads[t].size(); ++s) add(static_cast<int>(t), static_cast<int>(s));
    }
    if (all_.size() > kMaximumEvents || stores_ > static_cast<int>(kMaximumStores))
      throw TooManyOrders(fmt::format("more than {} stores or {} events", kMaximumStores, kMaximumEvents));
    for (std::size_t i = 0; i < all_.size(); ++i) {
      for (std::size_t j = 0; j < all_.size(); ++j) {
        if (i != j && ordered(all_[i], all_[j])) all_[j].before |= EventSet{1} << i;
      }
    }
  }

  [[nodiscard]] const std::vector<Event>& all() const { return all_; }
  [[nodiscard]] const LitmusStatement& statement(const Event& event) const {
    return test_.threads[event.thread][event.statement];
  }

 private:
  void add(int thread, int index) {
    const LitmusStatement& statement = test_.threads[thread][index];
    switch (statement.kind) {
      case LitmusStatement::Kind::await:
      case LitmusStatement::Kind::load: all_.push_back({EventKind::read, thread, index}); return;
      case LitmusStatement::Kind::fence: all_.push_back({EventKind::fence, thread, index}); return;
      case LitmusStatement::Kind::exchange:
        all_.push_back({EventKind::exchange, thread, index, kEverywhere, stores_++});
        return;
      case LitmusStatement::Kind::store: break;
    }
    const int store = stores_++;
    all_.push_back({EventKind::local, thread, index, kEverywhere, store});
    const int processors = statement.ordered ? 1 : static_cast<int>(test_.threads.size());
    for (int p = 0; p < processors; ++p) {
      all_.push_back({EventKind::remote, thread, index, statement.ordered ? kEverywhere : p, store});
    }
  }

  [[nodiscard]] bool ordered(const Event& i, const Event& j) const {
    if (i.thread != j.thread || i.statement > j.statement) return false;
    if (i.statement == j.statement) return ordered_in_store(i, j);
    return fenced(i, j) || acquired(i) || released(i, j) || same_word(i, j) || depends(i, j);
  }

  // A store becomes visible to its thread first (local), then to its own processor, then to the others.
  static bool ordered_in_store(const Event& i, const Event& j) {
    if (i.kind == EventKind::local) return j.kind == EventKind::remote;
    return i.kind == EventKind::remote && j.kind == EventKind::remote && i.processor == i.thread;
  }

  static bool fenced(const Event& i, const Event& j) {
    const auto fences = [](const Event& event) { return event.kind == EventKind::fence || event.kind == EventKind::exchange; };
    return fences(i) || fences(j);
  }
  [[nodiscard]] bool acquired(const Event& i) const { return i.kind == EventKind::read && statement(i).ordered; }
  [[nodiscard]] bool released(const Event& i, const Event& j) const {
    const LitmusStatement& release = statement(j);
    if (release.kind != LitmusStatement::Kind::store || !release.ordered) return false;
    return i.kind == EventKind::read || i.kind == j.kind;
  }
  [[nodiscard]] bool same_word(const Event& i, const Event& j) const {
    if (statement(i).variable != statement(j).variable) return false;
    if (i.kind == EventKind::read) return j.kind == EventKind::local;
    if (i.kind == EventKind::local) return j.kind == EventKind::read || j.kind == EventKind::local;
    return j.kind == EventKind::remote &&
           (i.processor == j.processor || i.processor == kEverywhere || j.processor == kEverywhere);
  }
  [[nodiscard]] bool depends(const Event& i, const Event& j) const {
    const int source = statement(i).target;
    return source != LitmusStatement::kNone && (statement(j).value_from == source || statement(j).after == source);
  }

  const LitmusTest& test_;
  std::vector<Event> all_;
  int stores_ = 0;
};

struct ItaniumState {
  EventSet done = 0;
  std::vector<int> registers;
  std::vector<int> visible;                               // by processor and variable
  std::vector<int> own;                                   // by thread and variable: the latest store
  std::array<std::uint8_t, kMaximumStores> earlier = {};  // by store: a bit for each store that coherence puts before it
  std::strong_ordering operator<=>(const ItaniumState&) const = default;
};

class ItaniumExplorer {
 public:
  ItaniumExplorer(const LitmusTest& test, const ReferenceLimits& limits) : test_(test), limits_(limits), events_(test) {}

  std::set<LitmusOutcome> outcomes() {
    const std::size_t views = test_.threads.size() * test_.variables;
    ItaniumState start;
    start.registers.resize(test_.registers);
    start.visible.resize(views);
    start.own.resize(views);
    visit(start);
    return outcomes_;
  }

 private:
  void visit(const ItaniumState& state) {
    if (!seen_.insert(state).second) return;
    require_few_states(seen_.size(), limits_);
    if (std::popcount(state.done) == static_cast<int>(events_.all().size())) return add_outcome(state);
    for (std::size_t i = 0; i < events_.all().size() && limits_.one_of_equals; ++i) {
      if (may_come(i, state) && is_unnoticed(events_.all()[i], state)) return take(i, state);
    }
    for (std::size_t i = 0; i < events_.all().size(); ++i) {
      if (may_come(i, state)) take(i, state);
    }
  }

  [[nodiscard]] bool may_come(std::size_t event, const ItaniumState& state) const {
    return (state.done >> event & 1) == 0 && (events_.all()[event].before & ~state.done) == 0;
  }

  void take(std::size_t event, const ItaniumState& state) {
    ItaniumState next = state;
    next.done |= EventSet{1} << event;
    if (perform(events_.all()[event], next)) visit(next);
  }

  [[nodiscard]] bool is_unnoticed(const Event& event, const ItaniumState& state) const {
    if (event.kind == EventKind::fence || event.kind == EventKind::local) return true;
    if (event.kind != EventKind::remote) return false;
    for (std::size_t i = 0; i < events_.all().size(); ++i) {
      const Event& other = events_.all()[i];
      if (other.kind == EventKind::fence || other.store == event.store) continue;
      if (events_.statement(other).variable != events_.statement(event).variable) continue;
      const bool reads = other.kind == EventKind::read;
      const bool sees = event.processor == kEverywhere || other.thread == event.processor;
      if (!reads || (sees && (state.done >> i & 1) == 0)) return false;
    }
    return true;
  }

  // Returns false if coherence forbids the event, or an awaited value differs.
  bool perform(const Event& event, ItaniumState& state) const {
    const LitmusStatement& statement = events_.statement(event);
    switch (event.kind) {
      case EventKind::fence: return true;
      case EventKind::read:
        if (statement.kind == LitmusStatement::Kind::await) return read(event, state) == statement.value;
        state.registers[statement.target] = read(event, state);
        return true;
      case EventKind::local: state.own[view(event.thread, statement.variable)] = value(statement, state); return true;
      case EventKind::exchange:
        state.registers[statement.target] = state.visible[view(event.thread, statement.variable)];
        state.own[view(event.thread, statement.variable)] = value(statement, state);
        return make_visible(event, state);
      case EventKind::remote: return make_visible(event, state);
    }
    return false;
  }

  bool make_visible(const Event& event, ItaniumState& state) const {
    for (std::size_t p = 0; p < test_.threads.size(); ++p) {
      const int processor = static_cast<int>(p);
      if (event.processor != kEverywhere && event.processor != processor) continue;
      if (!keep_coherence(event, processor, state)) return false;
      state.visible[view(processor, events_.statement(event).variable)] = value(events_.statement(event), state);
    }
    return true;
  }

  // Orders this store before every store to the same word that this processor has not seen yet.
  bool keep_coherence(const Event& event, int processor, ItaniumState& state) const {
    for (std::size_t i = 0; i < events_.all().size(); ++i) {
      const Event& other = events_.all()[i];
      const bool visible_here = other.kind == EventKind::exchange || other.kind == EventKind::remote;
      if (!visible_here || other.store == event.store) continue;
      if (other.processor != kEverywhere && other.processor != processor) continue;
      if (events_.statement(other).variable != events_.statement(event).variable) continue;
      if ((state.done >> i & 1) != 0) continue;
      if ((state.earlier[event.store] >> other.store & 1) != 0) return false;
      state.earlier[other.store] |= static_cast<std::uint8_t>(1U << event.store);
    }
    return true;
  }

  [[nodiscard]] int read(const Event& event, const ItaniumState& state) const {
    const std::size_t word = view(event.thread, events_.statement(event).variable);
    return bypasses(event, state) ? state.own[word] : state.visible[word];
  }

  // Whether a store of this thread to the word is local but not yet visible to its processor.
  [[nodiscard]] bool bypasses(const Event& read, const ItaniumState& state) const {
    int local = 0;
    int visible = 0;
    for (std::size_t i = 0; i < events_.all().size(); ++i) {
      const Event& event = events_.all()[i];
      if ((state.done >> i & 1) == 0 || event.thread != read.thread) continue;
      if (events_.statement(event).variable != events_.statement(read).variable) continue;
      if (event.kind == EventKind::local) ++local;
      if (event.kind == EventKind::remote && (event.processor == kEverywhere || event.processor == read.thread)) ++visible;
    }
    return local > visible;
  }

  [[nodiscard]] static int value(const LitmusStatement& statement, const ItaniumState& state) {
    return statement.value_from == LitmusStatement::kNone ? statement.value : state.registers[statement.value_from];
  }
  [[nodiscard]] std::size_t view(int processor, int variable) const { return processor * test_.variables + variable; }

  void add_outcome(const ItaniumState& state) {
    LitmusOutcome outcome = state.registers;
    for (const int variable : test_.last_values) outcome.push_back(state.visible[view(0, variable)]);
    outcomes_.insert(outcome);
  }

  const LitmusTest& test_;
  const ReferenceLimits& limits_;
  Events events_;
  std::set<ItaniumState> seen_;
  std::set<LitmusOutcome> outcomes_;
};

}  // namespace

std::set<LitmusOutcome> allowed_by_itanium(const LitmusTest& test, const ReferenceLimits& limits) {
  return ItaniumExplorer(test, limits).outcomes();
}

}  // namespace linebounce::workloads
