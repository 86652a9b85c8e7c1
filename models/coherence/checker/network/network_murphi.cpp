// Writes one Murphi procedure for each kind of step, with a case for each row. Variables of the model: `a` is an agent (a cache
// or a node), `c` a cache on a node's bus, and `w` the value that a store writes. For a message, `s` is the source, `r` the
// requestor, `k` the number of acknowledgements, and `v` the data.
#include "models/coherence/checker/network/network_murphi.hpp"

#include "models/coherence/checker/network/murphi_rows.hpp"

namespace linebounce {
namespace checker {
namespace {

using Role = MurphiPlace::Role;

class NetworkMurphi : MurphiWriter {
 public:
  NetworkMurphi(const NetworkProtocols& protocols, const NetworkCheckOptions& options)
      : system_(protocols, options), rows_(system_, *this) {}

  std::string write() {
    declarations();
    start_state();
    clean_procedure();
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) send_procedures(m);
    if (system_.has_nodes) {
      bus_procedures();
    } else {
      access_procedures();
    }
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) arrival_procedures(m);
    if (system_.has_nodes) {
      node_rules();
    } else {
      cache_rules();
    }
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) arrival_rules(m);
    home_evicts();
    invariants();
    return text();
  }

 private:
  // --- names and sizes

  [[nodiscard]] bool goes_home(std::size_t message) const { return !system_.directory().base_events[message].absent; }
  [[nodiscard]] bool goes_to_agents(std::size_t message) const {
    return !system_.agent().base_events[system_.agent_rules.event_of(Side::outside, static_cast<MessageId>(message))].absent;
  }
  [[nodiscard]] bool is_forward(std::size_t message) const { return system_.is_forward(static_cast<MessageId>(message)); }
  [[nodiscard]] bool carries(const MessageUse& use, std::size_t message) const {
    return use.data && system_.network.messages[message].carries_data;
  }

  // One index of a Murphi array that counts equal messages.
  struct Index {
    char name;
    std::string_view type;
    std::string_view value;  // the index's expression inside a send procedure
  };
  [[nodiscard]] std::vector<Index> home_indexes(std::size_t message) const {
    const MessageUse& use = system_.use(Way::to_home, message);
    std::vector<Index> indexes;
    if (use.source) indexes.push_back({'s', "aid", "s"});
    if (use.requestor) indexes.push_back({'q', "aid", "r - 1"});
    if (carries(use, message)) indexes.push_back({'v', "val", "v"});
    return indexes;
  }
  [[nodiscard]] std::vector<Index> agent_indexes(std::size_t message) const {
    const MessageUse& use = system_.use(Way::to_agent, message);
    std::vector<Index> indexes = {{'a', "aid", "a"}};
    if (use.requestor) indexes.push_back({'q', "aid", "r - 1"});
    if (use.acks) indexes.push_back({'k', "nack", "k"});
    if (carries(use, message)) indexes.push_back({'v', "val", "v"});
    return indexes;
  }
  static std::string array_type(const std::vector<Index>& indexes) {
    std::string type;
    for (const Index& index : indexes) type += fmt::format("array[{}] of ", index.type);
    return type + "0..MOST";
  }
  static std::string in_rule(const std::vector<Index>& indexes) {
    std::string text;
    for (const Index& index : indexes) text += fmt::format("[{}]", index.name);
    return text;
  }
  static std::string in_procedure(const std::vector<Index>& indexes) {
    std::string text;
    for (const Index& index : indexes) text += fmt::format("[{}]", index.value);
    return text;
  }
  static bool has(const std::vector<Index>& indexes, char name) {
    return std::any_of(indexes.begin(), indexes.end(), [name](const Index& index) { return index.name == name; });
  }
  [[nodiscard]] std::string forward_name(std::size_t message) const {
    return murphi_name(kForward, system_.network.messages[message].name, message);
  }
  [[nodiscard]] std::string request_name(std::size_t message) const { return checker::request_name(system_.bus, message); }
  [[nodiscard]] std::string recall_name(std::size_t message) const {
    return murphi_name(kRecall, system_.bus.messages[message].name, message);
  }

  // --- declarations

