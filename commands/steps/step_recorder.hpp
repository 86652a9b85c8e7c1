// Listens to a run and records every step, up to a limit.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "commands/steps/step.hpp"
#include "models/core/program_tap.hpp"
#include "models/machine_layout.hpp"
#include "sim/simulation/simulate.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::sim {

using namespace workloads;

// Thrown through the simulation when the limit of steps is reached. Not a failure.
class StepLimitReached {};

class StepRecorder final : public SimulationTap, public StepListener, public ProgramTap {
 public:
  // Stops the run once its first `limit` steps are final. Data that copies take does not count.
  explicit StepRecorder(std::size_t limit) : limit_(limit), next_look_(limit) {}

  // Facts about the run that outlive it, however it ended.
  struct Object {
    std::string name, structure;
    Address begin = 0;  // virtual
    std::int64_t size = 0;
  };
  struct Facts {
    std::string tick_ns = {};  // a fraction
    int cpus = 0;
    int line_bytes = 1;
    std::vector<std::string> functions = {};
    std::vector<Object> objects = {};                           // by address
    PageFrames frames = {};                                     // where the objects' pages are
    std::map<std::pair<Address, int>, std::string> words = {};  // accessed words by address and size: their names
  };
  [[nodiscard]] const Facts& facts() const { return facts_; }
  // In the order of reports. Steps from time settled() on may be incomplete.
  [[nodiscard]] std::vector<RunStep>& steps() { return steps_; }
  // The bytes of all lines that copies took, one after the other. In a data step, `fresh` is the index of the line's first
  // byte.
  [[nodiscard]] const std::vector<std::byte>& taken() const { return taken_; }
  // The time at which the run was stopped; kNever if it was not.
  [[nodiscard]] Tick stopped_at() const { return stopped_at_; }

  // ---- SimulationTap ----
  void set_up(const Workload& workload) override { workload_ = &workload; }
  ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) override;
  StepListener* listener() override { return this; }
  void miss(const Miss&) override {}
  void end(const PointData&) override {}
  void program_ended(const Cpu& cpu) override { add_operation(cpu, StepOperation::end, 0, 0, 0); }

  // ---- StepListener ----
  void row_ran(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event, StateId next) override;
  void directory_changed(Tick time, int directory, LineAddr line, int owner, std::uint64_t sharers) override;
  void access_ran(Tick time, int agent, CpuId cpu, const Operation& operation, Value old, Value fresh, Served served) override;
  void data_taken(Tick time, Endpoint keeper, LineAddr line, std::span<const std::byte> bytes) override;
  std::uint32_t sent(const SentMessage& message) override;
  void arrived(std::uint32_t message, Tick time) override { steps_[message].arrives = time; }
  void store_buffered(Tick time, CpuId cpu, const Operation& operation) override;
  void store_drained(Tick time, CpuId cpu, const Operation& operation) override;
  void load_forwarded(Tick time, CpuId cpu, const Operation& operation, Value value) override;
  StageId stage(const Stage&) override { return kNoStage; }

  // ---- ProgramTap ----
  void called(const Cpu& cpu, const ProgramCall& call) override;
  void applied(const Cpu&, const Operation&, Value) override {}
  void forwarded(const Cpu&, Address) override {}
  void spin_begins(const Cpu& cpu, std::span<const Address> words, int bytes) override;
  void spin_polled(const Cpu&) override {}
  void spin_ends(const Cpu& cpu) override { doing_[cpu.id().value].pop_back(); }
  void composite_begins(const Cpu&, const Composite&) override {}
  void composite_ends(const Cpu&, bool) override {}
  void handler_begins(const Cpu& cpu, int vector) override;
  void handler_ends(const Cpu& cpu) override { doing_[cpu.id().value].pop_back(); }

 private:
  void add(const RunStep& step);
  [[nodiscard]] bool spins(CpuId cpu) const;
  // True if a spin's load has already found this value.
  bool seen_before(CpuId cpu, Address address, Value value, bool may_repeat);
  void add_buffer(Tick time, CpuId cpu, const Operation& operation, BufferMove move, Value value);
  void add_operation(const Cpu& cpu, StepOperation operation, Address address, int bytes, Value value, Value expected = 0);
  void name_word(Address address, int bytes);

  const std::size_t limit_;
  std::size_t next_look_;  // number of steps at which to check again whether enough are final
  const Workload* workload_ = nullptr;
  const Machine* machine_ = nullptr;
  const AddressSpace* memory_ = nullptr;
  Facts facts_;
  std::vector<RunStep> steps_;
  // What a CPU is in: nested spins and interrupt handlers, the innermost last.
  struct Doing {
    bool spins = false;
    std::map<Address, Value> seen = {};  // by word: the value that the spin found last
  };
  std::vector<std::vector<Doing>> doing_;
  std::vector<std::byte> taken_;
  Tick stopped_at_ = kNever;
};

}  // namespace linebounce::sim
