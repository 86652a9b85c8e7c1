#include "litmus/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace linebounce::sim::litmus {
namespace {

using NodeOp = ModelNode::Op;
constexpr std::size_t kMostEvents = 512;

GraphEvent::Kind kind_of(PathEvent::Kind kind) {
  if (kind == PathEvent::Kind::read) return GraphEvent::Kind::read;
  return kind == PathEvent::Kind::write ? GraphEvent::Kind::write : GraphEvent::Kind::fence;
}

}  // namespace

Graph::Graph(const Program& program, const std::vector<const Path*>& chosen, const Model& model)
    : model_(model), relations_(model.nodes.size()), sets_(model.nodes.size()), computed_at_(model.nodes.size()) {
  add_events(program, chosen);
  if (model.has_sights) add_sights(static_cast<int>(chosen.size()));
  if (events_.size() > kMostEvents)
    throw std::invalid_argument(fmt::format("an execution has {} events; up to {} can be judged", events_.size(), kMostEvents));
  add_static_relations(chosen);
  add_base_sets();
}

// The initial values come first, so that they have the variables' numbers.
void Graph::add_events(const Program& program, const std::vector<const Path*>& chosen) {
  for (std::size_t variable = 0; variable < program.variables.size(); ++variable) {
    events_.push_back({.kind = GraphEvent::Kind::write,
                       .variable = static_cast<int>(variable),
                       .value = program.variables[variable].initial});
  }
  for (std::size_t thread = 0; thread < chosen.size(); ++thread) {
    for (const PathEvent& one : chosen[thread]->events) {
      events_.push_back({.kind = kind_of(one.kind),
                         .thread = static_cast<int>(thread),
                         .variable = one.variable,
                         .value = one.value,
                         .tags = one.tags,
                         .line = one.line});
    }
  }
}

// For each store and each CPU, the moment at which the CPU comes to see the store.
void Graph::add_sights(int threads) {
  const int accesses = size();
  Relation& seen = base_relations_["seen"];
  Relation& at = base_relations_["at"];
  seen = at = Relation(accesses * (threads + 1));
  std::vector<std::array<int, 2>> sights;  // event and CPU
  for (int store = 0; store < accesses; ++store) {
    if (events_[store].kind != GraphEvent::Kind::write || events_[store].thread < 0) continue;
    for (int thread = 0; thread < threads; ++thread) {
      seen.add(store, size());
      sights.push_back({size(), thread});
      events_.push_back(
          {.kind = GraphEvent::Kind::sight, .thread = events_[store].thread, .variable = events_[store].variable});
    }
  }
  for (const auto& [sight, thread] : sights) {
    for (int event = 0; event < accesses; ++event) {
      if (events_[event].thread == thread) at.add(sight, event);
    }
    for (const auto& [other, its_thread] : sights) {
      if (thread == its_thread) at.add(sight, other);
    }
  }
  // Now that the number of events is known, the relations get their real size.
  for (Relation* const one : {&seen, &at}) {
    Relation fitting(size());
    for (int from = 0; from < size(); ++from) {
      for (int to = 0; to < size(); ++to) {
        if (one->has(from, to)) fitting.add(from, to);
      }
    }
    *one = fitting;
  }
}

void Graph::add_static_relations(const std::vector<const Path*>& chosen) {
  for (const char* const name : {"po", "addr", "data", "ctrl", "pick-addr", "pick-data", "pick-ctrl", "rmw", "amo", "exclusive",
                                 "loc", "int", "ext", "id", "rcu-section", "srcu-section", "rf", "co", "fr"})
    base_relations_[name] = Relation(size());
  int first = size();
  // Sights, if any, come after all accesses.
  for (int event = 0; event < size(); ++event) {
    if (events_[event].thread >= 0) {
      first = event;
      break;
    }
  }
  for (const Path* path : chosen) {
    add_dependencies(*path, first);
    first += static_cast<int>(path->events.size());
  }
  add_order_and_places();
}

void Graph::add_dependencies(const Path& path, int first) {
  const auto add_all = [&](const char* name, PathEvents from, int to) {
    for_each_bit(&from, 1, [&](int event) { base_relations_.find(name)->second.add(first + event, to); });
  };
  for (std::size_t i = 0; i < path.events.size(); ++i) {
    const PathEvent& event = path.events[i];
    const int number = first + static_cast<int>(i);
    for (std::size_t later = i + 1; later < path.events.size(); ++later)
      base_relations_.find("po")->second.add(number, first + static_cast<int>(later));
    add_all("addr", event.address, number);
    add_all("data", event.data, number);
    add_all("ctrl", event.control, number);
    add_all("pick-addr", event.pick_address, number);
    add_all("pick-data", event.pick_data, number);
    add_all("pick-ctrl", event.pick_control, number);
    if (event.pairs_with < 0) continue;
    const PathEvents pair = PathEvents{1} << event.pairs_with;
    if (event.kind == PathEvent::Kind::write) {
      add_all("rmw", pair, number);
      add_all(event.is_exclusive ? "exclusive" : "amo", pair, number);
    } else {
      base_relations_.find(has_tag(event.tags, Tag::rcu_unlock) ? "rcu-section" : "srcu-section")
          ->second.add(first + event.pairs_with, number);
    }
  }
}

