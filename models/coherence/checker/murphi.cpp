// One Murphi procedure for each thing that happens, each row of the tables a case in it. Where the model checks something with
// an `error` or `assert`, check_protocol() throws.
#include "models/coherence/checker/murphi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace linebounce {
namespace {

// Who a row belongs to: how the model names its state, and the cache that acts.
struct Place {
  std::string state;  // "cs[k]"
  std::string cache;  // "k"; empty for memory
};

const Place kSnooper{"cs[k]", "k"};
const Place kRequestor{"cs[c]", "c"};
const Place kMemoryPlace{"ms", ""};

class MurphiWriter {
 public:
  MurphiWriter(const Protocol& protocol, int caches) : protocol_(protocol), caches_(caches) {}

  std::string write() {
    declarations();
    start_state();
    bus_procedure();
    issue_procedure();
    complete_procedure();
    if (protocol_.sends_words) send_word_procedure();
    for (const CacheEvent event : {kLoad, kStore, kEvict}) access_procedure(event);
    for (std::size_t m = 0; m < protocol_.messages.size(); ++m) order_procedure(m);
    data_procedure();
    rules();
    invariants();
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  // Names may hold anything but spaces and commas in a table; the number keeps them apart.
  static std::string identifier(char kind, std::string_view name, std::size_t number) {
    std::string plain(name);
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return fmt::format("{}{}_{}", kind, number, plain);
  }
  static std::string state_name(const ControllerTable& table, std::size_t state) {
    return identifier(table.name == "memory" ? 'D' : 'C', table.states[state].name, state);
  }
  [[nodiscard]] std::string request_name(std::size_t message) const {
    return identifier('R', protocol_.messages[message].name, message);
  }
  static std::string list(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }
  static std::string states(const ControllerTable& table) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < table.states.size(); ++i) names.push_back(state_name(table, i));
    return list(names);
  }

  void declarations() {
    std::vector<std::string> requests = {"R_none"};
    for (std::size_t m = 0; m < protocol_.messages.size(); ++m) requests.push_back(request_name(m));
    line(0, "-- {}: {}", protocol_.name, protocol_.title);
    line(0, "-- {} caches on one bus, one line, values 0 and 1. Written by linebounce check --murphi.", caches_);
    line(0, "const CACHES: {};", caches_);
    line(0, "type");
    line(1, "cid: 0..CACHES - 1; val: 0..1;");
    line(1, "sender: 0..CACHES + 1; -- 0 nobody, 1 + cache, or memory");
    line(1, "cache_state: enum {{ {} }};", states(protocol_.cache));
    line(1, "memory_state: enum {{ {} }};", states(protocol_.memory));
    line(1, "request: enum {{ {} }};", list(requests));
    line(1, "access: enum {{ A_none, A_Load, A_Store }};");
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
    line(1, "for c: cid do cs[c] := {}; cd[c] := 0; ca[c] := A_none; cr[c] := R_none; end;", state_name(protocol_.cache, 0));
    line(1, "ms := {}; md := 0; bd := 0; due := 0; latest := 0;", state_name(protocol_.memory, 0));
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
    line(0, "procedure use(c: cid; store: boolean; v: val); begin");
    if (protocol_.invariant_data_value) line(1, "assert cd[c] = latest \"stale copy\";");
    line(1, "if store then cd[c] := v; latest := v; end;");
    line(0, "end;\n");
  }

