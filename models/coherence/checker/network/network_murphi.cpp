// Writes one Murphi procedure for each kind of step, with a case for each row. Variables of the model: `a` is an agent (a
// cache, a node or a group), `c` a cache in a node or group, and `w` the value that a store writes.
#include "models/coherence/checker/network/network_murphi.hpp"

#include <algorithm>
#include <optional>

#include "models/coherence/checker/murphi_bus.hpp"
#include "models/coherence/checker/network/murphi_rows.hpp"

namespace linebounce {
namespace checker {
namespace {

class NetworkMurphi {
 public:
  NetworkMurphi(const NetworkProtocols& protocols, const NetworkCheckOptions& options)
      : system_(protocols, options), messages_(system_, out_), rows_(system_, messages_, out_) {
    if (!system_.has_nodes) return;
    bus_.emplace(out_, system_.bus, system_.subject, rows_.agent,
                 [this](int depth, Action action) { rows_.action(depth, action, bus_step("t.sender != 0"), "0"); });
  }

  std::string write(MurphiReader reader) {
    declarations();
    start_state();
    clean_procedure();
    messages_.procedures();
    if (system_.has_nodes) {
      node_procedures();
    } else {
      const ControllerRules& rules = system_.has_groups ? system_.member_rules : system_.agent_rules;
      const MurphiStep step{.rules = rules, .of = rows_.cache(), .self = rows_.cache().selected_by.back().name};
      out_.access_procedures(
          system_.subject, rows_.cache(), kStore, [&](int depth, const Row& row) { rows_.actions(depth, row, step); },
          [](const Row& row) { return !row.stalls(); });
    }
    messages_.for_each([this](Way way, std::size_t message) { rows_.arrival_procedure(way, message); });
    out_.access_rules(rows_.cache(), bus_ ? system_.bus.atomic : std::size_t{kStore});
    if (system_.has_nodes) node_rules();
    messages_.for_each([this](Way way, std::size_t message) {
      const bool to_cache = way == Way::to_member || (way == Way::to_agent && !has_caches());
      messages_.arrival_rule(way, message, to_cache);
    });
    evictions();
    properties();
    if (reader == MurphiReader::rumur) liveness();
    return procedures_before_rules(out_.text());
  }

 private:
  // True if the agents are nodes or groups.
  [[nodiscard]] bool has_caches() const { return system_.has_nodes || system_.has_groups; }

  // --- variables

  void declarations() {
    const int members = system_.has_groups ? system_.options.caches : 0;
    out_.line(0, "-- {}: {}", system_.subject.name, system_.subject.title);
    out_.line(0, "-- One line, values 0 and 1. Written by linebounce check --murphi; other sizes may be put here.");
    out_.line(0, "const AGENTS: {}; CACHES: {}; ACKS: {}; MOST: {}; QUEUE: {};", system_.agents, system_.options.caches,
              system_.has_groups ? std::max(system_.agents, members) : system_.agents - 1, system_.agents + members + 1,
              system_.agents + members + 2);
    out_.line(0, "-- ACKS: the most acknowledgements; MOST: the most equal messages; QUEUE: the most forwards to one receiver");
    out_.line(0, "type");
    out_.line(1, "aid: 1..AGENTS; any_aid: 0..AGENTS; val: 0..1; nack: 0..ACKS; acks: -ACKS..ACKS; -- 0: nobody");
    if (system_.has_groups) {
      out_.line(1, "cid: 1..CACHES; any_cid: 0..CACHES; requestor: 1..CACHES + 1; -- CACHES + 1: the group itself");
    }
    messages_.types();
    if (bus_) {
      bus_->types();
    } else {
      out_.line(1, "waiting: enum {{ W_none, W_Load, W_Store }};");
    }
    if (system_.has_groups) {
      out_.line(1, "cache_state: enum {{ {} }};", rows_.member.states());
      out_.line(1, "cache: record state: cache_state; data: val; acks: acks; access: waiting; forwards: queue; end;");
    }
    agent_type();
    out_.line(1, "home_state: enum {{ {} }};", rows_.home.states());
    out_.line(0, "var");
    out_.line(1, "home: record state: home_state; data: val; owner: any_aid; sharers: array[aid] of boolean; end;");
    out_.line(1, "agents: array[aid] of agent;");
    messages_.variable();
    out_.line(1, "latest: val;  -- ghost: what the last store wrote\n");
  }