void Graph::add_order_and_places() {
  Relation& loc = base_relations_.find("loc")->second;
  Relation& internal = base_relations_.find("int")->second;
  Relation& external = base_relations_.find("ext")->second;
  for (int from = 0; from < size(); ++from) {
    for (int to = 0; to < size(); ++to) {
      const GraphEvent &a = events_[from], &b = events_[to];
      if (a.variable >= 0 && a.variable == b.variable) loc.add(from, to);
      const bool is_same_thread = a.thread >= 0 && a.thread == b.thread;
      (is_same_thread ? internal : external).add(from, to);
    }
  }
  base_relations_.find("id")->second.add_identity();
}

void Graph::add_base_sets() {
  for (const char* const name : {"Event", "R", "W", "F", "M", "Init", "Rmw", "Sight"}) base_sets_[name] = EventSet(size());
  for (const std::string_view name : kTagNames) base_sets_[std::string(name)] = EventSet(size());
  const auto add = [&](const char* name, int event) { base_sets_.find(name)->second.add(event); };
  for (int event = 0; event < size(); ++event) {
    const GraphEvent& one = events_[event];
    add("Event", event);
    switch (one.kind) {
      case GraphEvent::Kind::read: add("R", event); break;
      case GraphEvent::Kind::write: add("W", event); break;
      case GraphEvent::Kind::fence: add("F", event); break;
      case GraphEvent::Kind::sight: add("Sight", event); break;
    }
    if (one.kind == GraphEvent::Kind::read || one.kind == GraphEvent::Kind::write) add("M", event);
    if (one.thread < 0) add("Init", event);
    for (std::size_t i = 0; i < kTagNames.size(); ++i) {
      if (one.kind != GraphEvent::Kind::sight && has_tag(one.tags, static_cast<Tag>(i)))
        base_sets_.find(kTagNames[i])->second.add(event);
    }
  }
  const Relation& rmw = base_relations_.find("rmw")->second;
  EventSet& updates = base_sets_.find("Rmw")->second;
  for (const EventSet& side : {rmw.domain(), rmw.range()}) {
    for (std::size_t word = 0; word < updates.words().size(); ++word) updates.words()[word] |= side.words()[word];
  }
}

void Graph::set_communication(const Communication& communication) {
  now_ = ++clock_;
  Relation& rf = base_relations_.find("rf")->second;
  Relation& co = base_relations_.find("co")->second;
  Relation& fr = base_relations_.find("fr")->second;
  rf = co = fr = Relation(size());
  for (std::size_t variable = 0; variable < communication.stores_of.size(); ++variable) {
    const auto& stores = communication.stores_of[variable];
    for (std::size_t earlier = 0; earlier < stores.size(); ++earlier) {
      for (std::size_t later = earlier + 1; later < stores.size(); ++later) co.add(stores[earlier], stores[later]);
      for (const int later : communication.later_stores[variable]) co.add(stores[earlier], later);
    }
  }
  for (int read = 0; read < size(); ++read) {
    const int store = communication.reads_from[read];
    if (store < 0) continue;
    rf.add(store, read);
    for (std::size_t word = 0; word < fr.row_words(); ++word) fr.row(read)[word] |= co.row(store)[word];
  }
}

int Graph::broken_rule(const Communication& communication, bool is_partial, std::size_t rules) {
  set_communication(communication);
  for (std::size_t i = 0; i < std::min(rules, model_.rules.size()); ++i) {
    const ModelRule& rule = model_.rules[i];
    if (rule.is_race || (is_partial && !model_.nodes[rule.node].is_monotone)) continue;
    if (breaks(rule)) return static_cast<int>(i);
  }
  return -1;
}

bool Graph::breaks(const ModelRule& rule) {
  const Relation& found = relation(rule.node);
  switch (rule.kind) {
    case ModelRule::Kind::acyclic: return !found.is_acyclic();
    case ModelRule::Kind::irreflexive: return !found.is_irreflexive();
    case ModelRule::Kind::empty: break;
  }
  return !found.empty();
}

