// Writes one Murphi procedure for each kind of step, with a case for each row. Variables of the model: `g` is a group, `c` a
// cache in the group, and `w` the value that a store writes. For a message, `s` is the source, `k` the number of
// acknowledgements, `v` the data, and `r` the requestor: 0 for none, 1 + the number of a group or cache, or CACHES + 1 for the
// group itself.
#include "models/coherence/checker/network/tree_murphi.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "models/coherence/checker/network/system.hpp"

namespace linebounce {
namespace checker {
namespace {

enum class TreeRole : std::uint8_t { cache, member_at_group, outside_at_group, evict_at_group, home };

// An eviction from a group's cache (GroupSide::cache) or from its filter (GroupSide::filter).
struct TreeEviction {
  std::size_t event;
  const char* procedure;
  const char* title;
};

class TreeMurphi {
 public:
  TreeMurphi(const NetworkProtocols& protocols, const NetworkCheckOptions& options) : system_(protocols, options) {}

  std::string write() {
    const std::size_t messages = system_.network.messages.size();
    declarations();
    start_state();
    clean();
    for (std::size_t m = 0; m < messages; ++m) sends(m);
    use_and_access();
    for (std::size_t m = 0; m < messages; ++m) arrivals(m);
    for (const TreeEviction& eviction : evictions()) evict(eviction);
    processor_rules();
    for (std::size_t m = 0; m < messages; ++m) rules(m);
    properties();
    return std::move(text_);
  }

 private:
  template <class... Arguments>
  void line(int depth, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.append(2 * static_cast<std::size_t>(depth), ' ');
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }

  // --- names and sizes

  // `to` is a message's receiver: 'U' for the home, 'D' for a group that gets the message on the home's network, 'M' for a
  // group that gets it from a member, and 'C' for a cache.
  [[nodiscard]] const BaseEvent& event_at(char to, std::size_t m) const {
    const auto message = static_cast<MessageId>(m);
    switch (to) {
      case 'U': return system_.directory().base_events[m];
      case 'D': return system_.agent().base_events[outside_event(system_.network.messages.size(), message)];
      case 'M': return system_.agent().base_events[member_event(message)];
      default: return system_.cache().base_events[kFirstNetworkMessage + m];
    }
  }
  [[nodiscard]] bool goes(char to, std::size_t m) const { return !event_at(to, m).absent; }
  [[nodiscard]] bool queued(char to, std::size_t m) const {
    return (to == 'D' || to == 'C') && system_.is_forward(static_cast<MessageId>(m));
  }
  // Whether any queued message carries a number of acknowledgements.
  [[nodiscard]] bool forwards_count() const {
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) {
      for (const char to : {'D', 'C'}) {
        if (goes(to, m) && queued(to, m) && use(to, m).acks) return true;
      }
    }
    return false;
  }
  [[nodiscard]] const MessageUse& use(char to, std::size_t m) const {
    switch (to) {
      case 'U': return system_.use(Way::to_home, m);
      case 'D': return system_.use(Way::to_agent, m);
      case 'M': return system_.use(Way::to_group, m);
      default: return system_.use(Way::to_member, m);
    }
  }
  [[nodiscard]] bool carries(char to, std::size_t m) const {
    return use(to, m).data && system_.network.messages[m].carries_data;
  }

