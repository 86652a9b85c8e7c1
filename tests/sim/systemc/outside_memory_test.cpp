// A memory behind sockets that answers as the machine's own memory does must lead to the same results.
#include "sim/systemc/outside_memory.hpp"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "models/machine/machine.hpp"
#include "models/memory/memory_controller.hpp"
#include "sim/config/experiment.hpp"
#include "sim/results/csv.hpp"
#include "sim/simulation/idle_listener.hpp"

// SystemC's library refers to sc_main(), but the tests have their own main().
extern "C" int sc_main(int, char**) {
  return EXIT_FAILURE;
}

namespace linebounce::sim {
namespace {

// An external memory module with the same timing as the machine's own memory, bound to the socket through which the machine
// reaches it.
class Memory final : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Memory, 64> machine_side;

  explicit Memory(const sc_core::sc_module_name& name) : sc_module(name), machine_side("machine_side"), socket_("socket") {
    socket_.register_b_transport(this, &Memory::access);
    machine_side.bind(socket_);
  }
  void attach(Machine& machine, const MemorySpec& spec, int node) {
    clock_ = std::make_unique<Clock>(machine.timebase());
    line_bytes_ = static_cast<std::uint64_t>(machine.store().line_bytes());
    own_ = std::make_unique<MemoryController>(spec, machine.timebase(), machine.store().line_bytes());
    const auto transport = [this](tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
      machine_side->b_transport(transaction, delay);
    };
    outside_ = std::make_unique<OutsideMemory>(name(), transport, machine);
    machine.set_memory(node, *outside_);
  }
  [[nodiscard]] int reads() const { return reads_; }

 private:
  void access(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    const LineAddr line(transaction.get_address() / line_bytes_);
    const Tick at = clock_->nearest_tick(sc_core::sc_time_stamp() + delay);
    if (transaction.is_read()) {
      ++reads_;
      delay += clock_->time(own_->read(line, at) - at);
    } else {
      own_->write(line, at);
    }
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  tlm_utils::simple_target_socket<Memory, 64> socket_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<MemoryController> own_;
  std::unique_ptr<OutsideMemory> outside_;
  std::uint64_t line_bytes_ = 1;
  int reads_ = 0;
};

class WithOutsideMemories final : public IdleListener {
 public:
  explicit WithOutsideMemories(const MachineSpec& spec) : spec_(spec) {
    for (int node = 0; node < spec.nodes; ++node)
      memories_.push_back(std::make_unique<Memory>(("memory" + std::to_string(node)).c_str()));
  }
  ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) override {
    for (std::size_t node = 0; node < memories_.size(); ++node) {
      const int number = static_cast<int>(node);
      memories_[node]->attach(machine, as_of_node(spec_, number).memory, number);
    }
    return IdleListener::begin(machine, memory, locks);
  }
  StepListener* listener() override { return nullptr; }
  [[nodiscard]] int reads() const {
    int reads = 0;
    for (const auto& memory : memories_) reads += memory->reads();
    return reads;
  }

 private:
  const MachineSpec& spec_;
  std::vector<std::unique_ptr<Memory>> memories_;
};

// The rows without the columns from `travel` on. These columns may differ: waits inside an outside memory are unknown, and
// count as travel.
std::string without_split(const std::string& csv) {
  const std::string head = csv.substr(0, csv.find('\n'));
  const std::size_t split = head.find(",travel");
  if (split == std::string::npos) return csv;
  const auto columns = std::count(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(split), ',') + 1;
  std::string kept;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::size_t end = 0;
    for (std::ptrdiff_t column = 0; column < columns; ++column) end = line.find(',', end) + 1;
    kept += line.substr(0, end) + '\n';
  }
  return kept;
}

std::vector<std::string> contents(const PointData& point) {
  std::vector<std::string> contents;
  for (const auto& file : csv_files(0, point)) contents.push_back(without_split(file.content));
  for (const auto& [name, metric] : point.metrics) {
    if (name.find("queueing") == std::string::npos)
      contents.push_back(name + " " + std::visit([](auto value) { return std::to_string(value); }, metric.value));
  }
  return contents;
}

class OutsideMemories : public ::testing::TestWithParam<const char*> {};

TEST_P(OutsideMemories, ThatAnswerAsTheMachinesOwnChangeNothing) {
  setenv("LINEBOUNCE_ROOT", LINEBOUNCE_SOURCE_DIR, 1);
  Overrides overrides;
  if (std::string(GetParam()) == "numa_histogram") overrides.sets = {{"run.measure_us", "400"}};
  const SimulationInput input = point_maker(load_experiment(GetParam(), overrides))(0).input;
  WithOutsideMemories outside(input.machine);
  const PointData with = simulate_with(outside, input, {});
  EXPECT_GT(outside.reads(), 100);
  EXPECT_EQ(contents(with), contents(simulate(input)));
}

INSTANTIATE_TEST_SUITE_P(Experiments, OutsideMemories, ::testing::Values("numa_histogram", "operation_costs"));

}  // namespace
}  // namespace linebounce::sim
