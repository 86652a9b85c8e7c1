// Implements the public interface with Machine. No internal header is visible to the library's users.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "library/include/linebounce/linebounce.hpp"
#include "library/simulation_maker.hpp"
#include "models/machine/machine.hpp"
#include "models/ordinal.hpp"
#include "sim/point/config_error.hpp"
#include "sim/statistics/source_names.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::library {
namespace {

// True while this thread runs a simulation's programs, whose stacks are too small for another simulation.
thread_local bool inside_a_program = false;

class RunningPrograms {
 public:
  RunningPrograms() { inside_a_program = true; }
  ~RunningPrograms() { inside_a_program = false; }
  RunningPrograms(const RunningPrograms&) = delete;
  RunningPrograms& operator=(const RunningPrograms&) = delete;
};

void refuse_inside_a_program() {
  if (inside_a_program) throw std::logic_error("a simulation cannot be made or run by a program of another one");
}

struct Sum {
  std::array<std::int64_t, kSources> count{};
  Tick latency = 0;

  void add(const Miss& miss) {
    ++count[ordinal(miss.source)];
    latency += miss.latency;
  }
  [[nodiscard]] Transfers transfers(const Timebase& timebase) const {
    Transfers transfers;
    for (std::size_t source = 0; source < count.size(); ++source) {
      if (count[source] > 0) transfers.count[sim::kSourceNames[source]] = count[source];
    }
    transfers.total_latency_ns = timebase.to_ns(latency);
    return transfers;
  }
};

class Costs final : public Observer {
 public:
  void miss(const Miss& miss) override {
    all_.add(miss);
    lines_[miss.address / line_bytes_].add(miss);
  }
  void set_line_bytes(int bytes) { line_bytes_ = static_cast<Address>(bytes); }
  [[nodiscard]] const Sum& all() const { return all_; }
  [[nodiscard]] const std::map<Address, Sum>& lines() const { return lines_; }

 private:
  Address line_bytes_ = 1;
  Sum all_;
  std::map<Address, Sum> lines_;
};

}  // namespace

// The objects that programs may access. This class must refuse an access that crosses the end of a line, because the models
// only assert that none does.
class PlacedMemory {
 public:
  explicit PlacedMemory(const workloads::AddressSpace& objects) : objects_(objects) {}

  // Errors: as for Cpu, with `what` as the operation's name.
  void require_word(const char* what, Address address, int bytes) const {
    const bool is_width = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if (!is_width || address % static_cast<Address>(bytes) != 0)
      throw std::invalid_argument(
          fmt::format("{}: {} bytes at 0x{:x}: a word has 1, 2, 4 or 8, and lies at a multiple of that", what, bytes, address));
    require_placed(what, address, bytes);
  }
  void require_placed(const char* what, Address address, int bytes) const {
    // No two objects share a line, so an aligned word that begins in one object can't end in another.
    for (const Address byte : {address, address + static_cast<Address>(bytes) - 1}) {
      if (objects_.find_byte(byte).object == workloads::AddressSpace::kNoObject)
        throw std::out_of_range(fmt::format("{}: byte 0x{:x} is in none of the {} objects that place() has made", what, byte,
                                            objects_.objects().size()));
    }
  }

  // The CPU whose program runs. Programs run by turns, and each of a CPU's calls may let others run.
  mutable const Cpu* running = nullptr;

 private:
  const workloads::AddressSpace& objects_;
};

namespace {

// Lasts as long as a CPU's call. Only the CPU's own program may make the call, in the thread that runs the simulation: while it
// waits, the CPU switches to another stack and back to its program's, which is not the caller's.
class Turn {
 public:
  Turn(const char* what, const Cpu& cpu, const PlacedMemory& memory) : cpu_(cpu), memory_(memory) {
    if (!inside_a_program || memory.running != &cpu)
      throw std::logic_error(fmt::format("{}: only the CPU's own program may call this", what));
  }
  ~Turn() { memory_.running = &cpu_; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const Cpu& cpu_;
  const PlacedMemory& memory_;
};

}  // namespace

class Simulation::Implementation {
 public:
  explicit Implementation(const sim::MachineFiles& files)
      : machine_(make(files)), memory_(machine_->store(), &machine_->homes()) {
    costs_.set_line_bytes(line_bytes());
    programs_.resize(cpus());
  }
  [[nodiscard]] int cpus() const { return machine_->cpus(); }
  [[nodiscard]] int line_bytes() const { return machine_->store().line_bytes(); }