  struct Index {
    char name;
    const char* type;
  };
  // The indexes of the Murphi array that counts equal messages.
  [[nodiscard]] std::vector<Index> indexes(char to, std::size_t m) const {
    const MessageUse& looked_at = use(to, m);
    std::vector<Index> found;
    if (to != 'U') found.push_back({'g', "gid"});
    if (to == 'C') found.push_back({'c', "cid"});
    if (to == 'U' && (looked_at.source || looked_at.requestor)) found.push_back({'s', "gid"});
    if (to == 'M' && looked_at.source) found.push_back({'s', "cid"});
    if ((to == 'D' || to == 'C') && looked_at.requestor) found.push_back({'r', to == 'D' ? "anygroup" : "anycache"});
    if ((to == 'D' || to == 'C') && looked_at.acks) found.push_back({'k', "nack"});
    if (carries(to, m)) found.push_back({'v', "val"});
    return found;
  }
  [[nodiscard]] std::string counter(char to, std::size_t m) const {
    std::string text = fmt::format("n{}{}", to, m);
    for (const Index& index : indexes(to, m)) text += fmt::format("[{}]", index.name);
    return text;
  }
  [[nodiscard]] static std::string name(char kind, const ControllerTable& table, std::size_t state) {
    return fmt::format("{}_{}", kind, table.states[state].name);
  }
  template <class Which>
  [[nodiscard]] static std::string one_of(const std::string& variable, char kind, const ControllerTable& table, Which which) {
    std::vector<std::string> parts;
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      if (which(state)) parts.push_back(fmt::format("{} = {}", variable, name(kind, table, state)));
    }
    return parts.empty() ? "false" : fmt::format("({})", fmt::join(parts, " | "));
  }
  [[nodiscard]] static std::string enumeration(char kind, const ControllerTable& table) {
    std::vector<std::string> names;
    for (std::size_t state = 0; state < table.states.size(); ++state) names.push_back(name(kind, table, state));
    return fmt::format("{}", fmt::join(names, ", "));
  }
  template <class Visit>
  void for_counters(Visit visit) {
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) {
      for (const char to : {'U', 'D', 'M', 'C'}) {
        if (goes(to, m) && !queued(to, m)) visit(to, m);
      }
    }
  }

