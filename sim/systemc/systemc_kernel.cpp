#include "sim/systemc/systemc_kernel.hpp"

#include <cstdlib>
#include <exception>
#include <systemc>
#include <utility>

#include "sim/systemc/clock.hpp"

// SystemC's library contains a main() that calls this. The program does not use it, but the symbol must exist.
extern "C" int sc_main(int, char**) {
  return EXIT_FAILURE;
}

namespace linebounce::sim {
namespace {

class VcdFile final : public SignalFile {
 public:
  explicit VcdFile(const std::string& path) : file_(sc_core::sc_create_vcd_trace_file(path.c_str())) {
    file_->set_time_unit(1, sc_core::SC_PS);
  }
  ~VcdFile() override { sc_core::sc_close_vcd_trace_file(file_); }
  VcdFile(const VcdFile&) = delete;
  VcdFile& operator=(const VcdFile&) = delete;

  void trace(const unsigned& value, const std::string& name, int bits) override { sc_core::sc_trace(file_, value, name, bits); }
  void comment(const std::string& text) override { file_->write_comment(text); }

 private:
  sc_core::sc_trace_file* file_;
};

// The only module, which all runs share: SystemC accepts no modules once a simulation has started, and can't start a second
// one.
class Driver final : public sc_core::sc_module, public SystemCKernel {
 public:
  explicit Driver(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Driver);
    SC_METHOD(take_turn);
    sensitive << due_;
    dont_initialize();
  }

  void run(const Timebase& timebase, const Turn& turn) override {
    turn_ = &turn;
    now_ = 0;
    clock_.emplace(timebase);
    due_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();  // returns when no turn is scheduled any more
    if (failure_) std::rethrow_exception(std::exchange(failure_, {}));
  }
  std::unique_ptr<SignalFile> open_vcd(const std::string& path) override { return std::make_unique<VcdFile>(path); }

 private:
  // Keeps an exception for run(): SystemC would turn it into an sc_report.
  void take_turn() {
    std::optional<Tick> next;
    try {
      next = (*turn_)(now_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    if (!next) return;
    due_.notify(clock_->time(*next) - clock_->time(now_));
    now_ = *next;
  }

  sc_core::sc_event due_;
  const Turn* turn_ = nullptr;
  std::optional<Clock> clock_;
  Tick now_ = 0;
  std::exception_ptr failure_;
};

}  // namespace
}  // namespace linebounce::sim

extern "C" linebounce::sim::SystemCKernel* linebounce_systemc_kernel() {
  // Never destroyed, because SystemC's own static objects may be destroyed first.
  static auto* const driver = new linebounce::sim::Driver("machine_driver");
  return driver;
}