  Address place(const std::string& name, std::int64_t bytes, std::optional<int> node) {
    refuse_after_run();
    if (bytes <= 0 || bytes > kMostBytes)
      throw std::invalid_argument(fmt::format("{}: {} bytes: an object has 1 to {}", name, bytes, kMostBytes));
    const int nodes = machine_->layout().os_nodes();
    if (node && (*node < 0 || *node >= nodes))
      throw std::out_of_range(fmt::format("{}: there is no node {}; legal: 0 to {}", name, *node, nodes - 1));
    // Each object begins a line, so no two share one.
    return memory_.place_plain(name, bytes, line_bytes(), node ? std::optional(Home::on_os_node(*node)) : std::nullopt);
  }
  void preset(Address address, Value value, int bytes) {
    refuse_after_run();
    placed_.require_word("preset", address, bytes);
    memory_.preset(address, value, bytes);
  }
  void program(int cpu, Program program) {
    refuse_after_run();
    if (cpu < 0 || cpu >= cpus())
      throw std::out_of_range(fmt::format("program: there is no CPU {}; legal: 0 to {}", cpu, cpus() - 1));
    programs_[static_cast<std::size_t>(cpu)] = std::move(program);
  }

  Statistics run() {
    refuse_inside_a_program();
    refuse_after_run();
    has_run_ = true;
    machine_->set_functions(memory_.functions().size());
    for (int cpu = 0; cpu < cpus(); ++cpu) {
      machine_->set_program(cpu, [this, &program = programs_[cpu]](linebounce::Cpu& thread) {
        Cpu self(thread, placed_);
        placed_.running = &self;
        if (program) program(self);
      });
    }
    try {
      const RunningPrograms running;
      machine_->run();
    } catch (...) {
      machine_->unwind_programs();
      throw;
    }
    return statistics();
  }

 private:
  std::unique_ptr<Machine> make(const sim::MachineFiles& files) {
    try {
      return std::make_unique<Machine>(files.spec, files.protocols, EngineSpec{.line_history = true}, 0, 0, costs_);
    } catch (const std::invalid_argument& error) {
      throw sim::ConfigError(error.what());  // the mistake is in the machine's file, not in the caller's code
    }
  }

  void refuse_after_run() const {
    if (has_run_) throw std::logic_error("a simulation runs once: make another one");
  }

  [[nodiscard]] Statistics statistics() const {
    const Timebase& timebase = machine_->timebase();
    Statistics statistics{timebase.to_ns(machine_->finished_at()), costs_.all().transfers(timebase), {}};
    for (const auto& [number, sum] : costs_.lines()) {
      const auto place = memory_.find(number * static_cast<Address>(line_bytes()));
      if (place.object == workloads::AddressSpace::kNoObject) continue;
      const workloads::Symbol symbol = memory_.symbol(place);
      statistics.lines.push_back({symbol.object, symbol.line, sum.transfers(timebase)});
    }
    std::ranges::stable_sort(statistics.lines, [](const LineCost& a, const LineCost& b) {
      return std::tuple(-a.transfers.total_latency_ns, a.object, a.line) <
             std::tuple(-b.transfers.total_latency_ns, b.object, b.line);
    });
    return statistics;
  }

