#include "sim/systemc/wave_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "models/machine/machine.hpp"
#include "sim/results/result_files.hpp"
#include "sim/systemc/run.hpp"
#include "sim/systemc/systemc_kernel.hpp"

namespace linebounce::sim {

WaveFile::WaveFile(const std::filesystem::path& file)
    : path_(file), file_(systemc_kernel().open_vcd(std::filesystem::path(file).replace_extension().string())) {}
WaveFile::~WaveFile() = default;

int WaveFile::add_signal(const std::string& name, int bits) {
  values_.push_back(0);
  file_->trace(values_.back(), name, bits);
  return static_cast<int>(values_.size()) - 1;
}

void WaveFile::comment(const std::string& text) {
  file_->comment(text);
}

void WaveFile::change(Tick at, int signal, std::optional<unsigned> value, int by) {
  changes_.emplace(at, Change{static_cast<std::size_t>(signal), value, by});
}

void WaveFile::make_changes(Tick until) {
  while (!changes_.empty() && changes_.begin()->first <= until) {
    const Change change = changes_.extract(changes_.begin()).mapped();
    unsigned& value = values_[change.signal];
    value = change.value.value_or(value + static_cast<unsigned>(change.by));
  }
}

void WaveFile::run(Machine& machine, const std::function<void(double)>& progress, const std::function<void(Tick)>& sample) {
  bool over = false;
  systemc_kernel().run(machine.timebase(), [&](Tick now) -> std::optional<Tick> {
    if (!over) over = !machine.advance(now + 1, progress);
    sample(now);
    make_changes(now);
    const Tick next = std::min(over ? kNever : machine.next_turn(), changes_.empty() ? kNever : changes_.begin()->first);
    return next == kNever ? std::nullopt : std::optional(next);
  });
  finish();
}

// Checks for a full disk, which SystemC does not report.
void WaveFile::finish() {
  file_.reset();
  std::ofstream last(path_, std::ios::app);
  last << "$comment end $end\n";
  last.close();
  if (!last) throw OutputError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
}

}  // namespace linebounce::sim