  void agent_type() {
    out_.line(1, "agent_state: enum {{ {} }};", rows_.agent.states());
    if (bus_) {
      std::vector<std::string> transactions = {"T_none", "T_run"};
      for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) transactions.push_back(rows_.transaction(m));
      out_.line(1, "transaction: enum {{ {} }};", fmt::join(transactions, ", "));
    }
    out_.line(1, "agent: record");
    out_.line(2, "state: agent_state; data: val; acks: acks; forwards: queue;");
    if (!has_caches()) {
      out_.line(2, "access: waiting;  -- the access that waits");
    } else {
      out_.line(2, "requestor: any_aid;  -- for whom a recall is made");
      out_.line(2, "member: any_cid;     -- who is served later");
      out_.line(2, "caches: array[cid] of cache;");
    }
    if (system_.has_groups) out_.line(2, "owner: any_cid; sharers: array[cid] of boolean;");
    if (system_.has_nodes) {
      out_.line(2, "transaction: transaction;  -- of the controller, waits for the bus");
      out_.line(2, "bus_data: val;             -- the value on the data bus");
      out_.line(2, "due: any_cid;              -- the cache whose data step is due");
    }
    out_.line(1, "end;");
  }

  void start_state() {
    out_.line(0, "startstate begin");
    out_.line(1, "clear home; clear agents; clear messages; clear latest;");
    out_.line(1, "for a: aid do agents[a].acks := 0; end;");
    if (system_.has_groups) out_.line(1, "for a: aid do for c: cid do agents[a].caches[c].acks := 0; end; end;");
    out_.line(0, "end;\n");
  }

  // Writes the procedure that sets dead variables to 0.
  void clean_procedure() {
    const auto clear_dead = [this](int depth, const MurphiController& of, const LiveByState& live, bool Live::*variable,
                                   std::string_view name) {
      const std::string dead = of.is([&](std::size_t state) { return !(live[state].*variable); });
      if (dead != "false") out_.line(depth, "if {} then clear {}.{}; end;", dead, of.at, name);
    };
    out_.line(0, "procedure clean(); begin");
    clear_dead(1, rows_.home, system_.home_live, &Live::data, "data");
    clear_dead(1, rows_.home, system_.home_live, &Live::owner, "owner");
    clear_dead(1, rows_.home, system_.home_live, &Live::sharers, "sharers");
    out_.line(1, "for a: aid do");
    clear_dead(2, rows_.agent, system_.agent_live, &Live::data, "data");
    if (has_caches()) {
      clear_dead(2, rows_.agent, system_.agent_live, &Live::requestor, "requestor");
      clear_dead(2, rows_.agent, system_.agent_live, &Live::member, "member");
      out_.line(2, "for c: cid do");
      clear_dead(3, rows_.member, system_.cache_live, &Live::data, "data");
      out_.line(2, "end;");
    }
    if (system_.has_groups) {
      clear_dead(2, rows_.agent, system_.agent_live, &Live::owner, "owner");
      clear_dead(2, rows_.agent, system_.agent_live, &Live::sharers, "sharers");
    }
    out_.line(1, "end;");
    out_.line(0, "end;\n");
  }

  // --- nodes

