#include "sim/systemc/wave_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <map>
#include <optional>
#include <systemc>
#include <utility>

#include "models/machine/machine.hpp"
#include "sim/results/result_files.hpp"
#include "sim/systemc/clock.hpp"

namespace linebounce::sim {

class WaveFile::Module final : public sc_core::sc_module {
 public:
  explicit Module(const std::filesystem::path& file) : Module(sc_core::sc_module_name("waves"), file) {}
  ~Module() override {
    if (file_ != nullptr) sc_core::sc_close_vcd_trace_file(file_);
  }

  int add_signal(const std::string& name, int bits) {
    values_.push_back(0);
    sc_core::sc_trace(file_, values_.back(), name, bits);
    return static_cast<int>(values_.size()) - 1;
  }
  void comment(const std::string& text) { file_->write_comment(text); }
  void change(Tick at, int signal, std::optional<unsigned> value, int by) {
    changes_.emplace(at, Change{static_cast<std::size_t>(signal), value, by});
  }

  void run(Machine& machine, const std::function<void(double)>& progress, const std::function<void(Tick)>& sample) {
    machine_ = &machine;
    progress_ = &progress;
    sample_ = &sample;
    clock_.emplace(machine.timebase());
    due_.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();  // returns when nothing is due
    if (failure_) std::rethrow_exception(std::exchange(failure_, {}));
    finish();
  }

 private:
  struct Change {
    std::size_t signal;
    std::optional<unsigned> value;  // none: the old one, increased
    int by;
  };

  Module(const sc_core::sc_module_name& name, const std::filesystem::path& file)
      : sc_module(name),
        path_(file),
        file_(sc_core::sc_create_vcd_trace_file(std::filesystem::path(file).replace_extension().c_str())) {
    file_->set_time_unit(1, sc_core::SC_PS);
    SC_HAS_PROCESS(Module);
    SC_METHOD(run_tick);
    sensitive << due_;
    dont_initialize();
  }

  // SystemC says nothing of a disk that is full, so that the last words are ours.
  void finish() {
    sc_core::sc_close_vcd_trace_file(std::exchange(file_, nullptr));
    std::ofstream last(path_, std::ios::app);
    last << "$comment end $end\n";
    last.close();
    if (!last) throw OutputError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
  }

  // SystemC would turn an exception into a report of its own, so that it is kept for run().
  void run_tick() {
    try {
      if (!over_) over_ = !machine_->advance(tick_ + 1, *progress_);
      (*sample_)(tick_);
    } catch (...) {
      failure_ = std::current_exception();
      return;
    }
    while (!changes_.empty() && changes_.begin()->first <= tick_) {
      const Change change = changes_.extract(changes_.begin()).mapped();
      unsigned& value = values_[change.signal];
      value = change.value.value_or(value + static_cast<unsigned>(change.by));
    }
    const Tick next = std::min(over_ ? kNever : machine_->next_turn(), changes_.empty() ? kNever : changes_.begin()->first);
    if (next == kNever) return;
    tick_ = next;
    due_.notify(clock_->time(tick_) - sc_core::sc_time_stamp());
  }

  sc_core::sc_event due_;
  std::filesystem::path path_;
  sc_core::sc_trace_file* file_;         // null once it is closed
  std::deque<unsigned> values_;          // by signal; they stay where they are, because SystemC reads them
  std::multimap<Tick, Change> changes_;  // those of one time in the order of calls
  Machine* machine_ = nullptr;
  const std::function<void(double)>* progress_ = nullptr;
  const std::function<void(Tick)>* sample_ = nullptr;
  std::optional<Clock> clock_;
  Tick tick_ = 0;
  bool over_ = false;
  std::exception_ptr failure_;
};

WaveFile::WaveFile(const std::filesystem::path& file) : module_(std::make_unique<Module>(file)) {}
WaveFile::~WaveFile() = default;

int WaveFile::add_signal(const std::string& name, int bits) {
  return module_->add_signal(name, bits);
}
void WaveFile::comment(const std::string& text) {
  module_->comment(text);
}
void WaveFile::set(Tick at, int signal, unsigned value) {
  module_->change(at, signal, value, 0);
}
void WaveFile::add(Tick at, int signal, int by) {
  module_->change(at, signal, std::nullopt, by);
}
void WaveFile::run(Machine& machine, const std::function<void(double)>& progress, const std::function<void(Tick)>& sample) {
  module_->run(machine, progress, sample);
}

}  // namespace linebounce::sim
