// The simulator as a library: a machine from a file, a program for each CPU as a function, and what its lines cost.
//
//   linebounce::library::Simulation simulation("p3_xeon_4way");
//   const auto counter = simulation.place("counter", 8);
//   for (int cpu = 0; cpu < simulation.cpus(); ++cpu) {
//     simulation.program(cpu, [=](auto& self) { self.fetch_add(counter, 1); });
//   }
//   const auto statistics = simulation.run();
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The folder that simulations read from if they name no `home`. The CMake package sets it to the installed folder.
#ifndef LINEBOUNCE_HOME
#define LINEBOUNCE_HOME ""
#endif

namespace linebounce {
class Cpu;
}

namespace linebounce::library {

using Address = std::uint64_t;  // of a byte in the simulated memory
using Value = std::uint64_t;

class PlacedMemory;

// A program's view of the CPU that it runs on. The operations take simulated time; number(), now_ns() and what the program does
// between two calls take none. `bytes` is 1, 2, 4 or 8, and the address must be a multiple of it.
// Errors: std::invalid_argument for another width, an unaligned address, a negative amount, or an empty `done`;
// std::out_of_range if one of the bytes is outside all placed objects; std::logic_error for a call by anything but the CPU's
// own program. A refused call has no effect.
class Cpu {
 public:
  Cpu(linebounce::Cpu& cpu, const PlacedMemory& memory) : cpu_(cpu), memory_(memory) {}

  [[nodiscard]] int number() const;
  [[nodiscard]] double now_ns();

  Value load(Address address, int bytes = 8);
  void store(Address address, Value value, int bytes = 8);
  void store_release(Address address, Value value, int bytes = 8);
  // These return the word's value before the operation.
  Value exchange(Address address, Value value, int bytes = 8);
  Value fetch_add(Address address, Value addend, int bytes = 8);
  Value compare_exchange(Address address, Value expected, Value desired, int bytes = 8);
  void fence();
  void prefetch(Address address);

  // REQUIRES: at most kMostAtOnce.
  void compute(std::int64_t cycles);
  void execute(std::int64_t instructions);
  static constexpr std::int64_t kMostAtOnce = 1'000'000'000'000;

  // Loads the word until `done` returns true for its value, and returns that value. `done` may depend only on the value: it is
  // called once for each change, however long the wait.
  Value spin_until(Address address, const std::function<bool(Value)>& done, int bytes = 8);

 private:
  linebounce::Cpu& cpu_;
  const PlacedMemory& memory_;
};

using Program = std::function<void(Cpu&)>;  // runs on a stack of 256 KiB

// The number of misses that each supplier served, as seen from the requesting node. An upgrade moves no data: the requester has
// a copy and needs only permission to write.
struct Transfers {
  std::map<std::string, std::int64_t> count;  // local_c2c, local_memory, remote_memory, remote_c2c, node_cache, upgrade
  double total_latency_ns = 0;

  [[nodiscard]] std::int64_t total() const;
};

struct LineCost {
  std::string object;
  std::int64_t line = 0;  // number of the line in the object, from 0
  Transfers transfers;
};

struct Statistics {
  double time_ns = 0;  // simulated time until the last program ended
  Transfers transfers;
  std::vector<LineCost> lines;  // lines of placed objects, the costliest first
};

// Several simulations may exist at once, and several threads may each run one. A simulation must not be made or run inside
// another simulation's program, because a program's stack is small: std::logic_error. Results are the same in every run.
class Simulation {
 public:
  // `machine`: the name of a shipped machine ("p3_xeon_4way") or a TOML file. `home`: the folder that contains configs/ and
  // models/protocols/; the environment variable LINEBOUNCE_ROOT takes precedence. Errors: std::runtime_error with file, line
  // and legal values.
  explicit Simulation(const std::string& machine, const std::string& home = LINEBOUNCE_HOME);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  [[nodiscard]] int cpus() const;
  [[nodiscard]] int line_bytes() const;

  // Places a new object, filled with zeros. No other object shares its lines. Its home is `node`, or follows the machine's
  // policy. Errors, here and below: std::logic_error after run(); std::invalid_argument for an illegal size; std::out_of_range
  // for an unknown node.
  Address place(const std::string& name, std::int64_t bytes, std::optional<int> node = {});
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // the largest object
  // Sets a word's value before the programs start. Errors: as for Cpu's accesses, for an illegal width or address.
  void preset(Address address, Value value, int bytes = 8);

  // Sets a CPU's program; a CPU without one does nothing. Errors: std::out_of_range for an unknown CPU.
  void program(int cpu, Program program);

  // Runs until every program has ended; may be called once. Errors: std::logic_error on the second call; std::runtime_error
  // with a report for a deadlock or an inconsistency of the model; whatever a program throws.
  Statistics run();

 private:
  friend class SimulationMaker;
  class Implementation;
  explicit Simulation(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace linebounce::library