  // A step that cache `c` causes at the controller of its node `a`. `has_data` is the condition that the bus has data.
  [[nodiscard]] MurphiStep bus_step(std::string has_data) const {
    MurphiStep step = rows_.agent_step();
    step.member = "c";
    step.data = "agents[a].bus_data";
    step.has_data = std::move(has_data);
    return step;
  }
  // Calls visit(message, base event) for the bus messages that the node's table lists as asked or recalled.
  template <class Visit>
  void for_events(std::size_t (*event_of)(std::size_t bus_messages, MessageId message), Visit visit) const {
    for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) {
      const std::size_t base = event_of(system_.subject.bus_messages, static_cast<MessageId>(m));
      if (!system_.agent().base_events[base].absent) visit(m, base);
    }
  }

  void node_procedures() {
    out_.line(0, "procedure begin_transaction(a: aid; which: transaction); begin");
    out_.line(1, "assert agents[a].transaction = T_none \"two transactions of a controller\"; agents[a].transaction := which;");
    out_.line(0, "end;\n");
    bus_->procedures();
    for_events(ask_event, [this](std::size_t message, std::size_t base) { ask_procedure(message, base); });
    for_events(recalled_event, [this](std::size_t message, std::size_t base) { recall_procedure(message, base); });
    out_.line(0, "procedure run_deferred(a: aid; w: val); var c: any_cid; begin");
    out_.line(1, "c := agents[a].member; agents[a].member := 0; agents[a].transaction := T_none;");
    out_.line(1, "switch agents[a].caches[c].request");
    for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) {
      out_.line(1, "case {}: {}(a, c, w);", bus_->request(m), bus_->order(m));
    }
    out_.line(1, "end;");
    out_.line(0, "end;\n");
  }

  // Writes the procedure in which a cache asks for its order step. The order step runs at once unless the node controller
  // defers it.
  void ask_procedure(std::size_t message, std::size_t base) {
    rows_.procedure("ask_" + bus_->request(message), {{"a", "aid"}, {"c", "cid"}, {"w", "val"}}, bus_step("true"), base,
                    [&](int depth, const Row& row) {
                      if (!row.does(Verb::defer)) out_.line(depth, "{}(a, c, w);", bus_->order(message));
                    });
  }

  void recall_procedure(std::size_t message, std::size_t base) {
    MurphiStep step = bus_step("t.sender != 0");
    step.member = "agents[a].member";
    out_.line(0, "procedure recall_{}(a: aid; w: val); var t: bus_step; begin", bus_->request(message));
    out_.line(1, "clear t; agents[a].transaction := T_none;");
    bus_->snoop(1, static_cast<MessageId>(message), true);
    out_.rows(1, rows_.agent, base, [&](int depth, const Row& row) { rows_.actions(depth, row, step); });
    out_.line(1, "agents[a].bus_data := 0;");
    out_.line(0, "end;\n");
  }

  void node_rules() {
    out_.line(0, "ruleset a: aid; c: cid; w: val do");
    for (std::size_t m = 0; m < system_.bus.messages.size(); ++m) {
      const bool asks = !system_.agent().base_events[ask_event(system_.subject.bus_messages, static_cast<MessageId>(m))].absent;
      out_.rule(1, system_.bus.messages[m].name + " wants its order",
                fmt::format("{}.request = {} & agents[a].due = 0 & agents[a].member != c", rows_.member.at, bus_->request(m)),
                (asks ? "ask_" + bus_->request(m) : bus_->order(m)) + "(a, c, w)");
    }
    bus_->data_step_rule(1);
    out_.line(0, "end;");
    out_.line(0, "ruleset a: aid; w: val do");
    out_.rule(1, "deferred", "agents[a].transaction = T_run & agents[a].due = 0", "run_deferred(a, w)");
    for_events(recalled_event, [this](std::size_t m, std::size_t) {
      out_.rule(1, "recall " + system_.bus.messages[m].name,
                fmt::format("agents[a].transaction = {} & agents[a].due = 0", rows_.transaction(m)),
                fmt::format("recall_{}(a, w)", bus_->request(m)));
    });
    out_.line(0, "end;\n");
  }

  // --- evictions by nodes, groups and the home