  // "switch" over the states of a table, with what `one_case` writes for each.
  template <class OneCase>
  void each_state(int depth, const ControllerTable& table, const Place& place, OneCase one_case) {
    line(depth, "switch {}", place.state);
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      line(depth, "case {}:", state_name(table, state));
      one_case(static_cast<StateId>(state));
    }
    line(depth, "end;");
  }

  void complete_procedure() {
    line(0, "procedure complete(c: cid; v: val);");
    line(0, "var a: access;");
    line(0, "begin");
    line(1, "a := ca[c]; ca[c] := A_none;");
    line(1, "assert a != A_none \"completes without an access\";");
    each_state(1, protocol_.cache, kRequestor, [&](StateId state) {
      for (const bool store : {false, true}) {
        const Row& row = protocol_.cache.row(state, protocol_.cache.base_events[store ? kStore : kLoad].first);
        const bool hits = !row.impossible && row.count == 1 && row.actions[0].verb == Verb::hit;
        line(2, "{} a = {} then {}", store ? "elsif" : "if", store ? "A_Store" : "A_Load",
             hits ? fmt::format("{} := {}; use(c, {}, v);", kRequestor.state, state_name(protocol_.cache, row.next), store)
                  : "error \"completes an access that does not hit\";");
      }
      line(2, "end;");
    });
    line(0, "end;\n");
  }

  void send_word_procedure() {
    line(0, "procedure send_word(c: cid; v: val); begin");
    line(1, "assert ca[c] = A_Store \"sends a word without a store\"; ca[c] := A_none; use(c, true, v);");
    line(0, "end;\n");
  }

  void access_procedure(CacheEvent event) {
    const BaseEvent& base = protocol_.cache.base_events[event];
    line(0, "procedure do_{}(c: cid; v: val); begin", base.name);
    each_state(1, protocol_.cache, kRequestor, [&](StateId state) {
      const Row& row = protocol_.cache.row(state, base.first);
      if (!begin_row(2, protocol_.cache, row, state, kRequestor)) return;
      for (const Action action : row.steps()) {
        if (action.verb == Verb::hit) line(2, "use(c, {}, v);", event == kStore);
        if (action.verb == Verb::free) line(2, "cd[c] := 0;");
        if (action.verb != Verb::issue) continue;
        line(2, "issue(c, {});", request_name(action.argument));
        if (event != kEvict) line(2, "wait(c, {});", event == kStore ? "A_Store" : "A_Load");
      }
    });
    line(0, "end;\n");
  }

  // The state's change; false where there is no more to say.
  bool begin_row(int depth, const ControllerTable& table, const Row& row, StateId state, const Place& place) {
    if (row.impossible) {
      line(depth, "error \"impossible: line {}\";", row.source_line);
      return false;
    }
    if (row.next != state) line(depth, "{} := {};", place.state, state_name(table, row.next));
    return true;
  }

  void row_of_step(int depth, const ControllerTable& table, const Row& row, StateId state, const Place& place) {
    if (!begin_row(depth, table, row, state, place)) return;
    for (const Action action : row.steps()) step_action(depth, action, place);
  }

  void step_action(int depth, Action action, const Place& place) {
    const bool of_memory = place.cache.empty();
    switch (action.verb) {
      case Verb::assert_shared: line(depth, "shared := true;"); break;
      case Verb::assert_owned: line(depth, "owned := true;"); break;
      case Verb::send_data:
        if (of_memory) {
          line(depth, "drive(on_bus, CACHES + 1, md);");
        } else {
          line(depth, "drive(on_bus, {0} + 1, cd[{0}]);", place.cache);
        }
        if ((action.argument & to_memory) != 0) line(depth, "to_memory := true;");
        if ((action.argument & to_requestor) != 0) line(depth, "assert !supplied \"two suppliers\"; supplied := true;");
        break;
      case Verb::take_data: line(depth, "cd[{}] := bd; took := true;", place.cache); break;
      case Verb::complete: line(depth, "completed := true; complete({}, v);", place.cache); break;
      case Verb::issue: line(depth, "issue({}, {});", place.cache, request_name(action.argument)); break;
      case Verb::free: line(depth, "cd[{}] := 0;", place.cache); break;
      case Verb::send_word:
        line(depth, "completed := true; word := true; before := latest; send_word({}, v);", place.cache);
        break;
      case Verb::apply_word: line(depth, "takers[{}] := true;", place.cache); break;
      case Verb::update_memory: line(depth, "md := bd;"); break;
      default: break;  // hit and stall, at accesses only; no others stand in a protocol of a bus
    }
  }

  // All states of a table at one base event. Both rows of a guarded event, where its lines say which.
  void rows_at(int depth, const ControllerTable& table, std::size_t base_event, const Place& place) {
    const BaseEvent& base = table.base_events[base_event];
    each_state(depth, table, place, [&](StateId state) {
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
    if (protocol_.sends_words) line(0, "word: boolean; before: val; takers: array[cid] of boolean;");
    line(0, "begin");
    if (protocol_.sends_words) line(1, "word := false; before := 0; for k: cid do takers[k] := false; end;");
    line(1, "shared := false; owned := false; supplied := false; to_memory := false; completed := false; took := false;");
    line(1, "takes := false; on_bus := 0;");
  }

  void order_procedure(std::size_t number) {
    const auto message = static_cast<MessageId>(number);
    step_variables("order_" + request_name(message));
    line(1, "cr[c] := R_none;");
    line(1, "for k: cid do if k != c then");
    rows_at(2, protocol_.cache, other_event(message), kSnooper);
    line(1, "end; end;");
    rows_at(1, protocol_.memory, message, kMemoryPlace);
    rows_at(1, protocol_.cache, own_event(message), kRequestor);
    if (protocol_.sends_words) apply_word();
    line(1, "if to_memory then");
    rows_at(2, protocol_.memory, protocol_.messages.size(), kMemoryPlace);
    line(1, "end;");
    line(1, "takes := !completed & {};", one_of(awaiting_data()));
    line(1, "if takes | took then assert supplied \"no data\"; end;");
    line(1, "if takes then due := c + 1; else bd := 0; end;");
    line(0, "end;\n");
  }

  void apply_word() {
    line(1, "if word then for k: cid do if takers[k] then");
    if (protocol_.invariant_data_value) line(2, "assert cd[k] = before \"word into a stale copy\";");
    line(2, "cd[k] := latest;");
    line(1, "end; end; end;");
  }

  void data_procedure() {
    step_variables("data_step");
    rows_at(1, protocol_.cache, kData, kRequestor);
    line(1, "due := 0; bd := 0;");
    line(0, "end;\n");
  }

  [[nodiscard]] std::vector<std::string> awaiting_data() const {
    return states_where([](const StateInfo& info) { return info.awaits_data; });
  }
  template <class Where>
  [[nodiscard]] std::vector<std::string> states_where(Where where) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < protocol_.cache.states.size(); ++i) {
      if (where(protocol_.cache.states[i])) names.push_back(state_name(protocol_.cache, i));
    }
    return names;
  }
  // "cs[c] is one of these".
  static std::string one_of(const std::vector<std::string>& states, std::string_view cache = "c") {
    if (states.empty()) return "false";
    std::vector<std::string> tests;
    for (const std::string& state : states) tests.push_back(fmt::format("cs[{}] = {}", cache, state));
    return fmt::format("({})", fmt::join(tests, " | "));
  }

  void rules() {
    line(0, "ruleset c: cid do");
    line(1, "rule \"Load\" true ==> begin do_Load(c, 0); end;");
    line(1, "rule \"Evict\" cs[c] != {} ==> begin do_Evict(c, 0); end;", state_name(protocol_.cache, 0));
    line(1, "ruleset v: val do");
    line(2, "rule \"Store\" true ==> begin do_Store(c, v); end;");
    for (std::size_t m = 0; m < protocol_.messages.size(); ++m) {
      line(2, "rule \"{0} ordered\" cr[c] = {1} & due = 0 ==> begin order_{1}(c, v); end;", protocol_.messages[m].name,
           request_name(m));
    }
    line(2, "rule \"data arrives\" due = c + 1 ==> begin data_step(c, v); end;");
    line(1, "end;");
    line(0, "end;\n");
  }

  void invariants() {
    const auto stable = states_where([](const StateInfo& info) { return info.stable; });
    const auto readable = states_where([](const StateInfo& info) { return info.readable; });
    const auto writable = states_where([](const StateInfo& info) { return info.writable; });
    if (protocol_.invariant_swmr) {
      line(0, "invariant \"single writer or many readers\"");
      line(1, "forall c: cid do forall k: cid do");
      line(2, "(c != k & {}) -> !{}", one_of(writable), one_of(readable, "k"));
      line(1, "end end;");
    }
    if (protocol_.invariant_data_value) {
      line(0, "invariant \"data value\"");
      line(1, "forall c: cid do {} -> cd[c] = latest end;", one_of(readable));
    }
    line(0, "invariant \"every access and request is accounted for\"");
    line(1, "forall c: cid do");
    line(2, "({} & ca[c] = A_none & cr[c] = R_none) | (!{} & (cr[c] != R_none | due = c + 1))", one_of(stable), one_of(stable));
    line(1, "end;");
    line(0, "liveness \"everything that waits can finish\"");
    line(1, "due = 0 & forall c: cid do {} & ca[c] = A_none & cr[c] = R_none end;", one_of(stable));
  }

  const Protocol& protocol_;
  const int caches_;
  std::string text_;
};

}  // namespace

std::string murphi_model(const Protocol& protocol, int caches) {
  return MurphiWriter(protocol, caches).write();
}

}  // namespace linebounce
