// The model checker's copies of the line, on which the functions of bus_order.hpp run rows. The copies check properties during
// each step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/coherence/bus_order.hpp"
#include "models/coherence/checker/bus_copies.hpp"
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

class WorldCopies : public BusCopies<WorldCopies> {
 public:
  WorldCopies(const Protocol& protocol, const CheckOptions& options, World& world, RowsRun& rows_run,
              StepWatcher* watcher = nullptr)
      : protocol_(protocol), options_(options), world_(world), rows_run_(rows_run), watcher_(watcher) {}

  // Runs the step on the world. Errors: Broken, ProtocolFault, which leave the world partly changed.
  void run(const CheckStep& step);
  // Whether the last step wrote its CheckStep::value. If not, the step need not be tried with another value.
  [[nodiscard]] bool value_used() const { return value_used_; }

  // The functions of bus_order.hpp and BusCopies call the members below.
  [[nodiscard]] const std::vector<int>& snoopers(MessageId message);
  void on_transition(Controller controller, int cache, StateId state, EventId event, StateId next);
  [[nodiscard]] const Protocol& protocol() const { return protocol_; }
  [[nodiscard]] ControllerWorld& cache(int number) { return world_.caches[number]; }
  [[nodiscard]] ControllerWorld& memory() { return world_.memory; }
  [[nodiscard]] std::uint8_t& bus_data() { return world_.bus_data; }
  [[nodiscard]] std::string name(int cache) const;
  void read_and_write(int controller, std::size_t event);
  void take_word(int cache);
  void drove(int sender, std::uint8_t value) {
    if (watcher_ != nullptr) watcher_->drove_bus(sender, value);
  }

 private:
  void order_at_once(int number);
  // Throws Broken if the protocol claims data_value and `data`, the value of the cache's copy or of memory, is not `latest`.
  void check_latest(int cache, std::uint8_t data, std::uint8_t latest, std::string_view what) const;

  const Protocol& protocol_;
  const CheckOptions& options_;
  World& world_;
  RowsRun& rows_run_;
  StepWatcher* watcher_;
  std::vector<int> snoopers_;
  std::uint8_t value_ = 0;
  bool value_used_ = false;
  std::uint8_t latest_before_ = 0;  // the value of World::latest before this step wrote
};
static_assert(LineCopies<WorldCopies>);

// The cache with its state, for people.
std::string name_in_state(const Protocol& protocol, const World& world, int cache);

// Throws Broken if the state violates a property.
void check_world(const Protocol& protocol, int caches, const World& world);

// Whether all caches are in stable states and nothing is pending.
bool is_quiescent(const Protocol& protocol, int caches, const World& world);

}  // namespace linebounce::checker
