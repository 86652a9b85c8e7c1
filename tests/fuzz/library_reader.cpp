// Calls the library in any order with any arguments: each call succeeds, or throws an exception that linebounce.hpp names, with
// a message.
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "library/simulation_maker.hpp"
#include "tests/fuzz/readers.hpp"

namespace linebounce::fuzz {
namespace {

constexpr std::array<std::int64_t, 16> kAmounts = {0,
                                                   1,
                                                   2,
                                                   8,
                                                   31,
                                                   64,
                                                   4096,
                                                   1'000'000,
                                                   -1,
                                                   -8,
                                                   library::Cpu::kMostAtOnce,
                                                   library::Cpu::kMostAtOnce + 1,
                                                   library::Simulation::kMostBytes,
                                                   library::Simulation::kMostBytes + 1,
                                                   std::numeric_limits<std::int64_t>::min(),
                                                   std::numeric_limits<std::int64_t>::max()};
constexpr std::array<int, 8> kWidths = {8, 4, 2, 1, 0, -8, 16, 64};

class Bytes {
 public:
  explicit Bytes(const std::string& bytes) : bytes_(bytes) {}
  [[nodiscard]] bool any() const { return at_ < bytes_.size(); }
  unsigned next() { return any() ? static_cast<unsigned char>(bytes_[at_++]) : 0; }
  std::int64_t amount() { return kAmounts.at(next() % kAmounts.size()); }
  int width() { return kWidths.at(next() % kWidths.size()); }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

// Checks that a refusal has a message. Other exceptions pass through.
template <class Call>
void try_to(Call call) {
  std::string refusal = "none";
  try {
    call();
  } catch (const std::logic_error& refused) {
    refusal = refused.what();
  }
  if (refusal.empty()) throw std::bad_exception();
}

struct Step {
  unsigned what;
  library::Address address;
  int width;
  std::int64_t amount;
};

void do_step(library::Cpu& cpu, const Step& step) {
  const auto value = static_cast<library::Value>(step.amount);
  switch (step.what % 12) {
    case 0: cpu.load(step.address, step.width); break;
    case 1: cpu.store(step.address, value, step.width); break;
    case 2: cpu.store_release(step.address, value, step.width); break;
    case 3: cpu.exchange(step.address, value, step.width); break;
    case 4: cpu.fetch_add(step.address, value, step.width); break;
    case 5: cpu.compare_exchange(step.address, 0, value, step.width); break;
    case 6: cpu.fence(); break;
    case 7: cpu.prefetch(step.address); break;
    case 8: cpu.compute(step.amount); break;
    case 9: cpu.execute(step.amount); break;
    case 10:
      cpu.spin_until(
          step.address, [value](library::Value now) { return now >= value; }, step.width);
      break;
    default: cpu.spin_until(step.address, nullptr, step.width);
  }
}

class Calls {
 public:
  explicit Calls(const std::string& bytes) : in_(bytes), made_(make(in_.next() % 2 == 0 ? "m" : "n")) {}

  void run() {
    while (in_.any()) call();
    for (int cpu = 0; cpu < simulation_.cpus(); ++cpu) {
      const std::vector<Step>& steps = steps_.at(static_cast<std::size_t>(cpu));
      simulation_.program(cpu, [&steps](library::Cpu& self) {
        for (const Step& step : steps) try_to([&] { do_step(self, step); });
      });
    }
    try {
      simulation_.run();
    } catch (const std::runtime_error&) {  // the run ended in a deadlock, or after more time than can be counted
    }
    try_to([this] { simulation_.run(); });
  }

 private:
  void call() {
    const unsigned what = in_.next();
    switch (what % 8) {
      case 0: try_to([&] { places_.push_back(simulation_.place("o", in_.amount())); }); break;
      case 1: try_to([&] { places_.push_back(simulation_.place("o", in_.amount(), static_cast<int>(in_.amount()))); }); break;
      case 2:
        try_to([&] {
          const library::Address at = address();
          const auto value = static_cast<library::Value>(in_.amount());
          simulation_.preset(at, value, in_.width());
        });
        break;
      case 3: try_to([&] { simulation_.program(static_cast<int>(in_.amount()), {}); }); break;
      default: {
        Step step{.what = in_.next(), .address = address(), .width = 0, .amount = 0};
        step.width = in_.width();
        step.amount = in_.amount();
        steps_.at(what / 8 % steps_.size()).push_back(step);
      }
    }
  }

  library::Address address() {
    const unsigned place = in_.next(), offset = in_.next();
    if (place % 8 == 7) return ~library::Address{offset};
    if (places_.empty()) return offset;
    return places_[place / 8 % places_.size()] + offset - (place % 8 == 6 ? 128 : 0);
  }

  // Kept between executions: reading its files took nine tenths of an execution.
  static std::unique_ptr<library::Simulation> make(const char* machine) {
    static std::map<std::string, sim::MachineFiles> known;
    if (!known.contains(machine)) known.emplace(machine, sim::read_machine_files(machine, ""));
    return library::SimulationMaker::make(known.at(machine));
  }

  Bytes in_;
  std::unique_ptr<library::Simulation> made_;
  library::Simulation& simulation_ = *made_;
  std::vector<library::Address> places_;
  std::array<std::vector<Step>, 4> steps_;  // for each CPU
};

}  // namespace

void call_library(const std::string& bytes) {
  Calls(bytes).run();
}

}  // namespace linebounce::fuzz
