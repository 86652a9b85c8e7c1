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

  // Adds a signal of `bits` bits with the initial value 0, and returns its number. Dots in the name make scopes. REQUIRES:
  // called before run().
  int add_signal(const std::string& name, int bits);
  void comment(const std::string& text);

  // Sets the signal, or adds `by` to it, at time `at`, which may be in the future. The last of several changes at one time
  // stays.
  void set(Tick at, int signal, unsigned value) { change(at, signal, value, 0); }
  void add(Tick at, int signal, int by) { change(at, signal, std::nullopt, by); }

  // Like machine.run(progress), but calls `sample` after each tick; `sample` may set signals. REQUIRES: called once; cores do
  // not run ahead (EngineSpec::run_ahead). Errors: as machine.run(); OutputError if the file can't be written.
  void run(Machine& machine, const std::function<void(double)>& progress, const std::function<void(Tick now)>& sample);

 private:
  struct Change {
    std::size_t signal;
    std::optional<unsigned> value;  // the new value; none: add `by` to the old one
    int by;
  };

  void change(Tick at, int signal, std::optional<unsigned> value, int by);
  void make_changes(Tick until);
  void finish();

  std::filesystem::path path_;
  std::deque<unsigned> values_;          // by signal; a deque, because SystemC keeps pointers to the elements
  std::multimap<Tick, Change> changes_;  // several changes at one time are in the order of the calls
  std::unique_ptr<SignalFile> file_;     // null once it is closed
};

}  // namespace linebounce::sim
