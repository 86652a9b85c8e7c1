#include "sim/systemc/run.hpp"

#include <cstdlib>
#include <exception>
#include <optional>
#include <systemc>
#include <utility>

#include "models/machine/machine.hpp"
#include "sim/systemc/clock.hpp"

// SystemC's library refers to this function, because it has a main() of its own. The program's main() is linked instead.
extern "C" int sc_main(int, char**) {
  return EXIT_FAILURE;
}

namespace linebounce::sim {
namespace {

// Drives one machine after another. SystemC accepts no further modules once a simulation has started, and can't start another
// one, so there is one driver for the whole process, and SystemC's time goes on from run to run.
class MachineDriver final : public sc_core::sc_module {
 public:
  static MachineDriver& instance() {
    // Never destroyed, because SystemC's own objects may be destroyed before it.
    static auto* const driver = new MachineDriver("machine_driver");
    return *driver;
  }

  void run(Machine& machine, const std::function<void(double)>& progress) {
    machine_ = &machine;
    progress_ = &progress;
    clock_.emplace(machine.timebase());
    slice_due_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();  // returns when no slice is due
    if (failure_) std::rethrow_exception(std::exchange(failure_, {}));
  }

 private:
  explicit MachineDriver(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(MachineDriver);
    SC_METHOD(run_slice);
    sensitive << slice_due_;
    dont_initialize();
  }

  // SystemC would turn an exception into a report of its own, so that it is kept for run().
  void run_slice() {
    const Tick from = machine_->now();
    try {
      if (!machine_->advance(from + machine_->slice(), *progress_)) return;
    } catch (...) {
      failure_ = std::current_exception();
      return;
    }
    slice_due_.notify(clock_->time(machine_->now()) - clock_->time(from));
  }

  sc_core::sc_event slice_due_;
  Machine* machine_ = nullptr;
  const std::function<void(double)>* progress_ = nullptr;
  std::optional<Clock> clock_;
  std::exception_ptr failure_;
};

}  // namespace

void run_in_systemc(Machine& machine, const std::function<void(double)>& progress) {
  MachineDriver::instance().run(machine, progress);
}

}  // namespace linebounce::sim
