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
  // The name of `file` ends with ".vcd". Errors: ConfigError, without SystemC.
  explicit WaveFile(const std::filesystem::path& file);
  ~WaveFile();
  WaveFile(const WaveFile&) = delete;
  WaveFile& operator=(const WaveFile&) = delete;

  // Adds a signal of so many bits, which is 0 at first. Dots in the name make scopes. Returns its number. REQUIRES: called
  // before run().
  int add_signal(const std::string& name, int bits);
  void comment(const std::string& text);

  // The signal has this value, or one that is larger by `by`, from `at` on. `at` may lie in the future. Of changes at one time,
  // the last one stays.
  void set(Tick at, int signal, unsigned value) { change(at, signal, value, 0); }
  void add(Tick at, int signal, int by) { change(at, signal, std::nullopt, by); }

  // Does the same as machine.run(progress), and calls `sample` after the turns of each tick, to set signals. REQUIRES: called
  // once; cores don't run ahead (EngineSpec::run_ahead). Errors: as machine.run(); OutputError if the file can't be written.
  void run(Machine& machine, const std::function<void(double)>& progress, const std::function<void(Tick now)>& sample);

 private:
  struct Change {
    std::size_t signal;
    std::optional<unsigned> value;  // none: the old one, increased
    int by;
  };

  void change(Tick at, int signal, std::optional<unsigned> value, int by);
  void make_changes(Tick until);
  void finish();

  std::filesystem::path path_;
  std::deque<unsigned> values_;          // by signal; they stay where they are, because SystemC reads them
  std::multimap<Tick, Change> changes_;  // those of one time in the order of calls
  std::unique_ptr<SignalFile> file_;     // null once it is closed
};

}  // namespace linebounce::sim
