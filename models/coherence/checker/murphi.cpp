// Writes one Murphi procedure for each kind of step, with a case for each row. Each `error` or `assert` in the model
// corresponds to an exception in check_protocol().
#include "models/coherence/checker/murphi.hpp"

#include <string_view>
#include <vector>

#include "models/coherence/checker/murphi_writer.hpp"

namespace linebounce {
namespace checker {
namespace {

constexpr std::string_view kMemoryState = "D";
constexpr MurphiAccess kAccess = {"complete", 'A', "a", 'v'};

MurphiCache cache_called(const std::string& name) {
  return {name + ": cid", name, "cs[" + name + "]", "cd[" + name + "]", "ca[" + name + "]", "bd"};
}

class BusMurphi : MurphiWriter {
 public:
  BusMurphi(const Protocol& protocol, int caches) : protocol_(protocol), caches_(caches) {}

  std::string write() {
    declarations();
    start_state();
    bus_procedure();
    issue_procedure();
    use_procedures(protocol_, protocol_.cache, protocol_.atomic, requestor_, kAccess);
    if (protocol_.sends_words) send_word_procedure();
    if (protocol_.has_far_atomics()) operate_procedure(protocol_, requestor_, kAccess, "md");
    for (const CacheEvent event : {kLoad, kStore, kEvict}) access_procedure(event);
    if (protocol_.has_far_atomics()) access_procedure(protocol_.atomic);
    for (std::size_t m = 0; m < protocol_.messages.size(); ++m) order_procedure(m);
    data_procedure();
    rules();
    invariants();
    return text();
  }

 private:
  [[nodiscard]] std::string request_name(std::size_t message) const { return checker::request_name(protocol_, message); }
  [[nodiscard]] std::string cache_state(std::size_t state) const { return state_name(kCacheState, protocol_.cache, state); }

  void declarations() {
    std::vector<std::string> requests = {"R_none"};
    for (std::size_t m = 0; m < protocol_.messages.size(); ++m) requests.push_back(request_name(m));
    line(0, "-- {}: {}", protocol_.name, protocol_.title);
    line(0, "-- {} caches on one bus, one line, values 0 and 1. Written by linebounce check --murphi.", caches_);
    line(0, "const CACHES: {};", caches_);
    line(0, "type");
    line(1, "cid: 0..CACHES - 1; val: 0..1;");
    line(1, "sender: 0..CACHES + 1; -- 0 nobody, 1 + cache, or memory");
    line(1, "cache_state: enum {{ {} }};", state_names(kCacheState, protocol_.cache));
    line(1, "memory_state: enum {{ {} }};", state_names(kMemoryState, protocol_.memory));
    line(1, "request: enum {{ {} }};", fmt::join(requests, ", "));
    line(1, "access: enum {{ A_none, A_Load, A_Store{} }};", protocol_.has_far_atomics() ? ", A_Atomic" : "");
    line(0, "var");
    line(1, "cs: array[cid] of cache_state; cd: array[cid] of val;");
    line(1, "ca: array[cid] of access;   -- the access that waits");
    line(1, "cr: array[cid] of request;  -- the message that waits for its order step");
    line(1, "ms: memory_state; md: val;");
    line(1, "bd: val;                    -- on the data bus");
    line(1, "due: 0..CACHES;             -- 1 + the cache whose data step is due");
    line(1, "latest: val;                -- ghost: what the last store wrote\n");
  }

  void start_state() {
    line(0, "startstate begin");
    line(1, "for c: cid do cs[c] := {}; cd[c] := 0; ca[c] := A_none; cr[c] := R_none; end;", cache_state(0));
    line(1, "ms := {}; md := 0; bd := 0; due := 0; latest := 0;", state_name(kMemoryState, protocol_.memory, 0));
    line(0, "end;\n");
  }

  void bus_procedure() {
    line(0, "procedure drive(var on_bus: sender; who: sender; value: val); begin");
    line(1, "assert on_bus = 0 | on_bus = who \"two senders\";");
    line(1, "on_bus := who; bd := value;");
    line(0, "end;\n");
  }

  void issue_procedure() {
    line(0, "procedure issue(c: cid; r: request); begin");
    line(1, "assert cr[c] = R_none \"two requests\"; cr[c] := r;");
    line(0, "end;\n");
    line(0, "procedure wait(c: cid; a: access); begin");
    line(1, "assert ca[c] = A_none \"two accesses that wait\"; ca[c] := a;");
    line(0, "end;\n");
  }

