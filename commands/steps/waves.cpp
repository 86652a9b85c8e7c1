#include "commands/steps/waves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/machine/machine.hpp"
#include "models/timeline.hpp"
#include "sim/simulation/idle_listener.hpp"
#include "sim/systemc/wave_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kLines = 8;

class LineCosts final : public IdleListener {
 public:
  ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) override {
    store_ = &machine.store();
    return IdleListener::begin(machine, memory, locks);
  }
  StepListener* listener() override { return nullptr; }
  // Runs without SystemC, because its kernel can't trace signals that are added after a first run.
  void drive(Machine& machine, const std::function<void(double)>& progress) override { machine.run(progress); }
  void miss(const Miss& miss) override { costs_[store_->line_of(miss.address).value] += miss.latency; }
  void end(const PointData&) override { store_ = nullptr; }

  // The lines whose misses cost the most time, sorted by address.
  [[nodiscard]] std::vector<LineAddr> costliest() const {
    std::vector<std::pair<Tick, std::uint64_t>> sorted;
    for (const auto& [line, cost] : costs_) sorted.emplace_back(-cost, line);
    std::ranges::sort(sorted);
    sorted.resize(std::min(sorted.size(), kLines));
    std::vector<LineAddr> lines;
    for (const auto& [cost, line] : sorted) lines.emplace_back(line);
    std::ranges::sort(lines, {}, &LineAddr::value);
    return lines;
  }

 private:
  const LineStore* store_ = nullptr;
  std::map<std::uint64_t, Tick> costs_;
};

// Replaces characters that some waveform viewers reject in a signal's name.
std::string plain(std::string name) {
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

int bits_for(std::size_t values) {
  return std::max(1, static_cast<int>(std::bit_width(values - 1)));
}

class Waves final : public IdleListener, public Timeline {
 public:
  Waves(const SimulationInput& input, std::vector<LineAddr> lines, const std::filesystem::path& file)
      : protocol_(input.protocols.bus), lines_(std::move(lines)), file_(file) {}

  // ---- SimulationTap ----
  ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) override {
    store_ = &machine.store();
    const auto cores = static_cast<std::size_t>(machine.cores());
    file_.comment("address, data: the core whose request the bus carries, plus 1; 0: nobody's, or a controller's");
    for (int bus = 0; bus < machine.buses(); ++bus) {
      const std::string name = fmt::format("bus{}.", bus);
      buses_.push_back({.address = file_.add_signal(name + "address", bits_for(cores + 1)),
                        .data = file_.add_signal(name + "data", bits_for(cores + 1)),
                        .waiting = file_.add_signal(name + "waiting", 16)});
    }
    if (machine.network() != nullptr) {
      file_.comment("links: how many messages are on them");
      for (const LinkStatistics& link : machine.network()->links(0))
        links_[{link.from, link.to}] = file_.add_signal(fmt::format("links.from{}_to{}", link.from, link.to), 16);
    }
    std::string states = "lines:";
    for (std::size_t state = 0; state < protocol_.cache.states.size(); ++state)
      states += fmt::format(" {} {}", state, protocol_.cache.states[state].name);
    file_.comment(states);
    for (const LineAddr line : lines_) {
      const auto place = memory.find(store_->address_of(line));
      const std::string name = place.object == AddressSpace::kNoObject
                                   ? fmt::format("at_{:x}", store_->address_of(line))
                                   : fmt::format("{}_line{}", plain(memory.symbol(place).object), memory.symbol(place).line);
      std::vector<int>& signals = states_[line.value];
      for (std::size_t core = 0; core < cores; ++core) {
        signals.push_back(
            file_.add_signal(fmt::format("lines.{}.cache{}", name, core), bits_for(protocol_.cache.states.size())));
      }
    }
    machine.set_timeline(*this);
    return IdleListener::begin(machine, memory, locks);
  }
  void drive(Machine& machine, const std::function<void(double)>& progress) override {
    file_.run(machine, progress, [this, &machine](Tick now) {
      for (int bus = 0; bus < machine.buses(); ++bus)
        file_.set(now, buses_[static_cast<std::size_t>(bus)].waiting, static_cast<unsigned>(machine.bus(bus).waiting()));
    });
  }

  // ---- StepListener ----
  void row_ran(Tick time, Controller controller, int agent, LineAddr line, StateId, EventId, StateId next) override {
    if (controller != Controller::cache) return;
    const auto found = states_.find(line.value);
    if (found != states_.end()) file_.set(time, found->second[static_cast<std::size_t>(agent)], next);
  }

  // ---- Timeline ----
  void bus(int bus, BusPhase phase, int client, const std::string&, Address, Tick from, Tick to) override {
    const Bus& signals = buses_[static_cast<std::size_t>(bus)];
    const int signal = phase == BusPhase::address ? signals.address : signals.data;
    file_.set(from, signal, client < 0 ? 0 : static_cast<unsigned>(client) + 1);
    file_.set(to, signal, 0);
  }
  void link(int from_node, int to_node, Address, bool, Tick from, Tick to) override {
    const auto found = links_.find({from_node, to_node});
    if (found == links_.end()) return;
    file_.add(from, found->second, 1);
    file_.add(to, found->second, -1);
  }
  void function(CpuId, FunctionId, Tick, Tick) override {}
  void sleep(CpuId, Tick, Tick) override {}
  void miss(const Miss&) override {}
  void lock(CpuId, const std::string&, LockPhase, Tick, Tick) override {}
  void grace_period(std::int64_t, Tick, Tick) override {}

 private:
  struct Bus {
    int address, data, waiting;
  };

  const Protocol& protocol_;
  const std::vector<LineAddr> lines_;
  WaveFile file_;
  const LineStore* store_ = nullptr;
  std::vector<Bus> buses_;
  std::map<std::pair<int, int>, int> links_;
  std::map<std::uint64_t, std::vector<int>> states_;  // by line, then by core: the number of its state's signal
};

}  // namespace

void write_waves(const SimulationInput& input, const std::filesystem::path& file, const std::function<void(double)>& progress) {
  LineCosts costs;
  simulate_with(costs, input, [&progress](double share) { progress(share / 2); });
  SimulationInput step_by_step = input;
  step_by_step.engine.run_ahead = false;  // without run-ahead, a state changes at the time of its report
  Waves waves(step_by_step, costs.costliest(), file);
  simulate_with(waves, step_by_step, [&progress](double share) { progress((1 + share) / 2); });
}

}  // namespace linebounce::sim
