// The model checker's copies of the line, on which the functions of bus_order.hpp run rows. The copies check properties during
// each step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/checker/world.hpp"

namespace linebounce::checker {

// Is told what happens during a step. Used to describe counterexamples; the search runs without a watcher.
class StepWatcher {
 public:
  virtual ~StepWatcher() = default;
  virtual void transition(Controller controller, int cache, StateId state, EventId event) = 0;
  virtual void read(int cache, std::uint8_t value) = 0;
  virtual void wrote(int cache, std::uint8_t value) = 0;
  virtual void took_word(int cache, std::uint8_t value) = 0;
  virtual void drove_bus(int sender, std::uint8_t value) = 0;  // `sender` is a cache or kMemory
};

// Which rows have run; indexed like ControllerTable::rows.
struct RowsRun {
  explicit RowsRun(const Protocol& protocol) : cache(protocol.cache.rows.size()), memory(protocol.memory.rows.size()) {}
  std::vector<bool> cache, memory;
};

class WorldCopies {
 public:
  WorldCopies(const Protocol& protocol, const CheckOptions& options, World& world, RowsRun& rows_run,
              StepWatcher* watcher = nullptr)
      : protocol_(protocol), options_(options), world_(world), rows_run_(rows_run), watcher_(watcher) {}

  // Runs the step on the world. Errors: Broken, ProtocolFault, which leave the world partly changed.
  void run(const CheckStep& step);
  // Whether the last step wrote its CheckStep::value. If not, the step need not be tried with another value.
  [[nodiscard]] bool value_used() const { return value_used_; }

  // The members below implement LineCopies. The functions of bus_order.hpp call them.
  [[nodiscard]] const std::vector<int>& snoopers(MessageId message);
  [[nodiscard]] StateId state(int cache) const { return at(cache).state; }
  [[nodiscard]] StateId memory_state() const { return world_.memory_state; }
  void set_state(int cache, StateId state) { at(cache).state = state; }
  void set_memory_state(StateId state) { world_.memory_state = state; }
  void copy_to_bus(int cache) { drive(cache, at(cache).data); }
  void memory_to_bus() { drive(kMemory, world_.memory_data); }
  void bus_to_copy(int cache) { at(cache).data = world_.bus_data; }
  void bus_to_memory() { world_.memory_data = world_.bus_data; }
  void issue(int cache, MessageId message);
  void free(int cache) { at(cache).data = 0; }
  void complete(int cache);
  void send_word(int cache);
  void apply_word(int cache);
  void operate(int cache);
  void on_transition(Controller controller, int cache, StateId state, EventId event, StateId next);

 private:
  [[nodiscard]] CacheWorld& at(int cache) { return world_.caches[cache]; }
  [[nodiscard]] const CacheWorld& at(int cache) const { return world_.caches[cache]; }
  bool access(int cache, std::size_t event);
  void read_and_write(int cache, std::size_t event);
  // Throws Broken if the protocol claims data_value and `data`, the value of the cache's copy or of memory, is not `latest`.
  void check_latest(int cache, std::uint8_t data, std::uint8_t latest, std::string_view what) const;
  void order(int cache);
  void data(int cache);
  void drive(int sender, std::uint8_t value);
  [[nodiscard]] std::string name(int cache) const;

  const Protocol& protocol_;
  const CheckOptions& options_;
  World& world_;
  RowsRun& rows_run_;
  StepWatcher* watcher_;
  std::vector<int> snoopers_;
  int sender_ = kNobody;
  std::uint8_t value_ = 0;
  bool value_used_ = false;
  std::uint8_t latest_before_ = 0;  // the value of World::latest before this order step stored a word
};
static_assert(LineCopies<WorldCopies>);

// Throws Broken if the state violates a property.
void check_world(const Protocol& protocol, int caches, const World& world);

// Whether all caches are in stable states and nothing is pending.
bool is_quiescent(const Protocol& protocol, int caches, const World& world);

}  // namespace linebounce::checker