  void evictions() {
    if (has_caches()) {
      evict("agent_evicts", rows_.agent_step(), Storage::cache);
      evict("agent_evicts_entry", rows_.agent_step(), Storage::entries);
    }
    if (!system_.has_groups) evict("home_evicts", {.rules = system_.home_rules, .of = rows_.home}, Storage::entries);
  }

  void evict(const std::string& name, const MurphiStep& step, Storage from) {
    const BaseEvent* event = step.rules.eviction(from);
    if (event == nullptr) return;
    rows_.procedure(name, step.of.selected_by, step, event - step.rules.table->base_events.data(),
                    [&](int depth, const Row& row) {
                      if (!system_.has_groups || row.stalls()) return;
                      out_.line(depth, "assert !{} \"keeps a slot that it has given up\";", occupies(step.of, *event, true));
                    });
    const std::string occupied =
        system_.has_groups ? occupies(step.of, *event, false) : fmt::format("{}.state != {}", step.of.at, step.of.state(0));
    if (!step.of.selected_by.empty()) out_.line(0, "ruleset {} do", declared(step.of.selected_by));
    out_.rule(1, name, occupied, fmt::format("{}({})", name, listed(step.of.selected_by)));
    if (!step.of.selected_by.empty()) out_.line(0, "end;");
  }

  // Returns the Murphi condition for ControllerRules::occupies(); if `now` is true, for can_evict().
  static std::string occupies(const MurphiController& of, const BaseEvent& event, bool now) {
    std::vector<std::string> conditions;
    for (int word = 0; word < event.count; ++word) {
      const std::string states = of.is([&](std::size_t state) {
        const Row& row = of.table->row(static_cast<StateId>(state), static_cast<EventId>(event.first + word));
        return !row.impossible && !(now && row.stalls());
      });
      conditions.push_back(event.count == 1 ? states
                                            : fmt::format("({}) & {}", MurphiWriter::guard(event.guard, word, of), states));
    }
    return fmt::format("({})", fmt::join(conditions, " | "));
  }

  // --- properties

  void properties() {
    const MurphiController& cache = rows_.cache();
    MurphiController other = cache;
    other.at = has_caches() ? "agents[b].caches[d]" : "agents[b]";
    other.selected_by.front().name = "b";
    if (has_caches()) other.selected_by.back().name = "d";
    const std::string idle = fmt::format("{}.access = W_none", cache.at);
    out_.cache_invariants(system_.subject, cache, other,
                          bus_ ? bus_->accounted() : fmt::format("{} -> {}", cache.is(&StateInfo::stable), idle));
  }

  void liveness() {
    const MurphiController& cache = rows_.cache();
    const std::string idle = fmt::format("{}.access = W_none", cache.at);
    out_.line(0, "liveness \"everything that waits can finish\"");
    out_.line(1, "{}", rows_.home.is(&StateInfo::stable));
    messages_.none_under_way();
    out_.line(1, "& {}", for_all(rows_.agent.selected_by, idle_on_network(rows_.agent)));
    if (bus_) {
      out_.line(1, "& {}",
                for_all(rows_.agent.selected_by, "agents[a].member = 0 & agents[a].transaction = T_none & agents[a].due = 0"));
    }
    out_.line(1, "& {};", for_all(cache.selected_by, bus_ ? bus_->idle() : idle_on_network(cache) + " & " + idle));
  }

  // Returns the condition that a controller on a network is stable, and waits for neither messages nor acknowledgements.
  static std::string idle_on_network(const MurphiController& of) {
    return fmt::format("{0} & {1}.acks = 0 & {1}.forwards.n = 0", of.is(&StateInfo::stable), of.at);
  }

  const CheckedSystem system_;
  MurphiWriter out_{"clean(); "};
  MurphiMessages messages_;
  MurphiRows rows_;
  std::optional<MurphiBus> bus_;  // the bus of node `a`
};

}  // namespace
}  // namespace checker

std::string murphi_model(const NetworkProtocols& protocols, const NetworkCheckOptions& options, MurphiReader reader) {
  return checker::NetworkMurphi(protocols, options).write(reader);
}

}  // namespace linebounce