  Costs costs_;
  std::vector<Program> programs_;
  std::unique_ptr<Machine> machine_;
  workloads::AddressSpace memory_;
  const PlacedMemory placed_{memory_};
  bool has_run_ = false;
};

std::int64_t Transfers::total() const {
  std::int64_t sum = 0;
  for (const auto& [source, number] : count) sum += number;
  return sum;
}

namespace {

void require_amount(const char* what, std::int64_t amount) {
  if (amount < 0 || amount > Cpu::kMostAtOnce)
    throw std::invalid_argument(fmt::format("{}: {} is out of range; legal: 0 to {}", what, amount, Cpu::kMostAtOnce));
}

}  // namespace

int Cpu::number() const {
  return cpu_.id().value;
}
double Cpu::now_ns() {
  const Turn turn("now_ns", *this, memory_);
  return cpu_.to_ns(cpu_.now());
}
Value Cpu::load(Address address, int bytes) {
  const Turn turn("load", *this, memory_);
  memory_.require_word("load", address, bytes);
  return cpu_.load(address, bytes);
}
void Cpu::store(Address address, Value value, int bytes) {
  const Turn turn("store", *this, memory_);
  memory_.require_word("store", address, bytes);
  cpu_.store(address, value, bytes);
}
void Cpu::store_release(Address address, Value value, int bytes) {
  const Turn turn("store_release", *this, memory_);
  memory_.require_word("store_release", address, bytes);
  cpu_.store_release(address, value, bytes);
}
Value Cpu::exchange(Address address, Value value, int bytes) {
  const Turn turn("exchange", *this, memory_);
  memory_.require_word("exchange", address, bytes);
  return cpu_.exchange(address, value, bytes);
}
Value Cpu::fetch_add(Address address, Value addend, int bytes) {
  const Turn turn("fetch_add", *this, memory_);
  memory_.require_word("fetch_add", address, bytes);
  return cpu_.fetch_add(address, addend, bytes);
}
Value Cpu::compare_exchange(Address address, Value expected, Value desired, int bytes) {
  const Turn turn("compare_exchange", *this, memory_);
  memory_.require_word("compare_exchange", address, bytes);
  return cpu_.compare_exchange(address, expected, desired, bytes);
}
void Cpu::fence() {
  const Turn turn("fence", *this, memory_);
  cpu_.fence();
}
void Cpu::prefetch(Address address) {
  const Turn turn("prefetch", *this, memory_);
  memory_.require_placed("prefetch", address, 1);
  cpu_.prefetch(address);
}
void Cpu::compute(std::int64_t cycles) {
  const Turn turn("compute", *this, memory_);
  require_amount("compute", cycles);
  cpu_.compute(cycles);
}
void Cpu::execute(std::int64_t instructions) {
  const Turn turn("execute", *this, memory_);
  require_amount("execute", instructions);
  cpu_.execute(instructions);
}
Value Cpu::spin_until(Address address, const std::function<bool(Value)>& done, int bytes) {
  const Turn turn("spin_until", *this, memory_);
  memory_.require_word("spin_until", address, bytes);
  if (!done) throw std::invalid_argument("spin_until: `done` must be a function");
  return cpu_.spin_until(address, done, bytes);
}

Simulation::Simulation(const std::string& machine, const std::string& home) {
  refuse_inside_a_program();
  implementation_ = std::make_unique<Implementation>(sim::read_machine_files(machine, home));
}
Simulation::Simulation(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Simulation::~Simulation() = default;
int Simulation::cpus() const {
  return implementation_->cpus();
}
int Simulation::line_bytes() const {
  return implementation_->line_bytes();
}
Address Simulation::place(const std::string& name, std::int64_t bytes, std::optional<int> node) {
  return implementation_->place(name, bytes, node);
}
void Simulation::preset(Address address, Value value, int bytes) {
  implementation_->preset(address, value, bytes);
}
void Simulation::program(int cpu, Program program) {
  implementation_->program(cpu, std::move(program));
}
Statistics Simulation::run() {
  return implementation_->run();
}

std::unique_ptr<Simulation> SimulationMaker::make(const sim::MachineFiles& files) {
  return std::unique_ptr<Simulation>(new Simulation(std::make_unique<Simulation::Implementation>(files)));
}

}  // namespace linebounce::library
