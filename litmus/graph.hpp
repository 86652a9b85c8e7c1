// The events of one path of each thread, and whether a model allows an execution of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "litmus/model.hpp"
#include "litmus/paths.hpp"
#include "litmus/relation.hpp"

namespace linebounce::sim::litmus {

struct GraphEvent {
  enum class Kind : std::uint8_t { read, write, fence, sight } kind = Kind::fence;
  int thread = -1;  // -1: the initial value of a variable
  int variable = -1;
  Word value = 0;
  Tags tags = 0;
  int line = 0;
};

// An execution of the graph: which store each load reads from, and the order of each variable's stores. Both may be partial.
struct Communication {
  std::vector<int> reads_from;                 // by event: the store; -1: not decided, or no load
  std::vector<std::vector<int>> stores_of;     // by variable: stores in coherence order, the initial value first
  std::vector<std::vector<int>> later_stores;  // by variable: stores that come after those, in an order that is not decided
};

class Graph {
 public:
  // `chosen`: a path of each thread.
  Graph(const Program& program, const std::vector<const Path*>& chosen, const Model& model);

  [[nodiscard]] const std::vector<GraphEvent>& events() const { return events_; }
  [[nodiscard]] int size() const { return static_cast<int>(events_.size()); }

  // The number of the first rule that the execution breaks, races aside; -1: none. `is_partial`: looks only at rules that stay
  // broken whatever is decided later. `rules`: looks at so many of the first ones.
  int broken_rule(const Communication& communication, bool is_partial, std::size_t rules);
  // Whether the execution that was judged last has a data race.
  bool has_race();
  // The events of a shortest cycle of the rule, or of a pair that it forbids, in the execution that was judged last.
  std::vector<int> offence(std::size_t rule);

 private:
  void add_events(const Program& program, const std::vector<const Path*>& chosen);
  void add_sights(int threads);
  void add_static_relations(const std::vector<const Path*>& chosen);
  void add_dependencies(const Path& path, int first);
  void add_order_and_places();
  void add_base_sets();

  [[nodiscard]] bool breaks(const ModelRule& rule);
  void set_communication(const Communication& communication);
  const Relation& relation(int node);
  const EventSet& set(int node);
  void evaluate(int node);
  void evaluate_relation(const ModelNode& node, Relation& result);
  void evaluate_set(const ModelNode& node, EventSet& result);
  void evaluate_least(int node);

  const Model& model_;
  std::vector<GraphEvent> events_;
  std::map<std::string, Relation, std::less<>> base_relations_;
  std::map<std::string, EventSet, std::less<>> base_sets_;
  // By node of the model: its value, and in which execution (or, of a recursive definition, in which step) it was computed.
  std::vector<Relation> relations_;
  std::vector<EventSet> sets_;
  std::vector<std::uint64_t> computed_at_;
  std::uint64_t now_ = 1;              // of this execution
  std::uint64_t clock_ = 1;            // of all
  std::map<int, std::uint64_t> step_;  // by `least` that is being computed: its current step
};

}  // namespace linebounce::sim::litmus