bool Graph::has_race() {
  for (const ModelRule& rule : model_.rules) {
    if (rule.is_race && breaks(rule)) return true;
  }
  return false;
}

std::vector<int> Graph::offence(std::size_t rule) {
  const Relation& found = relation(model_.rules[rule].node);
  if (model_.rules[rule].kind == ModelRule::Kind::acyclic) return found.cycle();
  for (int from = 0; from < size(); ++from) {
    for (int to = 0; to < size(); ++to) {
      const bool counts = model_.rules[rule].kind == ModelRule::Kind::empty || from == to;
      if (counts && found.has(from, to)) return from == to ? std::vector{from} : std::vector{from, to};
    }
  }
  return {};
}

const Relation& Graph::relation(int node) {
  evaluate(node);
  return relations_[node];
}
const EventSet& Graph::set(int node) {
  evaluate(node);
  return sets_[node];
}

void Graph::evaluate(int number) {
  const ModelNode& node = model_.nodes[number];
  std::uint64_t& computed = computed_at_[number];
  if (node.op == NodeOp::least) {
    // While it is being computed, its value is what the last step has found.
    if (step_.contains(number) || computed >= now_) return;
    evaluate_least(number);
    computed_at_[number] = clock_;
    return;
  }
  const std::uint64_t valid_since = node.recursion >= 0 ? step_.at(node.recursion) : node.is_dynamic ? now_ : 1;
  if (computed >= valid_since) return;
  if (node.is_set) {
    evaluate_set(node, sets_[number]);
  } else {
    evaluate_relation(node, relations_[number]);
  }
  computed_at_[number] = clock_;
}

void Graph::evaluate_least(int number) {
  relations_[number] = Relation(size());
  for (;;) {
    step_[number] = ++clock_;
    Relation next = relation(model_.nodes[number].right);
    const bool is_done = next == relations_[number];
    relations_[number] = std::move(next);
    if (is_done) break;
  }
  step_.erase(number);
}

void Graph::evaluate_set(const ModelNode& node, EventSet& result) {
  const auto combined = [&](auto combine) {
    result = set(node.left);
    const EventSet& right = set(node.right);
    for (std::size_t word = 0; word < result.words().size(); ++word)
      result.words()[word] = combine(result.words()[word], right.words()[word]);
  };
  switch (node.op) {
    case NodeOp::base_set: result = base_sets_.find(node.name)->second; break;
    case NodeOp::set_union: combined([](std::uint64_t a, std::uint64_t b) { return a | b; }); break;
    case NodeOp::set_intersection: combined([](std::uint64_t a, std::uint64_t b) { return a & b; }); break;
    case NodeOp::set_difference: combined([](std::uint64_t a, std::uint64_t b) { return a & ~b; }); break;
    case NodeOp::domain: result = relation(node.left).domain(); break;
    case NodeOp::range: result = relation(node.left).range(); break;
    default: throw std::logic_error("not an operation on sets");
  }
}

void Graph::evaluate_relation(const ModelNode& node, Relation& result) {
  switch (node.op) {
    case NodeOp::base_relation: result = base_relations_.find(node.name)->second; return;
    case NodeOp::identity_of: {
      const EventSet& of = set(node.left);
      result = Relation(size());
      for_each_bit(of.words().data(), of.words().size(), [&](int event) { result.add(event, event); });
      return;
    }
    case NodeOp::product: {
      const EventSet &from = set(node.left), &to = set(node.right);
      result = Relation(size());
      for_each_bit(from.words().data(), from.words().size(),
                   [&](int event) { std::copy(to.words().begin(), to.words().end(), result.row(event)); });
      return;
    }
    default: break;
  }
  if (node.op == NodeOp::sequence) {
    const Relation& left = relation(node.left);
    result = left.empty() ? left : left.then(relation(node.right));
    return;
  }
  result = relation(node.left);
  const bool keeps_nothing = node.op == NodeOp::relation_intersection || node.op == NodeOp::relation_difference;
  if (keeps_nothing && result.empty()) return;
  switch (node.op) {
    case NodeOp::relation_union: result |= relation(node.right); break;
    case NodeOp::relation_intersection: result &= relation(node.right); break;
    case NodeOp::relation_difference: result -= relation(node.right); break;
    case NodeOp::closure: result.close(); break;
    case NodeOp::reflexive_closure:
      result.close();
      result.add_identity();
      break;
    case NodeOp::optional: result.add_identity(); break;
    case NodeOp::inverse: result = result.inverse(); break;
    default: throw std::logic_error("not an operation on relations");
  }
}

}  // namespace linebounce::sim::litmus
