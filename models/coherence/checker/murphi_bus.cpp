#include "models/coherence/checker/murphi_bus.hpp"

#include "models/coherence/checker/check_protocol.hpp"

namespace linebounce::checker {
namespace {

bool does(const ControllerTable& table, Verb verb) {
  return std::any_of(table.rows.begin(), table.rows.end(), [verb](const Row& row) { return row.does(verb); });
}

bool snoopers_take_data(const Protocol& bus) {
  for (std::size_t m = 0; m < bus.messages.size(); ++m) {
    const EventId other = bus.cache.base_events[other_event(static_cast<MessageId>(m))].first;
    for (std::size_t state = 0; state < bus.cache.states.size(); ++state) {
      if (bus.cache.row(static_cast<StateId>(state), other).does(Verb::take_data)) return true;
    }
  }
  return false;
}

constexpr std::string_view kSnooper = "k";  // the variable of the cache that reacts to another's message

}  // namespace

MurphiBus::MurphiBus(MurphiWriter& out, const Protocol& bus, const Protocol& subject, MurphiController memory,
                     std::function<void(int depth, Action action)> more)
    : out_(out),
      bus_(bus),
      subject_(subject),
      memory_(std::move(memory)),
      more_(std::move(more)),
      operates_(bus.has_far_atomics() || does(bus.memory, Verb::operate)),
      passes_words_(bus.sends_words || does(bus.cache, Verb::apply_word)),
      takes_passing_(snoopers_take_data(bus)),
      parameters_(memory_.selected_by.empty() ? "" : declared(memory_.selected_by) + "; "),
      arguments_(memory_.selected_by.empty() ? "" : listed(memory_.selected_by) + ", ") {}

MurphiController MurphiBus::cache(const std::string& name) const {
  MurphiVariables selected_by = memory_.selected_by;
  selected_by.push_back({name, "cid"});
  return {fmt::format("{}.caches[{}]", memory_.at, name), "C", &bus_.cache, std::move(selected_by)};
}

void MurphiBus::types() {
  std::vector<std::string> requests = {"R_none"};
  for (std::size_t m = 0; m < bus_.messages.size(); ++m) requests.push_back(request(m));
  out_.line(1, "cid: 1..CACHES; any_cid: 0..CACHES + 1; -- 0: nobody; CACHES + 1: the memory side of the bus");
  out_.line(1, "cache_state: enum {{ {} }};", cache("c").states());
  out_.line(1, "bus_request: enum {{ {} }};", fmt::join(requests, ", "));
  out_.line(1, "waiting: enum {{ W_none, W_Load, W_Store{} }};", bus_.has_far_atomics() ? ", W_Atomic" : "");
  out_.line(1, "cache: record");
  out_.line(2, "state: cache_state; data: val;");
  out_.line(2, "access: waiting;       -- the access that waits");
  out_.line(2, "request: bus_request;  -- the message that waits for its order step");
  out_.line(1, "end;");
  out_.line(1, "bus_step: record  -- the bus's signals, and what has happened in an order step");
  out_.line(2, "shared, owned, kept, written_back, supplied, to_memory, completed, took, takes, deferred, operated: boolean;");
  out_.line(2, "sender: any_cid;  -- who put data on the bus");
  if (does(bus_.cache, Verb::offer_data)) out_.line(2, "offered: boolean;  -- the sender offered its data");
  if (takes_passing_) out_.line(2, "snarfers: array[cid] of boolean;  -- who takes the data that passes");
  if (passes_words_) out_.line(2, "word: boolean; before: val; takers: array[cid] of boolean;");
  out_.line(1, "end;");
}

void MurphiBus::procedures() {
  out_.line(0, "procedure drive(var t: bus_step; {}who: any_cid; data: val); begin", parameters_);
  out_.line(1, "assert t.sender = 0 | t.sender = who \"two senders\"; t.sender := who; {}.bus_data := data;", memory_.at);
  out_.line(0, "end;\n");
  out_.line(0, "procedure issue({}; request: bus_request); begin", declared(cache("c").selected_by));
  out_.line(1, "assert {0}.request = R_none \"two requests\"; {0}.request := request;", cache("c").at);
  out_.line(0, "end;\n");
  if (does(bus_.cache, Verb::offer_data)) offer_procedure();
  if (operates_) operate_procedure();
  out_.access_procedures(
      subject_, cache("c"), bus_.atomic,
      [&](int depth, const Row& row) {
        for (const Action action : row.steps()) cache_action(depth, action, cache("c"));
      },
      [](const Row& row) { return row.does(Verb::issue); }, orders_at_once(bus_));
  for (std::size_t m = 0; m < bus_.messages.size(); ++m) order_procedure(static_cast<MessageId>(m));
  if (orders_at_once(bus_)) return order_at_once_procedure();
  out_.line(0, "procedure data_step({}c: cid; w: val); var t: bus_step; begin", parameters_);
  out_.line(1, "clear t;");
  rows_of(1, cache("c"), kData);
  out_.line(1, "{0}.due := 0; {0}.bus_data := 0;", memory_.at);
  out_.line(0, "end;\n");
}

void MurphiBus::order_at_once_procedure() {
  const std::string at = cache("c").at;
  out_.line(0, "procedure order_at_once({}c: cid; w: val); var transactions: 0..{}; begin", parameters_,
            kMostTransactionsAtOnce);
  out_.line(1, "transactions := 0;");
  out_.line(1, "while {}.request != R_none do", at);
  out_.line(2, "assert transactions != {} \"never finishes\"; transactions := transactions + 1;", kMostTransactionsAtOnce);
  out_.line(2, "switch {}.request", at);
  for (std::size_t m = 0; m < bus_.messages.size(); ++m) out_.line(2, "case {}: {}({}c, w);", request(m), order(m), arguments_);
  out_.line(2, "end;");
  out_.line(1, "end;");
  out_.line(0, "end;\n");
}

void MurphiBus::offer_procedure() {
  out_.line(0, "procedure offer(var t: bus_step; {}who: any_cid; data: val); begin", parameters_);
  out_.line(1, "if t.sender = 0 then");
  out_.line(2, "assert !t.supplied \"two suppliers\"; t.supplied := true; t.offered := true;");
  out_.line(2, "drive(t, {}who, data);", arguments_);
  out_.line(1, "else");
  out_.line(2, "assert t.offered & {}.bus_data = data \"offers of different data\";", memory_.at);
  out_.line(1, "end;");
  out_.line(0, "end;\n");
}

void MurphiBus::operate_procedure() {
  out_.line(0, "procedure operate({}c: cid; w: val); begin", parameters_);
  out_.line(1, "assert {0}.access = W_{1} \"operates without {2}\"; {0}.access := W_none;", cache("c").at,
            bus_.cache.base_events[bus_.atomic].name, bus_.has_far_atomics() ? "an atomic operation" : "a store");
  if (subject_.invariant_data_value) out_.line(1, "assert {}.data = latest \"stale memory\";", memory_.at);
  out_.line(1, "{}.data := w; latest := w;", memory_.at);
  out_.line(0, "end;\n");
}

void MurphiBus::order_procedure(MessageId message) {
  const std::string at = cache("c").at;
  out_.line(0, "procedure {}({}c: cid; w: val); var t: bus_step; begin", order(message), parameters_);
  out_.line(1, "clear t; {}.request := R_none;", at);
  snoop(1, message, false);
  out_.line(1, "t.kept := !({}); t.written_back := {};", wants_data(message), bus_.messages[message].carries_data);
  memory_rows(1, message);
  if (does(bus_.memory, Verb::defer)) {
    out_.line(1, "if t.deferred then {}.request := {}; {}.bus_data := 0; return; end;", at, request(message), memory_.at);
  }
  if (operates_) {
    out_.line(1, "if t.operated then");
    memory_takes_data(2, "t.to_memory");
    if (passes_words_) out_.line(2, "t.word := true; t.before := latest;");
    out_.line(2, "operate({}c, w);", arguments_);
    out_.line(1, "end;");
  }
  rows_of(1, cache("c"), own_event(message));
  if (passes_words_) apply_word();
  if (takes_passing_) take_passing_data();
  memory_takes_data(1, operates_ ? "t.to_memory & !t.operated" : "t.to_memory");
  out_.line(1, "t.takes := !t.completed & {};", cache("c").is(&StateInfo::awaits_data));
  out_.line(1, "if t.takes | t.took then assert t.supplied \"no data\"; end;");
  out_.line(1, "if t.takes then {0}.due := c; else {0}.bus_data := 0; end;", memory_.at);
  out_.line(0, "end;\n");
}

void MurphiBus::snoop(int depth, MessageId message, bool all) {
  out_.line(depth, "for k: cid do{}", all ? "" : " if k != c then");
  rows_of(depth + 1, cache("k"), other_event(message));
  out_.line(depth, "end;{}", all ? "" : " end;");
}

void MurphiBus::memory_takes_data(int depth, std::string_view condition) {
  out_.line(depth, "if {} then", condition);
  memory_rows(depth + 1, bus_.messages.size());
  out_.line(depth, "end;");
}

void MurphiBus::apply_word() {
  out_.line(1, "if t.word then for k: cid do if t.takers[k] then");
  if (subject_.invariant_data_value) out_.line(2, "assert {}.data = t.before \"word into a stale copy\";", cache("k").at);
  out_.line(2, "{}.data := latest;", cache("k").at);
  out_.line(1, "end; end; end;");
}

void MurphiBus::take_passing_data() {
  out_.line(1, "for k: cid do if t.snarfers[k] then");
  out_.line(2, "assert t.sender != 0 \"nothing passes\"; {}.data := {}.bus_data;", cache("k").at, memory_.at);
  out_.line(1, "end; end;");
}

// Returns a Murphi condition: the requestor needs data, because the row for its own message takes data or leads to a state that
// awaits data.
std::string MurphiBus::wants_data(MessageId message) const {
  const BaseEvent& own = bus_.cache.base_events[own_event(message)];
  std::vector<std::string> conditions;
  for (int word = 0; word < own.count; ++word) {
    const std::string wants = cache("c").is([&](std::size_t state) {
      const Row& row = bus_.cache.row(static_cast<StateId>(state), static_cast<EventId>(own.first + word));
      return bus_.cache.states[row.next].awaits_data || row.does(Verb::take_data);
    });
    conditions.push_back(own.count == 1 ? wants : fmt::format("{} & {}", MurphiWriter::guard(own.guard, word, memory_), wants));
  }
  return fmt::format("{}", fmt::join(conditions, " | "));
}

void MurphiBus::rows_of(int depth, const MurphiController& cache, std::size_t base_event) {
  out_.rows(depth, cache, base_event, [&](int inside, const Row& row) {
    for (const Action action : row.steps()) cache_action(inside, action, cache);
  });
}

void MurphiBus::memory_rows(int depth, std::size_t base_event) {
  out_.rows(depth, memory_, base_event, [&](int inside, const Row& row) {
    for (const Action action : row.steps()) memory_action(inside, action);
  });
}

void MurphiBus::cache_action(int depth, Action action, const MurphiController& cache) {
  const std::string who = listed(cache.selected_by);
  switch (action.verb) {
    case Verb::assert_shared: out_.line(depth, "t.shared := true;"); break;
    case Verb::assert_owned: out_.line(depth, "t.owned := true;"); break;
    case Verb::send_data:
      out_.line(depth, "drive(t, {}, {}.data);", who, cache.at);
      if ((action.argument & to_memory) != 0) out_.line(depth, "t.to_memory := true;");
      if ((action.argument & to_requestor) != 0) {
        out_.line(depth, "assert !t.supplied \"two suppliers\"; t.supplied := true;");
      }
      break;
    case Verb::offer_data: out_.line(depth, "offer(t, {}, {}.data);", who, cache.at); break;
    case Verb::take_data:
      if (cache.selected_by.back().name == kSnooper) {
        out_.line(depth, "t.snarfers[k] := true;");
        break;
      }
      out_.line(depth, "{}.data := {}.bus_data; t.took := true;", cache.at, memory_.at);
      break;
    case Verb::complete: out_.line(depth, "t.completed := true; complete_access({}, w);", who); break;
    case Verb::issue: out_.line(depth, "issue({}, {});", who, request(action.argument)); break;
    case Verb::free: out_.line(depth, "{}.data := 0;", cache.at); break;
    case Verb::send_word:
      out_.line(depth, "assert {}.access = W_Store \"sends a word without a store\";", cache.at);
      out_.line(depth, "t.completed := true; t.word := true; t.before := latest; {}.access := W_none; use({}, true, w);",
                cache.at, who);
      break;
    case Verb::apply_word: out_.line(depth, "t.takers[{}] := true;", cache.selected_by.back().name); break;
    default: break;  // access_procedure() writes `hit`
  }
}

void MurphiBus::memory_action(int depth, Action action) {
  switch (action.verb) {
    case Verb::update_memory: out_.line(depth, "{0}.data := {0}.bus_data;", memory_.at); break;
    case Verb::assert_shared: out_.line(depth, "t.shared := true;"); break;
    case Verb::defer: out_.line(depth, "t.deferred := true;"); break;
    case Verb::operate: out_.line(depth, "t.operated := true;"); break;
    case Verb::send_data:
      out_.line(depth, "drive(t, {}CACHES + 1, {}.data);", arguments_, memory_.at);
      out_.line(depth, "assert !t.supplied \"two suppliers\"; t.supplied := true;");
      break;
    default:
      if (more_) more_(depth, action);
      break;
  }
}

void MurphiBus::data_step_rule(int depth) {
  out_.rule(depth, "data arrives", memory_.at + ".due = c", fmt::format("data_step({}c, w)", arguments_));
}

std::string MurphiBus::accounted() const {
  const MurphiController cache = this->cache("c");
  return fmt::format("(({0}) | (!{1} & ({2}.request != R_none | {3}.due = c)))", idle(), cache.is(&StateInfo::stable), cache.at,
                     memory_.at);
}

std::string MurphiBus::idle() const {
  const MurphiController cache = this->cache("c");
  return fmt::format("{0} & {1}.access = W_none & {1}.request = R_none", cache.is(&StateInfo::stable), cache.at);
}

}  // namespace linebounce::checker