  void declarations() {
    std::vector<std::string> forwards = {"F_none"};
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) {
      if (!system_.is_forward(static_cast<MessageId>(m))) continue;
      forwards.push_back(fmt::format("F_{}", m));
      for (const char to : {'D', 'C'}) {
        if (goes(to, m) && carries(to, m))
          throw CheckTooLarge(
              fmt::format("{}: a forward that carries data can't be exported", system_.network.messages[m].name));
      }
    }
    line(0, "-- {}: {}", system_.subject.name, system_.subject.title);
    line(0, "-- One line, values 0 and 1. Written by linebounce check --murphi; other sizes may be put here.");
    line(0, "const GROUPS: {}; CACHES: {}; MOST: {}; QUEUE: {};", system_.agents, system_.options.caches,
         system_.agents + system_.options.caches + 1, std::max(system_.agents, system_.options.caches) + 3);
    line(0, "type");
    line(1, "gid: 0..GROUPS - 1; anygroup: 0..GROUPS; cid: 0..CACHES - 1; anycache: 0..CACHES + 1; val: 0..1;");
    line(1, "nack: 0..{0}; acks: -{0}..{0}; slot: 0..QUEUE - 1;", std::max(system_.agents, system_.options.caches));
    line(1, "cache_state: enum {{ {} }};", enumeration('C', system_.cache()));
    line(1, "group_state: enum {{ {} }};", enumeration('G', system_.agent()));
    line(1, "home_state: enum {{ {} }};", enumeration('H', system_.directory()));
    line(1, "forward: enum {{ {} }}; access: enum {{ W_none, W_Load, W_Store }};", fmt::join(forwards, ", "));
    line(0, "var");
    line(1, "cs: array[gid] of array[cid] of cache_state; cd: array[gid] of array[cid] of val;");
    line(1, "ck: array[gid] of array[cid] of acks; cw: array[gid] of array[cid] of access;");
    line(1, "gs: array[gid] of group_state; gd: array[gid] of val; gk: array[gid] of acks;");
    line(1, "gm: array[gid] of anycache; go: array[gid] of anycache; gr: array[gid] of anygroup;");
    line(1, "gh: array[gid] of array[cid] of boolean;");
    line(1, "hs: home_state; own: anygroup; sh: array[gid] of boolean; md: val; latest: val;");
    line(1, "fm: array[gid] of array[slot] of forward; fr: array[gid] of array[slot] of anygroup; fn: array[gid] of 0..QUEUE;");
    line(1, "im: array[gid] of array[cid] of array[slot] of forward; ir: array[gid] of array[cid] of array[slot] of anycache;");
    line(1, "ic: array[gid] of array[cid] of 0..QUEUE;");
    if (forwards_count())
      line(1, "fk: array[gid] of array[slot] of nack; ik: array[gid] of array[cid] of array[slot] of nack;");
    for_counters([this](char to, std::size_t m) {
      std::string type;
      for (const Index& index : indexes(to, m)) type += fmt::format("array[{}] of ", index.type);
      line(1, "n{}{}: {}0..MOST; -- {}", to, m, type, system_.network.messages[m].name);
    });
  }

  void start_state() {
    line(0, "startstate begin");
    line(1, "hs := {}; own := 0; md := 0; latest := 0;", name('H', system_.directory(), 0));
    line(1, "for g: gid do");
    line(2, "sh[g] := false; gs[g] := {}; gd[g] := 0; gk[g] := 0; gm[g] := 0; go[g] := 0; gr[g] := 0; fn[g] := 0;",
         name('G', system_.agent(), 0));
    line(2, "for i: slot do fm[g][i] := F_none; fr[g][i] := 0; {}end;", forwards_count() ? "fk[g][i] := 0; " : "");
    line(2, "for c: cid do");
    line(3, "gh[g][c] := false; cs[g][c] := {}; cd[g][c] := 0; ck[g][c] := 0; cw[g][c] := W_none; ic[g][c] := 0;",
         name('C', system_.cache(), 0));
    line(3, "for i: slot do im[g][c][i] := F_none; ir[g][c][i] := 0; {}end;", forwards_count() ? "ik[g][c][i] := 0; " : "");
    line(2, "end;");
    line(1, "end;");
    for_counters([this](char to, std::size_t m) {
      std::string loops, ends;
      for (const Index& index : indexes(to, m)) {
        loops += fmt::format("for {}: {} do ", index.name, index.type);
        ends += " end;";
      }
      line(1, "{}{} := 0;{}", loops, counter(to, m), ends);
    });
    line(0, "end;");
  }

  // Writes the procedure that sets dead variables to 0.
  void clean() {
    const auto in = [](const LiveByState& live, bool Live::*variable) {
      return [&live, variable](std::size_t state) { return live[state].*variable; };
    };
    const auto group = [&](const LiveByState& live, bool Live::*variable) {
      return one_of("gs[g]", 'G', system_.agent(), in(live, variable));
    };
    line(0, "procedure clean(); begin");
    line(1, "for g: gid do");
    line(2, "if !{} then gd[g] := 0; end; if !{} then gm[g] := 0; end;", group(system_.agent_live, &Live::data),
         group(system_.agent_live, &Live::member));
    line(2, "if !{} then gr[g] := 0; end; if !{} then go[g] := 0; end;", group(system_.agent_live, &Live::requestor),
         group(system_.agent_live, &Live::owner));
    line(2, "if !{} then for c: cid do gh[g][c] := false; end; end;", group(system_.agent_live, &Live::sharers));
    line(2, "for c: cid do if !{} then cd[g][c] := 0; end; end;",
         one_of("cs[g][c]", 'C', system_.cache(), in(system_.cache_live, &Live::data)));
    line(1, "end;");
    const auto home = [&](const LiveByState& live, bool Live::*variable) {
      return one_of("hs", 'H', system_.directory(), in(live, variable));
    };
    line(1, "if !{} then own := 0; end; if !{} then md := 0; end;", home(system_.home_live, &Live::owner),
         home(system_.home_live, &Live::data));
    line(1, "if !{} then for g: gid do sh[g] := false; end; end;", home(system_.home_live, &Live::sharers));
    line(0, "end;");
  }

  // --- messages

  void sends(std::size_t m) {
    for (const char to : {'U', 'D', 'M', 'C'}) {
      if (!goes(to, m)) continue;
      line(0, "procedure send_{}{}({}); begin -- {}", to, m, parameters(to), system_.network.messages[m].name);
      if ((to == 'D' || to == 'C') && use(to, m).requestor) line(1, "assert r != 0 \"on behalf of nobody\";");
      if (queued(to, m)) {
        const bool inside = to == 'C';
        const std::string count = inside ? "ic[g][c]" : "fn[g]", queue = inside ? "im[g][c]" : "fm[g]";
        line(1, "assert {0} < QUEUE \"more forwards than the model has room for\"; {1}[{0}] := F_{2};", count, queue, m);
        if (use(to, m).requestor) line(1, "{}[{}] := r;", inside ? "ir[g][c]" : "fr[g]", count);
        if (use(to, m).acks) line(1, "{}[{}] := k;", inside ? "ik[g][c]" : "fk[g]", count);
        line(1, "{0} := {0} + 1;", count);
      } else {
        line(1, "assert {0} < MOST \"more messages than the model has room for\"; {0} := {0} + 1;", counter(to, m));
      }
      line(0, "end;");
    }
  }
  [[nodiscard]] static const char* parameters(char to) {
    switch (to) {
      case 'U': return "s: gid; v: val";
      case 'D': return "g: gid; r: anygroup; k: nack; v: val";
      case 'M': return "g: gid; s: cid; v: val";
      default: return "g: gid; c: cid; r: anycache; k: nack; v: val";
    }
  }

  void use_and_access() {
    line(0, "procedure use(g: gid; c: cid; writes: boolean; w: val); begin");
    if (system_.subject.invariant_data_value) line(1, "assert cd[g][c] = latest \"data value\";");
    line(1, "if writes then cd[g][c] := w; latest := w; end;");
    line(0, "end;");
    line(0, "procedure complete_access(g: gid; c: cid; w: val); begin");
    line(1, "assert cw[g][c] != W_none \"completes nothing\";");
    each_state(1, "cs[g][c]", 'C', system_.cache(), [&](StateId state) {
      const auto hits = [&](CacheEvent event) {
        const Row& row = system_.cache().row(state, system_.cache().base_events[event].first);
        return !row.impossible && row.count == 1 && row.actions[0].verb == Verb::hit;
      };
      line(2, "if cw[g][c] = W_Load then");
      line(3, "{}", hits(kLoad) ? "use(g, c, false, w);" : "error \"no hit\";");
      line(2, "else");
      if (hits(kStore)) {
        const Row& row = system_.cache().row(state, system_.cache().base_events[kStore].first);
        line(3, "cs[g][c] := {}; use(g, c, true, w);", name('C', system_.cache(), row.next));
      } else {
        line(3, "error \"no hit\";");
      }
      line(2, "end;");
    });
    line(1, "cw[g][c] := W_none;");
    line(0, "end;");
    for (const CacheEvent event : {kLoad, kStore, kEvict}) {
      const ControllerTable& table = system_.cache();
      const std::string& title = table.base_events[event].name;
      line(0, "procedure do_{}(g: gid; c: cid; w: val); var hits, stalled: boolean; begin", title);
      line(1, "hits := {}; stalled := false;", one_of("cs[g][c]", 'C', table, [&](std::size_t state) {
             const Row& row = table.row(static_cast<StateId>(state), table.base_events[event].first);
             return row.count == 1 && row.actions[0].verb == Verb::hit;
           }));
      table_rows(table, event, TreeRole::cache, "0", "0", "0");
      if (event != kEvict) {
        line(1, "if hits then use(g, c, {}, w);", event == kStore);
        line(1, "elsif !stalled then assert cw[g][c] = W_none \"two accesses that wait\"; cw[g][c] := W_{}; end;", title);
      }
      line(0, "end;");
    }
  }

  // --- rows

  template <class Body>
  void each_state(int depth, const std::string& variable, char kind, const ControllerTable& table, Body body) {
    line(depth, "switch {}", variable);
    for (std::size_t state = 0; state < table.states.size(); ++state) {
      line(depth, "case {}:", name(kind, table, state));
      body(static_cast<StateId>(state));
    }
    line(depth, "end;");
  }

  [[nodiscard]] static std::string guard(GuardGroup group, int word, TreeRole role, const std::string& k) {
    const std::string acks = role == TreeRole::cache ? "ck[g][c]" : "gk[g]";
    std::string condition = "true";
    switch (group) {
      case GuardGroup::no_acks_acks: condition = fmt::format("{} + {} = 0", acks, k); break;
      case GuardGroup::last_ack_more_acks: condition = acks + " = 1"; break;
      case GuardGroup::from_owner_from_other: condition = role == TreeRole::home ? "own = s + 1" : "go[g] = s + 1"; break;
      case GuardGroup::last_sharer_more_sharers:
        condition = role == TreeRole::home ? "!exists i: gid do i != s & sh[i] end" : "!exists i: cid do i != s & gh[g][i] end";
        break;
      case GuardGroup::sharers_no_sharers:
        condition = role == TreeRole::home ? "exists i: gid do sh[i] end" : "exists i: cid do gh[g][i] end";
        break;
      default: break;
    }
    return word == 0 ? condition : fmt::format("!({})", condition);
  }

  // Writes the rows of all states for one base event. `r`, `k` and `v` are Murphi expressions for the parts of the message that
  // is being processed.
  void table_rows(const ControllerTable& table, std::size_t base, TreeRole role, const std::string& r, const std::string& k,
                  const std::string& v) {
    const BaseEvent& event = table.base_events[base];
    const bool cache = role == TreeRole::cache, home = role == TreeRole::home;
    const std::string variable = cache ? "cs[g][c]" : home ? "hs" : "gs[g]";
    const char kind = cache ? 'C' : home ? 'H' : 'G';
    each_state(1, variable, kind, table, [&](StateId state) {
      for (int word = 0; word < event.count; ++word) {
        const Row& row = table.row(state, static_cast<EventId>(event.first + word));
        if (event.count > 1) line(2, "{} {} then", word == 0 ? "if" : "elsif", guard(event.guard, word, role, k));
        if (row.impossible) {
          line(3, "error \"impossible: {}\";", table.place(row.source_line));
          continue;
        }
        if (row.next != state) line(3, "{} := {};", variable, name(kind, table, row.next));
        for (const Action action : row.steps()) {
          if (cache) {
            cache_action(action, r, k, v);
          } else if (home) {
            home_action(action, row, r, v);
          } else {
            group_action(action, row, role, r, k, v);
          }
        }
      }
      if (event.count > 1) line(2, "end;");
    });
  }

  void cache_action(Action action, const std::string& r, const std::string& k, const std::string& v) {
    const int m = action.argument;
    switch (action.verb) {
      case Verb::send_home: line(3, "send_M{}(g, c, cd[g][c]);", m); break;
      case Verb::send_requestor:
        line(3, "assert {} != 0 \"sends to nobody\";", r);
        if (goes('M', action.argument)) {
          line(3, "if {0} = CACHES + 1 then send_M{1}(g, c, cd[g][c]); else send_C{1}(g, {0} - 1, {0}, 0, cd[g][c]); end;", r,
               m);
        } else {
          line(3, "assert {0} <= CACHES \"not for a group\"; send_C{1}(g, {0} - 1, {0}, 0, cd[g][c]);", r, m);
        }
        break;
      case Verb::take_data: line(3, "cd[g][c] := {};", v); break;
      case Verb::add_acks: line(3, "ck[g][c] := ck[g][c] + {};", k); break;
      case Verb::count_ack: line(3, "ck[g][c] := ck[g][c] - 1;"); break;
      case Verb::complete: line(3, "complete_access(g, c, w);"); break;
      case Verb::stall: line(3, "stalled := true;"); break;
      default: break;
    }
  }

  void group_action(Action action, const Row& row, TreeRole role, const std::string& r, const std::string& k,
                    const std::string& v) {
    const int m = action.argument;
    const std::string member = role == TreeRole::member_at_group ? "s + 1" : "gm[g]";
    const std::string requestor = role == TreeRole::outside_at_group ? r : "gr[g]";
    const bool invalidates = row.does(Verb::send_sharers);
    const auto known = [&](const std::string& whom) { line(3, "assert {} != 0 \"nobody\";", whom); };
    switch (action.verb) {
      case Verb::send_home: line(3, "send_U{}(g, gd[g]);", m); break;
      case Verb::send_requestor:
        known(requestor);
        line(3, "send_D{0}({1} - 1, {1}, 0, gd[g]);", m, requestor);
        break;
      case Verb::send_member:
        known(member);
        line(3, "send_C{0}(g, {1} - 1, {1}, {2}, gd[g]);", m, member, invalidates ? "others" : "0");
        break;
      case Verb::send_owner:
        known("go[g]");
        known(member);
        line(3, "send_C{}(g, go[g] - 1, {}, 0, gd[g]);", m, member);
        break;
      case Verb::send_sharers:
        line(3, "for i: cid do if gh[g][i] & i + 1 != {0} then send_C{1}(g, i, {0}, 0, gd[g]); end; end;", member, m);
        break;
      case Verb::recall_owner:
        known("go[g]");
        line(3, "send_C{}(g, go[g] - 1, CACHES + 1, 0, gd[g]);", m);
        break;
      case Verb::recall_sharers:
        line(3, "for i: cid do if gh[g][i] then gk[g] := gk[g] + 1; send_C{}(g, i, CACHES + 1, 0, gd[g]); end; end;", m);
        break;
      case Verb::take_data: line(3, "gd[g] := {};", v); break;
      case Verb::save_member: line(3, "gm[g] := s + 1;"); break;
      case Verb::save_requestor: line(3, "gr[g] := {};", r); break;
      case Verb::add_acks: line(3, "gk[g] := gk[g] + {};", k); break;
      case Verb::count_ack: line(3, "gk[g] := gk[g] - 1;"); break;
      case Verb::set_owner:
        known(member);
        line(3, "go[g] := {}; for i: cid do gh[g][i] := false; end;", member);
        break;
      case Verb::clear_owner: line(3, "go[g] := 0;"); break;
      case Verb::add_member:
        known(member);
        line(3, "gh[g][{} - 1] := true;", member);
        break;
      case Verb::add_owner:
        known("go[g]");
        line(3, "gh[g][go[g] - 1] := true;");
        break;
      case Verb::remove_sender: line(3, "gh[g][s] := false;"); break;
      case Verb::clear_sharers: line(3, "for i: cid do gh[g][i] := false; end;"); break;
      case Verb::stall: line(3, "stalled := true;"); break;
      default: break;
    }
  }

  void home_action(Action action, const Row& row, const std::string& /*r*/, const std::string& v) {
    const int m = action.argument;
    const bool invalidates = row.does(Verb::send_sharers);
    switch (action.verb) {
      case Verb::send_requestor: line(3, "send_D{}(s, s + 1, {}, md);", m, invalidates ? "others" : "0"); break;
      case Verb::send_owner: line(3, "assert own != 0 \"no owner\"; send_D{}(own - 1, s + 1, 0, md);", m); break;
      case Verb::send_sharers: line(3, "for i: gid do if other[i] then send_D{}(i, s + 1, 0, md); end; end;", m); break;
      case Verb::update_memory: line(3, "md := {};", v); break;
      case Verb::set_owner: line(3, "own := s + 1;"); break;
      case Verb::clear_owner: line(3, "own := 0;"); break;
      case Verb::add_requestor: line(3, "sh[s] := true;"); break;
      case Verb::add_owner: line(3, "assert own != 0 \"no owner\"; sh[own - 1] := true;"); break;
      case Verb::remove_sender: line(3, "sh[s] := false;"); break;
      case Verb::clear_sharers: line(3, "for i: gid do sh[i] := false; end;"); break;
      case Verb::stall: line(3, "stalled := true;"); break;
      default: break;
    }
  }

  void arrivals(std::size_t m) {
    const std::string& title = system_.network.messages[m].name;
    const auto message = static_cast<MessageId>(m);
    const std::size_t count = system_.network.messages.size();
    if (goes('U', m)) {
      line(0, "procedure take_U{}(s: gid; v: val; var stalled: boolean); -- {}", m, title);
      line(0, "var others: nack; other: array[gid] of boolean; begin");
      line(1, "others := 0; for i: gid do other[i] := sh[i] & i != s; if other[i] then others := others + 1; end; end;");
      table_rows(system_.directory(), m, TreeRole::home, "", "", "v");
      line(0, "end;");
    }
    if (goes('D', m)) {
      line(0, "procedure take_D{}(g: gid; r: anygroup; k: nack; v: val; var stalled: boolean); -- {}", m, title);
      line(0, "var others: nack; begin");
      line(1, "others := 0; for i: cid do if gh[g][i] & i + 1 != gm[g] then others := others + 1; end; end;");
      table_rows(system_.agent(), outside_event(count, message), TreeRole::outside_at_group, "r", "k", "v");
      line(0, "end;");
    }
    if (goes('M', m)) {
      line(0, "procedure take_M{}(g: gid; s: cid; v: val; var stalled: boolean); -- {}", m, title);
      line(0, "var others: nack; begin");
      line(1, "others := 0; for i: cid do if gh[g][i] & i != s then others := others + 1; end; end;");
      table_rows(system_.agent(), member_event(message), TreeRole::member_at_group, "0", "0", "v");
      line(0, "end;");
    }
    if (!goes('C', m)) return;
    line(0, "procedure take_C{}(g: gid; c: cid; r: anycache; k: nack; v: val; w: val; var stalled: boolean); begin -- {}", m,
         title);
    table_rows(system_.cache(), kFirstNetworkMessage + m, TreeRole::cache, "r", "k", "v");
    line(0, "end;");
  }

  [[nodiscard]] std::vector<TreeEviction> evictions() const {
    const std::size_t count = system_.network.messages.size();
    std::vector<TreeEviction> found = {{group_evict_event(count), "give_up", "group evicts"},
                                       {group_evict_entry_event(count), "give_up_entry", "group evicts its entry"}};
    std::erase_if(found, [this](const TreeEviction& eviction) { return system_.agent().base_events[eviction.event].absent; });
    return found;
  }

  // Returns the Murphi condition for group_has_place(), or with `and_can_evict`, for group_can_evict().
  [[nodiscard]] std::string has_place(std::size_t base, bool and_can_evict) const {
    const BaseEvent& event = system_.agent().base_events[base];
    std::vector<std::string> words;
    for (int word = 0; word < event.count; ++word) {
      const std::string states = one_of("gs[g]", 'G', system_.agent(), [&](std::size_t state) {
        const Row& row = system_.agent().row(static_cast<StateId>(state), static_cast<EventId>(event.first + word));
        return !row.impossible && !(and_can_evict && row.stalls());
      });
      words.push_back(
          event.count > 1 ? fmt::format("({}) & {}", guard(event.guard, word, TreeRole::evict_at_group, "0"), states) : states);
    }
    return fmt::format("({})", fmt::join(words, " | "));
  }

  void evict(const TreeEviction& eviction) {
    line(0, "procedure {}(g: gid); var stalled: boolean; begin", eviction.procedure);
    line(1, "stalled := false;");
    table_rows(system_.agent(), eviction.event, TreeRole::evict_at_group, "0", "0", "0");
    line(1, "if !stalled then assert !{} \"keeps a place that it has given up\"; end;", has_place(eviction.event, true));
    line(0, "end;");
  }

  void processor_rules() {
    line(0, "ruleset g: gid; c: cid do");
    line(1, "rule \"Load\" true ==> begin do_Load(g, c, 0); clean(); end;");
    line(1, "rule \"Evict\" cs[g][c] != {} ==> begin do_Evict(g, c, 0); clean(); end;", name('C', system_.cache(), 0));
    line(1, "ruleset w: val do rule \"Store\" true ==> begin do_Store(g, c, w); clean(); end; end;");
    line(0, "end;");
    for (const TreeEviction& eviction : evictions()) {
      line(0, "ruleset g: gid do rule \"{}\" {} ==> begin {}(g); clean(); end; end;", eviction.title,
           has_place(eviction.event, false), eviction.procedure);
    }
  }

  void rules(std::size_t m) {
    for (const char to : {'U', 'D', 'M', 'C'}) {
      if (!goes(to, m)) continue;
      if (queued(to, m)) {
        queue_rule(to, m);
        continue;
      }
      std::vector<std::string> ruleset;
      const std::vector<Index> of = indexes(to, m);
      for (const Index& index : of) ruleset.push_back(fmt::format("{}: {}", index.name, index.type));
      if (to == 'C') ruleset.emplace_back("w: val");
      const auto value = [&of](char which) {
        const bool known = std::any_of(of.begin(), of.end(), [which](const Index& index) { return index.name == which; });
        return known ? std::string(1, which) : std::string("0");
      };
      line(0, "ruleset {} do", fmt::join(ruleset, "; "));
      line(1, "rule \"{} {}\" {} > 0 ==> var stalled: boolean; begin", to, system_.network.messages[m].name, counter(to, m));
      switch (to) {
        case 'U': line(2, "stalled := false; take_U{}({}, {}, stalled);", m, value('s'), value('v')); break;
        case 'D': line(2, "stalled := false; take_D{}(g, {}, {}, {}, stalled);", m, value('r'), value('k'), value('v')); break;
        case 'M': line(2, "stalled := false; take_M{}(g, {}, {}, stalled);", m, value('s'), value('v')); break;
        default: line(2, "stalled := false; take_C{}(g, c, {}, {}, {}, w, stalled);", m, value('r'), value('k'), value('v'));
      }
      line(2, "if !stalled then {0} := {0} - 1; end; clean();", counter(to, m));
      line(1, "end;");
      line(0, "end;");
    }
  }

  void queue_rule(char to, std::size_t m) {
    const bool inside = to == 'C';
    const std::string count = inside ? "ic[g][c]" : "fn[g]", kinds = inside ? "im[g][c]" : "fm[g]",
                      whom = inside ? "ir[g][c]" : "fr[g]", acks = inside ? "ik[g][c]" : "fk[g]";
    const std::string k = use(to, m).acks ? acks + "[0]" : "0";
    line(0, "ruleset {} do", inside ? "g: gid; c: cid; w: val" : "g: gid");
    line(1, "rule \"{} {}\" {} > 0 & {}[0] = F_{} ==> var stalled: boolean; begin", to, system_.network.messages[m].name, count,
         kinds, m);
    if (inside) {
      line(2, "stalled := false; take_C{}(g, c, {}[0], {}, 0, w, stalled);", m, whom, k);
    } else {
      line(2, "stalled := false; take_D{}(g, {}[0], {}, 0, stalled);", m, whom, k);
    }
    line(2, "if !stalled then");
    line(3, "for i: slot do if i < QUEUE - 1 then {0}[i] := {0}[i + 1]; {1}[i] := {1}[i + 1]; end; end;", kinds, whom);
    line(3, "{}[QUEUE - 1] := F_none; {}[QUEUE - 1] := 0; {} := {} - 1;", kinds, whom, count, count);
    if (forwards_count()) {
      line(3, "for i: slot do if i < QUEUE - 1 then {0}[i] := {0}[i + 1]; end; end; {0}[QUEUE - 1] := 0;", acks);
    }
    line(2, "end; clean();");
    line(1, "end;");
    line(0, "end;");
  }

  void properties() {
    const ControllerTable& cache = system_.cache();
    const auto readable = [&](std::size_t state) { return cache.states[state].readable; };
    const auto writable = [&](std::size_t state) { return cache.states[state].writable; };
    const auto stable = [&](std::size_t state) { return cache.states[state].stable; };
    if (system_.subject.invariant_swmr) {
      line(0, "invariant \"single writer or many readers\"");
      line(1,
           "forall g: gid do forall c: cid do {} -> forall h: gid do forall d: cid do (g = h & c = d) | !{} end end end end;",
           one_of("cs[g][c]", 'C', cache, writable), one_of("cs[h][d]", 'C', cache, readable));
    }
    if (system_.subject.invariant_data_value) {
      line(0, "invariant \"data value\"");
      line(1, "forall g: gid do forall c: cid do {} -> cd[g][c] = latest end end;", one_of("cs[g][c]", 'C', cache, readable));
    }
    line(0, "invariant \"every access is accounted for\"");
    line(1, "forall g: gid do forall c: cid do {} -> cw[g][c] = W_none end end;", one_of("cs[g][c]", 'C', cache, stable));
    line(0, "liveness \"everything that waits can finish\"");
    line(1, "{}", one_of("hs", 'H', system_.directory(), [&](std::size_t s) { return system_.directory().states[s].stable; }));
    for_counters([this](char to, std::size_t m) {
      std::string loops, ends;
      for (const Index& index : indexes(to, m)) {
        loops += fmt::format("forall {}: {} do ", index.name, index.type);
        ends += " end";
      }
      line(1, "& ({}{} = 0{})", loops, counter(to, m), ends);
    });
    line(1, "& forall g: gid do {} & gk[g] = 0 & fn[g] = 0",
         one_of("gs[g]", 'G', system_.agent(), [&](std::size_t s) { return system_.agent().states[s].stable; }));
    line(2, "& forall c: cid do {} & ck[g][c] = 0 & ic[g][c] = 0 & cw[g][c] = W_none end end;",
         one_of("cs[g][c]", 'C', cache, stable));
  }

  const CheckedSystem system_;
  std::string text_;
};

}  // namespace
}  // namespace checker

std::string tree_murphi_model(const NetworkProtocols& protocols, const NetworkCheckOptions& options) {
  return checker::TreeMurphi(protocols, options).write();
}

}  // namespace linebounce
