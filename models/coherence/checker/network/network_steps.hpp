// Lists the possible steps of a network's state, and runs steps. The classes declared here receive the effects of the rows that
// the functions of controller_step.hpp and bus_order.hpp run, and check properties during each step.
#pragma once

#include <string>
#include <vector>

#include "models/coherence/checker/bus_copies.hpp"
#include "models/coherence/checker/network/network_world.hpp"

namespace linebounce::checker {

// Is told what happens during a step. Used to describe counterexamples; the search runs without a watcher.
class NetworkWatcher {
 public:
  virtual ~NetworkWatcher() = default;
  virtual void transition(const Place& place, StateId state, EventId event) = 0;
  virtual void read(const Place& place, std::uint8_t value) = 0;
  virtual void wrote(const Place& place, std::uint8_t value) = 0;
  virtual void drove_bus(const Place& place, std::uint8_t value) = 0;
  virtual void took(const Place& place, std::uint8_t value) = 0;
  virtual void sent(const Place& place, const MessageUnderWay& message) = 0;
};

// Which rows have run; indexed like ControllerTable::rows.
struct NetworkRowsRun {
  explicit NetworkRowsRun(const CheckedSystem& system)
      : agent(system.agent().rows.size()), directory(system.directory().rows.size()) {}
  std::vector<bool> agent, directory;
};

// Names a controller and its state, for people: "cache 0.1 (in S)".
std::string name_in_state(const CheckedSystem& system, const NetworkWorld& world, const Place& place);

class NetworkSteps {
 public:
  NetworkSteps(const CheckedSystem& system, NetworkWorld& world, NetworkRowsRun& rows_run, NetworkWatcher* watcher = nullptr)
      : system_(system), world_(world), rows_run_(rows_run), watcher_(watcher) {}

  // Runs the step on the world. Errors: Broken, ProtocolFault, which leave the world partly changed.
  void run(const NetworkStep& step);
  // Whether the last step wrote its NetworkStep::value. If not, the step need not be tried with another value.
  [[nodiscard]] bool value_used() const { return value_used_; }

  // Sets `steps` to the possible steps of a state. With `symmetry`, only one of several equal caches on a bus gets steps.
  static void enabled(const CheckedSystem& system, const NetworkWorld& world, bool symmetry, std::vector<NetworkStep>& steps);

 private:
  class NodeBus;  // the caches of one node, on which bus_order.hpp runs rows
  class Outbox;   // receives the effects of a network controller's rows

  [[nodiscard]] ControllerWorld& at(const Place& place) { return world_.at(system_, place); }
  void access(const Place& cache, std::size_t event);
  void access_on_network(const Place& cache, std::size_t event);
  void complete(const Place& cache);
  void order(int agent, int cache);
  void run_deferred(int agent);
  void recall(int agent);
  void evict(const Place& place, Storage from);
  void arrive(const MessageUnderWay& message);
  void check_acks(const Place& place);
  void send(const Place& from, int network, NetworkMessage message, int to);
  void read_and_write(const Place& place, std::size_t event);
  void ran(const Place& place, StateId state, EventId event);
  void begin_transaction(int agent, std::uint8_t transaction);
  void check_nobody_waits(int agent, int requester);
  void carry(std::uint8_t data, bool full) {
    hand_data_ = data;
    hand_full_ = full;
  }
  [[nodiscard]] std::string name(const Place& place) const { return name_in_state(system_, world_, place); }

  const CheckedSystem& system_;
  NetworkWorld& world_;
  NetworkRowsRun& rows_run_;
  NetworkWatcher* watcher_;
  std::uint8_t hand_data_ = 0;  // the data of the message that is being processed, or on the bus
  bool hand_full_ = false;      // true if there is such data
  std::uint8_t value_ = 0;
  bool value_used_ = false;
};

// Throws Broken if the state violates a property.
void check_world(const CheckedSystem& system, const NetworkWorld& world);

// Whether all controllers are in stable states, nothing is pending, and no message is under way.
bool is_quiescent(const CheckedSystem& system, const NetworkWorld& world);

}  // namespace linebounce::checker