  void send_word_procedure() {
    line(0, "procedure send_word(c: cid; v: val); begin");
    line(1, "assert ca[c] = A_Store \"sends a word without a store\"; ca[c] := A_none; use(c, true, v);");
    line(0, "end;\n");
  }

  void access_procedure(std::size_t event) {
    const BaseEvent& base = protocol_.cache.base_events[event];
    line(0, "procedure do_{}(c: cid; v: val); begin", base.name);
    each_state(1, requestor_.state, kCacheState, protocol_.cache, [&](StateId state) {
      const Row& row = protocol_.cache.row(state, base.first);
      if (!begin_row(2, protocol_.cache, row, state, requestor_)) return;
      for (const Action action : row.steps()) {
        if (action.verb == Verb::hit) line(2, "use(c, {}, v);", event != kLoad);
        if (action.verb == Verb::free) line(2, "cd[c] := 0;");
        if (action.verb != Verb::issue) continue;
        line(2, "issue(c, {});", request_name(action.argument));
        if (event != kEvict) line(2, "wait(c, A_{});", base.name);
      }
    });
    line(0, "end;\n");
  }

  // Writes the row's change of state and returns true. For an impossible row, writes an error and returns false.
  bool begin_row(int depth, const ControllerTable& table, const Row& row, StateId state, const MurphiCache& place) {
    if (row.impossible) {
      line(depth, "error \"impossible: {}\";", table.place(row.source_line));
      return false;
    }
    if (row.next != state) line(depth, "{} := {};", place.state, state_name(place.kind, table, row.next));
    return true;
  }

  void row_of_step(int depth, const ControllerTable& table, const Row& row, StateId state, const MurphiCache& place) {
    if (!begin_row(depth, table, row, state, place)) return;
    for (const Action action : row.steps()) step_action(depth, action, place);
  }

  void step_action(int depth, Action action, const MurphiCache& place) {
    switch (action.verb) {
      case Verb::free: line(depth, "{} := 0;", place.data); break;
      case Verb::send_word:
        line(depth, "completed := true; word := true; before := latest; send_word({}, v);", place.who);
        break;
      case Verb::apply_word: line(depth, "takers[{}] := true;", place.who); break;
      case Verb::update_memory: line(depth, "md := bd;"); break;
      case Verb::operate: line(depth, "operated := true;"); break;
      default: bus_cache_action(depth, action, protocol_, place, kAccess); break;
    }
  }

  // Writes the rows of all states for one base event. If the event has a guard, the model tests the bus signal `shared` or
  // `owned` to choose the row.
  void rows_at(int depth, const ControllerTable& table, std::size_t base_event, const MurphiCache& place) {
    const BaseEvent& base = table.base_events[base_event];
    each_state(depth, place.state, place.kind, table, [&](StateId state) {
      if (base.guard == GuardGroup::none) return row_of_step(depth + 1, table, table.row(state, base.first), state, place);
      line(depth + 1, "if {} then", base.guard == GuardGroup::shared_alone ? "shared" : "owned");
      row_of_step(depth + 2, table, table.row(state, base.first), state, place);
      line(depth + 1, "else");
      row_of_step(depth + 2, table, table.row(state, static_cast<EventId>(base.first + 1)), state, place);
      line(depth + 1, "end;");
    });
  }

  void step_variables(std::string_view name) {
    line(0, "procedure {}(c: cid; v: val);", name);
    line(0, "var shared, owned, supplied, to_memory, completed, took, takes: boolean; on_bus: sender;");
    if (protocol_.has_far_atomics()) line(0, "operated: boolean;");
    if (protocol_.sends_words) line(0, "word: boolean; before: val; takers: array[cid] of boolean;");
    line(0, "begin");
    if (protocol_.sends_words) line(1, "word := false; before := 0; for k: cid do takers[k] := false; end;");
    line(1, "shared := false; owned := false; supplied := false; to_memory := false; completed := false; took := false;");
    line(1, "takes := false; on_bus := 0;");
    if (protocol_.has_far_atomics()) line(1, "operated := false;");
  }

