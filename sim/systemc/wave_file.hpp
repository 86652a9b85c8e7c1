// A run's waveforms as a VCD file, which waveform viewers such as GTKWave open. SystemC writes it.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "models/units.hpp"

namespace linebounce {
class Machine;
}

namespace linebounce::sim {

class SignalFile;

class WaveFile {
 public:
  // REQUIRES: the name of `file` ends with ".vcd". Errors: ConfigError if SystemC is missing.
  explicit WaveFile(const std::filesystem::path& file);
  ~WaveFile();
  WaveFile(const WaveFile&) = delete;
  WaveFile& operator=(const WaveFile&) = delete;

  // Adds a signal with this many bits and the initial value 0, and returns its number. Dots in the name make scopes.
  // REQUIRES: called before run().
  int add_signal(const std::string& name, int bits);
  void comment(const std::string& text);

  // Sets the signal to a value, or increases it by `by`, at time `at`, which may be in the future. If a signal changes
  // several times at one time, the last change stays.
  void set(Tick at, int signal, unsigned value) { change(at, signal, value, 0); }
  void add(Tick at, int signal, int by) { change(at, signal, std::nullopt, by); }

  // As machine.run(progress), but calls `sample` after each tick, which may set signals. REQUIRES: called once; cores do not
  // run ahead (EngineSpec::run_ahead). Errors: as machine.run(); OutputError if the file can't be written.
  void run(Machine& machine, const std::function<void(double)>& progress, const std::function<void(Tick now)>& sample);

 private:
  struct Change {
    std::size_t signal;
    std::optional<unsigned> value;  // none: increase the old value by `by`
    int by;
  };

  void change(Tick at, int signal, std::optional<unsigned> value, int by);
  void make_changes(Tick until);
  void finish();

  std::filesystem::path path_;
  std::deque<unsigned> values_;          // by signal; in a deque, because SystemC keeps pointers to them
  std::multimap<Tick, Change> changes_;  // changes at the same time are in the order of the calls
  std::unique_ptr<SignalFile> file_;     // null once it is closed
};

}  // namespace linebounce::sim