  void declarations() {
    std::vector<std::string> forwards = {"F_none"}, requests = {"R_none"}, transactions = {"T_none", "T_run"};
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) {
      if (is_forward(m)) forwards.push_back(forward_name(m));
    }
    for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) {
      requests.push_back(request_name(m));
      transactions.push_back(recall_name(m));
    }
    line(0, "-- {}: {}", system_.subject.name, system_.subject.title);
    line(0, "-- One line, values 0 and 1. Written by linebounce check --murphi; other sizes may be put here.");
    line(0, "const AGENTS: {}; CACHES: {}; MOST: {}; QUEUE: {};", system_.agents, system_.options.caches, system_.agents + 1,
         system_.agents + 2);
    line(0, "type");
    line(1, "aid: 0..AGENTS - 1; anybody: 0..AGENTS; val: 0..1; nack: 0..AGENTS - 1; acks: 1 - AGENTS..AGENTS - 1;");
    line(1, "slot: 0..QUEUE - 1; flags: array[aid] of boolean;");
    line(1, "agent_state: enum {{ {} }};", state_names(kAgentState, system_.agent()));
    line(1, "home_state: enum {{ {} }};", state_names(kHomeState, system_.directory()));
    line(1, "forward: enum {{ {} }};", fmt::join(forwards, ", "));
    line(1, "access: enum {{ W_none, W_Load, W_Store{} }};", far_atomics() ? ", W_Atomic" : "");
    if (system_.has_nodes) {
      line(1, "cid: 0..CACHES - 1; anycache: 0..CACHES; sender: 0..CACHES + 1; -- 0 nobody, 1 + cache, or the controller");
      line(1, "cache_state: enum {{ {} }};", state_names(kCacheState, system_.cache()));
      line(1, "request: enum {{ {} }};", fmt::join(requests, ", "));
      line(1, "transaction: enum {{ {} }};", fmt::join(transactions, ", "));
    }
    line(0, "var");
    line(1, "as: array[aid] of agent_state; ad: array[aid] of val; ak: array[aid] of acks;");
    line(1, "hs: home_state; own: anybody; sh: flags; md: val;");
    line(1, "fm: array[aid] of array[slot] of forward; fr: array[aid] of array[slot] of anybody; -- forwards, in order");
    line(1, "fk: array[aid] of array[slot] of nack; fv: array[aid] of array[slot] of val; fn: array[aid] of 0..QUEUE;");
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) {
      const std::string& name = system_.network.messages[m].name;
      if (goes_home(m)) line(1, "{}: {};", murphi_name(kToHome, name, m), array_type(home_indexes(m)));
      if (goes_to_agents(m) && !is_forward(m)) line(1, "{}: {};", murphi_name(kToAgent, name, m), array_type(agent_indexes(m)));
    }
    if (system_.has_nodes) {
      line(1, "ar: array[aid] of anybody;      -- for whom a recall is made");
      line(1, "aq: array[aid] of anycache;     -- whose transaction is deferred");
      line(1, "at: array[aid] of transaction;  -- of the controller, waits for the bus");
      line(1, "bd: array[aid] of val; due: array[aid] of anycache; -- on the data bus; whose data step is due");
      line(1, "cs: array[aid] of array[cid] of cache_state; cd: array[aid] of array[cid] of val;");
      line(1, "cw: array[aid] of array[cid] of access; cr: array[aid] of array[cid] of request;");
    } else {
      line(1, "aw: array[aid] of access;  -- the access that waits");
    }
    line(1, "latest: val;               -- ghost: what the last store wrote\n");
  }

  void start_state() {
    line(0, "startstate begin");
    line(1, "hs := {}; own := 0; md := 0; latest := 0;", state_name(kHomeState, system_.directory(), 0));
    line(1, "for a: aid do");
    line(2, "as[a] := {}; ad[a] := 0; ak[a] := 0; sh[a] := false; fn[a] := 0;", state_name(kAgentState, system_.agent(), 0));
    line(2, "for i: slot do fm[a][i] := F_none; fr[a][i] := 0; fk[a][i] := 0; fv[a][i] := 0; end;");
    if (system_.has_nodes) {
      line(2, "ar[a] := 0; aq[a] := 0; at[a] := T_none; bd[a] := 0; due[a] := 0;");
      line(2, "for c: cid do cs[a][c] := {}; cd[a][c] := 0; cw[a][c] := W_none; cr[a][c] := R_none; end;",
           state_name(kCacheState, system_.cache(), 0));
    } else {
      line(2, "aw[a] := W_none;");
    }
    line(1, "end;");
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) {
      const std::string& name = system_.network.messages[m].name;
      if (goes_home(m)) zero(murphi_name(kToHome, name, m), home_indexes(m));
      if (goes_to_agents(m) && !is_forward(m)) zero(murphi_name(kToAgent, name, m), agent_indexes(m));
    }
    line(0, "end;\n");
  }

  void zero(const std::string& name, const std::vector<Index>& indexes) {
    std::string loops, ends;
    for (const Index& index : indexes) {
      loops += fmt::format("for {}: {} do ", index.name, index.type);
      ends += " end;";
    }
    line(1, "{}{}{} := 0;{}", loops, name, in_rule(indexes), ends);
  }

  // Writes the procedure that sets dead variables to 0.
  void clean_procedure() {
    const auto in = [](const LiveByState& live, bool Live::*variable) {
      return [&live, variable](std::size_t state) { return live[state].*variable; };
    };
    line(0, "procedure clean(); begin");
    line(1, "for a: aid do");
    line(2, "if !{} then ad[a] := 0; end;", one_of("as[a]", kAgentState, system_.agent(), in(system_.agent_live, &Live::data)));
    if (system_.has_nodes) {
      line(2, "if !{} then ar[a] := 0; end;",
           one_of("as[a]", kAgentState, system_.agent(), in(system_.agent_live, &Live::requestor)));
      line(2, "for c: cid do if !{} then cd[a][c] := 0; end; end;",
           one_of("cs[a][c]", kCacheState, system_.cache(), in(system_.cache_live, &Live::data)));
    }
    line(1, "end;");
    line(1, "if !{} then own := 0; end;", one_of("hs", kHomeState, system_.directory(), in(system_.home_live, &Live::owner)));
    line(1, "if !{} then for a: aid do sh[a] := false; end; end;",
         one_of("hs", kHomeState, system_.directory(), in(system_.home_live, &Live::sharers)));
    line(1, "if !{} then md := 0; end;", one_of("hs", kHomeState, system_.directory(), in(system_.home_live, &Live::data)));
    line(0, "end;\n");
  }

  // --- the network

  void send_procedures(std::size_t message) {
    const std::string& name = system_.network.messages[message].name;
    if (goes_home(message)) {
      const std::string counter = murphi_name(kToHome, name, message) + in_procedure(home_indexes(message));
      line(0, "procedure send_{}{}(s: aid; r: anybody; v: val); begin -- {}", kToHome, message, name);
      if (system_.use(Way::to_home, message).requestor) line(1, "assert r != 0 \"on behalf of nobody\";");
      line(1, "assert {0} < MOST \"more messages than the model has room for\"; {0} := {0} + 1;", counter);
      line(0, "end;");
    }
    if (!goes_to_agents(message)) return;
    const MessageUse& use = system_.use(Way::to_agent, message);
    line(0, "procedure send_{}{}(a: aid; r: anybody; k: nack; v: val); begin -- {}", kToAgent, message, name);
    if (use.requestor) line(1, "assert r != 0 \"on behalf of nobody\";");
    if (is_forward(message)) {
      line(1, "assert fn[a] < QUEUE \"more forwards than the model has room for\"; fm[a][fn[a]] := {};", forward_name(message));
      if (use.requestor) line(1, "fr[a][fn[a]] := r;");
      if (use.acks) line(1, "fk[a][fn[a]] := k;");
      if (carries(use, message)) line(1, "fv[a][fn[a]] := v;");
      line(1, "fn[a] := fn[a] + 1;");
    } else {
      const std::string counter = murphi_name(kToAgent, name, message) + in_procedure(agent_indexes(message));
      line(1, "assert {0} < MOST \"more messages than the model has room for\"; {0} := {0} + 1;", counter);
    }
    line(0, "end;");
  }

  void arrival_procedures(std::size_t message) {
    if (goes_home(message)) {
      line(0, "procedure {}_takes{}(s: aid; r: anybody; v: val; var stalled: boolean); -- {}", kToHome, message,
           system_.network.messages[message].name);
      line(0, "var others: anybody; other: flags;");
      line(0, "begin");
      line(1, "others := 0;");
      line(1, "for i: aid do other[i] := sh[i] & i + 1 != r; if other[i] then others := others + 1; end; end;");
      rows_.at(1, system_.directory(), message, {Role::home, "hs"});
      line(0, "end;");
    }
    if (!goes_to_agents(message)) return;
    line(0, "procedure {}_takes{}(a: aid; r: anybody; k: nack; v: val; w: val; var stalled: boolean); begin -- {}", kToAgent,
         message, system_.network.messages[message].name);
    rows_.at(1, system_.agent(), system_.agent_rules.event_of(Side::outside, static_cast<MessageId>(message)),
             {Role::agent, "as[a]"});
    line(0, "end;");
  }

  void home_evicts() {
    if (system_.home_rules.eviction(Storage::entries) == nullptr) return;
    line(0, "procedure home_evicts();");
    line(0, "var others: anybody; other: flags; stalled: boolean;");
    line(0, "begin");
    line(1, "for i: aid do other[i] := sh[i]; end;");
    rows_.at(1, system_.directory(), system_.network.messages.size(), {Role::home, "hs", "0"});
    line(0, "end;\n");
    line(0, "rule \"home evicts\" hs != {} ==> begin home_evicts(); clean(); end;",
         state_name(kHomeState, system_.directory(), 0));
  }

  void arrival_rules(std::size_t message) {
    const std::string& name = system_.network.messages[message].name;
    if (goes_home(message)) {
      const std::vector<Index> indexes = home_indexes(message);
      begin_rule(name + " at home", indexes, murphi_name(kToHome, name, message));
      const bool source = has(indexes, 's'), relayed = has(indexes, 'q');
      line(2, "{}_takes{}({}, {}, {}, stalled);", kToHome, message, source ? "s" : "0",
           relayed  ? "q + 1"
           : source ? "s + 1"
                    : "0",
           has(indexes, 'v') ? "v" : "0");
      end_rule(indexes, murphi_name(kToHome, name, message));
    }
    if (!goes_to_agents(message)) return;
    if (is_forward(message)) return forward_rule(message);
    std::vector<Index> indexes = agent_indexes(message);
    begin_rule(name, indexes, murphi_name(kToAgent, name, message), "w: val");
    line(2, "{}_takes{}(a, {}, {}, {}, w, stalled);", kToAgent, message, has(indexes, 'q') ? "q + 1" : "0",
         has(indexes, 'k') ? "k" : "0", has(indexes, 'v') ? "v" : "0");
    end_rule(indexes, murphi_name(kToAgent, name, message));
  }

  void begin_rule(const std::string& title, const std::vector<Index>& indexes, const std::string& counter,
                  const std::string& also = "") {
    std::vector<std::string> parameters;
    for (const Index& index : indexes) parameters.push_back(fmt::format("{}: {}", index.name, index.type));
    if (!also.empty()) parameters.push_back(also);
    open_ruleset_ = !parameters.empty();
    if (open_ruleset_) line(0, "ruleset {} do", fmt::join(parameters, "; "));
    line(1, "rule \"{}\" {}{} > 0 ==> var stalled: boolean; begin", title, counter, in_rule(indexes));
    line(2, "stalled := false;");
  }
  void end_rule(const std::vector<Index>& indexes, const std::string& counter) {
    line(2, "if !stalled then {0}{1} := {0}{1} - 1; end; clean();", counter, in_rule(indexes));
    line(1, "end;");
    if (open_ruleset_) line(0, "end;");
  }

  void forward_rule(std::size_t message) {
    line(0, "ruleset a: aid; w: val do");
    line(1, "rule \"{}\" fn[a] > 0 & fm[a][0] = {} ==> var stalled: boolean; begin", system_.network.messages[message].name,
         forward_name(message));
    line(2, "stalled := false; {}_takes{}(a, fr[a][0], fk[a][0], fv[a][0], w, stalled);", kToAgent, message);
    line(2, "if !stalled then");
    line(3, "for i: slot do if i < QUEUE - 1 then");
    line(4, "fm[a][i] := fm[a][i + 1]; fr[a][i] := fr[a][i + 1]; fk[a][i] := fk[a][i + 1]; fv[a][i] := fv[a][i + 1];");
    line(3, "end; end;");
    line(
        3,
        "fm[a][QUEUE - 1] := F_none; fr[a][QUEUE - 1] := 0; fk[a][QUEUE - 1] := 0; fv[a][QUEUE - 1] := 0; fn[a] := fn[a] - 1;");
    line(2, "end; clean();");
    line(1, "end;");
    line(0, "end;");
  }

  // --- processors

  void access_procedures() {
    use_procedures(system_.subject, system_.cache(), kStore, {"a: aid", "a", "as[a]", "ad[a]", "aw[a]", "", kAgentState},
                   kMurphiAccess);
    for (const CacheEvent event : {kLoad, kStore, kEvict}) {
      const ControllerTable& table = system_.agent();
      const std::string& name = table.base_events[event].name;
      line(0, "procedure do_{}(a: aid; w: val);", name);
      line(0, "var hits, stalled: boolean;");
      line(0, "begin");
      line(1, "hits := {}; stalled := false;", one_of("as[a]", kAgentState, table, [&](std::size_t state) {
             const Row& row = table.row(static_cast<StateId>(state), table.base_events[event].first);
             return row.count == 1 && row.actions[0].verb == Verb::hit;
           }));
      rows_.at(1, table, event, {Role::agent, "as[a]"});
      if (event != kEvict) {
        line(1, "if hits then use(a, {}, w);", event == kStore);
        line(1, "elsif !stalled then assert aw[a] = W_none \"two accesses that wait\"; aw[a] := W_{}; end;", name);
      }
      line(0, "end;\n");
    }
  }

  void cache_rules() {
    line(0, "ruleset a: aid do");
    line(1, "rule \"Load\" true ==> begin do_Load(a, 0); clean(); end;");
    line(1, "rule \"Evict\" as[a] != {} ==> begin do_Evict(a, 0); clean(); end;", state_name(kAgentState, system_.agent(), 0));
    line(1, "ruleset w: val do rule \"Store\" true ==> begin do_Store(a, w); clean(); end; end;");
    line(0, "end;\n");
  }

  // --- the bus of a node

  void bus_procedures() {
    line(0, "procedure drive(var on_bus: sender; a: aid; who: sender; v: val); begin");
    line(1, "assert on_bus = 0 | on_bus = who \"two senders\"; on_bus := who; bd[a] := v;");
    line(0, "end;\n");
    line(0, "procedure issue(a: aid; c: cid; q: request); begin");
    line(1, "assert cr[a][c] = R_none \"two requests\"; cr[a][c] := q;");
    line(0, "end;\n");
    line(0, "procedure begin_transaction(a: aid; t: transaction); begin");
    line(1, "assert at[a] = T_none \"two transactions of a controller\"; at[a] := t;");
    line(0, "end;\n");
    use_procedures(system_.subject, system_.cache(), system_.bus.atomic, cache_of_node("c"), kMurphiAccess);
    if (far_atomics()) operate_procedure(system_.subject, cache_of_node("c"), kMurphiAccess, "ad[a]");
    for (const CacheEvent event : {kLoad, kStore, kEvict}) bus_access_procedure(event);
    if (far_atomics()) bus_access_procedure(system_.bus.atomic);
    for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) {
      ask_procedure(m);
      order_procedure(m);
      recall_procedure(m);
    }
    data_procedure();
    dispatch_procedures();
    give_up_procedure();
  }

  void bus_access_procedure(std::size_t event) {
    const ControllerTable& table = system_.cache();
    const BaseEvent& base = table.base_events[event];
    line(0, "procedure do_{}(a: aid; c: cid; w: val); begin", base.name);
    each_state(1, "cs[a][c]", kCacheState, table, [&](StateId state) {
      const Row& row = table.row(state, base.first);
      if (row.impossible) return line(2, "error \"impossible: {}\";", table.place(row.source_line));
      if (row.next != state) line(2, "cs[a][c] := {};", state_name(kCacheState, table, row.next));
      for (const Action action : row.steps()) {
        if (action.verb == Verb::hit) line(2, "use(a, c, {}, w);", event != kLoad);
        if (action.verb != Verb::issue) continue;
        line(2, "issue(a, c, {});", request_name(action.argument));
        if (event != kEvict) line(2, "assert cw[a][c] = W_none \"two accesses that wait\"; cw[a][c] := W_{};", base.name);
      }
    });
    line(0, "end;\n");
  }

  void step_variables() {
    line(0,
         "var shared, owned, kept, written_back, supplied, to_memory, completed, took, takes, deferred: boolean; on_bus: "
         "sender;");
    if (far_atomics()) line(0, "operated: boolean;");
    line(0, "begin");
    if (far_atomics()) line(1, "operated := false;");
    line(1, "shared := false; owned := false; kept := false; written_back := false; supplied := false; to_memory := false;");
    line(1, "completed := false; took := false; takes := false; deferred := false; on_bus := 0;");
  }

  void ask_procedure(std::size_t number) {
    const std::size_t base = ask_event(system_.subject.bus_messages, static_cast<MessageId>(number));
    line(0, "procedure ask_{}(a: aid; c: cid; var granted: boolean); begin", request_name(number));
    line(1, "granted := true;");
    if (!system_.agent().base_events[base].absent)
      rows_.at(1, system_.agent(), base, {Role::agent, "as[a]", "ar[a]", "bd[a]", "c"});
    line(0, "end;\n");
  }

  void order_procedure(std::size_t number) {
    const auto message = static_cast<MessageId>(number);
    const MurphiPlace controller{Role::bus_memory, "as[a]", "ar[a]", "bd[a]", "c"};
    line(0, "procedure order_{}(a: aid; c: cid; w: val);", request_name(number));
    step_variables();
    line(1, "cr[a][c] := R_none;");
    line(1, "for k: cid do if k != c then");
    rows_.at(2, system_.cache(), other_event(message), {Role::bus_cache, "cs[a][k]", "", "", "k"});
    line(1, "end; end;");
    line(1, "kept := !({}); written_back := {};", wants_data(message), system_.bus.messages[number].carries_data);
    rows_.at(1, system_.bus.memory, number, controller);
    line(1, "if deferred then cr[a][c] := {}; bd[a] := 0;", request_name(number));
    line(1, "else");
    if (far_atomics()) {
      line(2, "if operated then");
      bus_data(3, controller);
      line(3, "operate(a, c, w);");
      line(2, "end;");
    }
    rows_.at(2, system_.cache(), own_event(message), {Role::bus_cache, "cs[a][c]", "", "", "c"});
    if (far_atomics()) line(2, "if !operated then");
    bus_data(2, controller);
    if (far_atomics()) line(2, "end;");
    line(2, "takes := !completed & {};", one_of("cs[a][c]", kCacheState, system_.cache(), [&](std::size_t s) {
           return system_.cache().states[s].awaits_data;
         }));
    line(2, "if takes | took then assert supplied \"no data\"; end;");
    line(2, "if takes then due[a] := c + 1; else bd[a] := 0; end;");
    line(1, "end;");
    line(0, "end;\n");
  }

  void bus_data(int depth, const MurphiPlace& controller) {
    line(depth, "if to_memory then");
    rows_.at(depth + 1, system_.bus.memory, system_.bus.messages.size(), controller);
    line(depth, "end;");
  }

  // Returns a Murphi condition: the requestor needs data, because the row for its own message takes data or leads to a state
  // that awaits data.
  [[nodiscard]] std::string wants_data(MessageId message) const {
    const ControllerTable& cache = system_.cache();
    const BaseEvent& own = cache.base_events[own_event(message)];
    const auto wants = [&](std::size_t state, int word) {
      const Row& row = cache.row(static_cast<StateId>(state), static_cast<EventId>(own.first + word));
      return cache.states[row.next].awaits_data || row.does(Verb::take_data);
    };
    const std::string first = one_of("cs[a][c]", kCacheState, cache, [&](std::size_t state) { return wants(state, 0); });
    if (own.count == 1) return first;
    const std::string second = one_of("cs[a][c]", kCacheState, cache, [&](std::size_t state) { return wants(state, 1); });
    return fmt::format("(shared & {}) | (!shared & {})", first, second);
  }

  void recall_procedure(std::size_t number) {
    const auto message = static_cast<MessageId>(number);
    const std::size_t base = recalled_event(system_.subject.bus_messages, message);
    if (system_.agent().base_events[base].absent) return;
    line(0, "procedure recall_{}(a: aid; w: val);", recall_name(number));
    line(0, "var shared, owned, supplied, to_memory, took, completed, stalled, granted: boolean; on_bus: sender; hand: val;");
    line(0, "begin");
    line(1,
         "shared := false; owned := false; supplied := false; to_memory := false; took := false; completed := false; on_bus := "
         "0;");
    line(1, "stalled := false; granted := true; at[a] := T_none;");
    line(1, "for k: cid do");
    rows_.at(2, system_.cache(), other_event(message), {Role::bus_cache, "cs[a][k]", "", "", "k"});
    line(1, "end;");
    line(1, "hand := bd[a]; bd[a] := 0;");
    rows_.at(1, system_.agent(), base, {Role::agent, "as[a]", "ar[a]", std::string(kOnBus), ""});
    line(0, "end;\n");
  }

  void data_procedure() {
    line(0, "procedure data_step(a: aid; c: cid; w: val);");
    step_variables();
    rows_.at(1, system_.cache(), kData, {Role::bus_cache, "cs[a][c]", "", "", "c"});
    line(1, "due[a] := 0; bd[a] := 0;");
    line(0, "end;\n");
  }

  void dispatch_procedures() {
    line(0, "procedure order(a: aid; c: cid; w: val); begin");
    line(1, "switch cr[a][c]");
    for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) line(1, "case {0}: order_{0}(a, c, w);", request_name(m));
    line(1, "end;");
    line(0, "end;\n");
    line(0, "procedure run_deferred(a: aid; w: val);");
    line(0, "var c: anycache;");
    line(0, "begin");
    line(1, "c := aq[a]; aq[a] := 0; at[a] := T_none; order(a, c - 1, w);");
    line(0, "end;\n");
  }

  [[nodiscard]] bool far_atomics() const { return system_.bus.has_far_atomics(); }

  [[nodiscard]] bool gives_up() const {
    return !system_.agent().base_events[node_evict_event(system_.subject.bus_messages)].absent;
  }

  void give_up_procedure() {
    if (!gives_up()) return;
    line(0, "procedure give_up(a: aid);");
    line(0, "var stalled: boolean;");
    line(0, "begin");
    rows_.at(1, system_.agent(), node_evict_event(system_.subject.bus_messages), {Role::agent, "as[a]", "ar[a]", "0", ""});
    line(0, "end;\n");
  }

  void node_rules() {
    line(0, "ruleset a: aid; c: cid do");
    line(1, "rule \"Load\" true ==> begin do_Load(a, c, 0); clean(); end;");
    line(1, "rule \"Evict\" cs[a][c] != {} ==> begin do_Evict(a, c, 0); clean(); end;",
         state_name(kCacheState, system_.cache(), 0));
    line(1, "ruleset w: val do");
    line(2, "rule \"Store\" true ==> begin do_Store(a, c, w); clean(); end;");
    if (far_atomics()) line(2, "rule \"Atomic\" true ==> begin do_Atomic(a, c, w); clean(); end;");
    for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) {
      line(2, "rule \"{} wants its order\" cr[a][c] = {} & due[a] = 0 & aq[a] != c + 1 ==> var granted: boolean; begin",
           system_.bus.messages[m].name, request_name(m));
      line(3, "ask_{0}(a, c, granted); if granted then order_{0}(a, c, w); end; clean();", request_name(m));
      line(2, "end;");
    }
    line(2, "rule \"data arrives\" due[a] = c + 1 ==> begin data_step(a, c, w); clean(); end;");
    line(1, "end;");
    line(0, "end;");
    line(0, "ruleset a: aid; w: val do");
    line(1, "rule \"deferred\" at[a] = T_run & due[a] = 0 ==> begin run_deferred(a, w); clean(); end;");
    for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) {
      const std::size_t base = recalled_event(system_.subject.bus_messages, static_cast<MessageId>(m));
      if (system_.agent().base_events[base].absent) continue;
      line(1, "rule \"recall {}\" at[a] = {} & due[a] = 0 ==> begin recall_{}(a, w); clean(); end;",
           system_.bus.messages[m].name, recall_name(m), recall_name(m));
    }
    line(0, "end;");
    if (!gives_up()) return;
    line(0, "ruleset a: aid do rule \"node evicts\" as[a] != {} ==> begin give_up(a); clean(); end; end;",
         state_name(kAgentState, system_.agent(), 0));
  }

  // --- properties

  void invariants() {
    const ControllerTable& cache = system_.cache();
    const std::string_view kind = system_.has_nodes ? kCacheState : kAgentState;
    const auto readable = [&](std::size_t state) { return cache.states[state].readable; };
    const auto writable = [&](std::size_t state) { return cache.states[state].writable; };
    const auto stable = [&](std::size_t state) { return cache.states[state].stable; };
    const bool nodes = system_.has_nodes;
    const std::string one = nodes ? "cs[a][c]" : "as[a]", other = nodes ? "cs[b][d]" : "as[b]";
    const std::string all_one = nodes ? "forall a: aid do forall c: cid do" : "forall a: aid do";
    const std::string all_other = nodes ? "forall b: aid do forall d: cid do" : "forall b: aid do";
    const std::string same = nodes ? "a = b & c = d" : "a = b";
    const char* end = nodes ? "end end" : "end";
    if (system_.subject.invariant_swmr) {
      line(0, "invariant \"single writer or many readers\"");
      line(1, "{} {} -> {} ({}) | !{} {} {};", all_one, one_of(one, kind, cache, writable), all_other, same,
           one_of(other, kind, cache, readable), end, end);
    }
    if (system_.subject.invariant_data_value) {
      line(0, "invariant \"data value\"");
      line(1, "{} {} -> {} = latest {};", all_one, one_of(one, kind, cache, readable), nodes ? "cd[a][c]" : "ad[a]", end);
    }
    line(0, "invariant \"every access and request is accounted for\"");
    if (nodes) {
      line(1, "{} ({} & cw[a][c] = W_none & cr[a][c] = R_none) | (!{} & (cr[a][c] != R_none | due[a] = c + 1)) {};", all_one,
           one_of(one, kind, cache, stable), one_of(one, kind, cache, stable), end);
    } else {
      line(1, "{} {} -> aw[a] = W_none {};", all_one, one_of(one, kind, cache, stable), end);
    }
    quiescence();
  }

  void quiescence() {
    line(0, "liveness \"everything that waits can finish\"");
    line(1, "{}",
         one_of("hs", kHomeState, system_.directory(), [&](std::size_t s) { return system_.directory().states[s].stable; }));
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) {
      const std::string& name = system_.network.messages[m].name;
      if (goes_home(m)) line(1, "& {}", none(murphi_name(kToHome, name, m), home_indexes(m)));
      if (goes_to_agents(m) && !is_forward(m)) line(1, "& {}", none(murphi_name(kToAgent, name, m), agent_indexes(m)));
    }
    line(1, "& forall a: aid do {} & ak[a] = 0 & fn[a] = 0",
         one_of("as[a]", kAgentState, system_.agent(), [&](std::size_t s) { return system_.agent().states[s].stable; }));
    if (system_.has_nodes) {
      line(2, "& aq[a] = 0 & at[a] = T_none & due[a] = 0");
      line(2, "& forall c: cid do {} & cw[a][c] = W_none & cr[a][c] = R_none end",
           one_of("cs[a][c]", kCacheState, system_.cache(), [&](std::size_t s) { return system_.cache().states[s].stable; }));
    } else {
      line(2, "& aw[a] = W_none");
    }
    line(1, "end;");
  }

  static std::string none(const std::string& name, const std::vector<Index>& indexes) {
    std::string loops, ends;
    for (const Index& index : indexes) {
      loops += fmt::format("forall {}: {} do ", index.name, index.type);
      ends += " end";
    }
    return fmt::format("({}{}{} = 0{})", loops, name, in_rule(indexes), ends);
  }

  const CheckedSystem system_;
  MurphiRows rows_;
  bool open_ruleset_ = false;
};

}  // namespace
}  // namespace checker

std::string murphi_model(const NetworkProtocols& protocols, const NetworkCheckOptions& options) {
  return checker::NetworkMurphi(protocols, options).write();
}

}  // namespace linebounce