  void order_procedure(std::size_t number) {
    const auto message = static_cast<MessageId>(number);
    step_variables("order_" + request_name(message));
    line(1, "cr[c] := R_none;");
    line(1, "for k: cid do if k != c then");
    rows_at(2, protocol_.cache, other_event(message), snooper_);
    line(1, "end; end;");
    rows_at(1, protocol_.memory, message, memory_);
    if (protocol_.has_far_atomics()) {
      line(1, "if operated then");
      memory_takes_data(2);
      line(2, "operate(c, v);");
      line(1, "end;");
    }
    rows_at(1, protocol_.cache, own_event(message), requestor_);
    if (protocol_.sends_words) apply_word();
    if (protocol_.has_far_atomics()) line(1, "if !operated then");
    memory_takes_data(1);
    if (protocol_.has_far_atomics()) line(1, "end;");
    line(1, "takes := !completed & {};", cache_is([](const StateInfo& info) { return info.awaits_data; }));
    line(1, "if takes | took then assert supplied \"no data\"; end;");
    line(1, "if takes then due := c + 1; else bd := 0; end;");
    line(0, "end;\n");
  }

  void memory_takes_data(int depth) {
    line(depth, "if to_memory then");
    rows_at(depth + 1, protocol_.memory, protocol_.messages.size(), memory_);
    line(depth, "end;");
  }

  void apply_word() {
    line(1, "if word then for k: cid do if takers[k] then");
    if (protocol_.invariant_data_value) line(2, "assert cd[k] = before \"word into a stale copy\";");
    line(2, "cd[k] := latest;");
    line(1, "end; end; end;");
  }

  void data_procedure() {
    step_variables("data_step");
    rows_at(1, protocol_.cache, kData, requestor_);
    line(1, "due := 0; bd := 0;");
    line(0, "end;\n");
  }

  // Returns a Murphi condition: `variable` is one of the states for which `where` holds.
  template <class Where>
  [[nodiscard]] std::string cache_is(Where where, std::string_view variable = "cs[c]") const {
    return one_of(variable, kCacheState, protocol_.cache, [&](std::size_t s) { return where(protocol_.cache.states[s]); });
  }

  void rules() {
    line(0, "ruleset c: cid do");
    line(1, "rule \"Load\" true ==> begin do_Load(c, 0); end;");
    line(1, "rule \"Evict\" cs[c] != {} ==> begin do_Evict(c, 0); end;", cache_state(0));
    line(1, "ruleset v: val do");
    line(2, "rule \"Store\" true ==> begin do_Store(c, v); end;");
    if (protocol_.has_far_atomics()) line(2, "rule \"Atomic\" true ==> begin do_Atomic(c, v); end;");
    for (std::size_t m = 0; m < protocol_.messages.size(); ++m) {
      line(2, "rule \"{0} ordered\" cr[c] = {1} & due = 0 ==> begin order_{1}(c, v); end;", protocol_.messages[m].name,
           request_name(m));
    }
    line(2, "rule \"data arrives\" due = c + 1 ==> begin data_step(c, v); end;");
    line(1, "end;");
    line(0, "end;\n");
  }

  void invariants() {
    const std::string stable = cache_is([](const StateInfo& info) { return info.stable; });
    const auto is_readable = [](const StateInfo& info) { return info.readable; };
    const std::string writable = cache_is([](const StateInfo& info) { return info.writable; });
    if (protocol_.invariant_swmr) {
      line(0, "invariant \"single writer or many readers\"");
      line(1, "forall c: cid do forall k: cid do");
      line(2, "(c != k & {}) -> !{}", writable, cache_is(is_readable, "cs[k]"));
      line(1, "end end;");
    }
    if (protocol_.invariant_data_value) {
      line(0, "invariant \"data value\"");
      line(1, "forall c: cid do {} -> cd[c] = latest end;", cache_is(is_readable));
    }
    line(0, "invariant \"every access and request is accounted for\"");
    line(1, "forall c: cid do");
    line(2, "({} & ca[c] = A_none & cr[c] = R_none) | (!{} & (cr[c] != R_none | due = c + 1))", stable, stable);
    line(1, "end;");
    line(0, "liveness \"everything that waits can finish\"");
    line(1, "due = 0 & forall c: cid do {} & ca[c] = A_none & cr[c] = R_none end;", stable);
  }

  const Protocol& protocol_;
  const int caches_;
  const MurphiCache snooper_ = cache_called("k"), requestor_ = cache_called("c");
  const MurphiCache memory_ = {"", "CACHES", "ms", "md", "", "", kMemoryState};
};

}  // namespace
}  // namespace checker

std::string murphi_model(const Protocol& protocol, int caches) {
  return checker::BusMurphi(protocol, caches).write();
}

}  // namespace linebounce
