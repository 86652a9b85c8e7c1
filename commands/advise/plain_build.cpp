#include "commands/advise/plain_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "commands/advise/child_process.hpp"
#include "models/text/shell_word.hpp"
#include "models/text/visible.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/own_directory.hpp"
#include "trace/losses.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOption = "--plain";

// The recorded command line with the plain program in the recorded one's place. Errors: ConfigError.
std::vector<std::string> plain_command(const std::string& program, const trace::Summary& summary) {
  auto words = words_of_shell_line(summary.program);
  if (!words || words->empty())
    throw ConfigError(fmt::format("{}: the recorded command line does not have the form that linebounce-record writes: {}",
                                  kOption, summary.program));
  words->front() = fs::absolute(program).string();
  return *words;
}

double processor_us(const std::vector<std::string>& command, const fs::path& log) {
  const EndedProcess ended = run_in(fs::current_path(), command, log, kOption);
  constexpr int kNotRun = 127;
  if (ended.code == kNotRun)
    throw ConfigError(fmt::format("{}: {} cannot be run (see {})", kOption, command.front(), log.string()));
  return ended.processor_us;
}

// The processor time of starting a process, which is not in the recording.
double starting_us(const fs::path& log) {
  constexpr int kRuns = 5;
  double least = processor_us({"true"}, log);
  for (int i = 1; i < kRuns; ++i) least = std::min(least, processor_us({"true"}, log));
  return least;
}

// The processor's name, as linebounce-probe has it.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return {};
}

std::set<std::string> functions_in(const trace::Reader& trace) {
  std::set<std::string> names;
  for (const trace::Function& function : trace.symbols().functions) names.insert(function.name);
  return names;
}

// The instructions of each of these functions, those that access memory and those of other functions that it calls included.
std::map<std::string, double> instructions_of(const trace::Reader& trace, const std::set<std::string>& functions) {
  std::map<std::string, double> instructions;
  const trace::Symbols& symbols = trace.symbols();
  for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) {
    std::vector<const std::string*> callers;  // the innermost of the functions, in each of the thread's frames
    trace::Reader::Cursor cursor = trace.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const trace::Operation& it : frame) {
        if (it.kind == trace::Kind::enter) {
          const std::string& name = symbols.functions[it.id].name;
          callers.push_back(functions.contains(name) ? &name : callers.empty() ? nullptr : callers.back());
        }
        if (it.kind == trace::Kind::leave && !callers.empty()) callers.pop_back();
        const double count = it.kind == trace::Kind::execute ? static_cast<double>(it.argument)
                             : it.is_memory()                ? 1.0 + it.repeats()
                                                             : 0;
        if (count > 0 && !callers.empty() && callers.back() != nullptr) instructions[*callers.back()] += count;
      }
    }
  }
  return instructions;
}

}  // namespace

bool Explained::tells_sizes() const {
  constexpr double kMost = 1.5;
  return low <= kMost && high >= 1 / kMost;
}

void require_plain_comparable(const trace::Reader& trace) {
  const trace::Summary& summary = trace.summary();
  if (!trace::has_recorded_instructions(summary))
    throw ConfigError(fmt::format("{}: {} has no computation: record the program {}", kOption, trace.file().string(),
                                  trace::is_untimed(summary) ? "without --untimed" : "by linebounce-record of this version"));
  if (summary.recorder != trace::kProgramRecorder && summary.recorder != fmt::format("{} --spread", trace::kProgramRecorder))
    throw ConfigError(fmt::format("{}: the trace has to be of a whole run of what linebounce-cc compiled, and was made by: {}",
                                  kOption, summary.recorder));
}

void confirm_plain(const std::string& program, const trace::Reader& trace) {
  const std::string line = visible_name(shell_line(plain_command(program, trace.summary())));
  confirm_running(kOption, fmt::format("--plain runs, here:\n  {}\nIts arguments are the trace's. Run it?", line), line);
}

bool is_this_computer(const std::string& machine_title) {
  const std::string name = processor_name();
  return !name.empty() && machine_title.starts_with(name + ", calibrated to ");
}

PlainRuns run_plain(const std::string& program, const trace::Reader& trace, const fs::path& directory) {
  constexpr int kRuns = 3;
  constexpr double kShortest_us = 5000;
  make_own_directory(directory);
  const std::vector<std::string> command = plain_command(program, trace.summary());
  const double start = starting_us(directory / "start.log");
  std::vector<double> runs;
  for (int i = 0; i < kRuns; ++i) runs.push_back(processor_us(command, directory / "run.log") - start);
  const auto [least, most] = std::ranges::minmax(runs);
  if (least < kShortest_us)
    throw ConfigError(fmt::format("{}: {} computes for {:.1f} ms, which is too short to compare; give it more work", kOption,
                                  program, std::max(least, 0.0) / 1000));
  return {.program = program, .least_us = least, .most_us = most};
}

Explained explained_by(const TimeAccount& account, const PlainRuns& runs) {
  double at_locks = 0, busy = 0;
  for (const TimeShare& share : account.shares) {
    const double us = account.all_us * account.pct(share.ticks) / 100;
    if (share.what == TimeClass::lock) {
      at_locks += us;
    } else if (share.what != TimeClass::waiting && share.what != TimeClass::joining) {
      busy += us;
    }
  }
  return {.machine = account.machine, .runs = runs, .low = busy / runs.most_us, .high = (busy + at_locks) / runs.least_us};
}

fs::path record_plain(const std::string& program, const trace::Reader& trace, const fs::path& directory) {
  const fs::path file = directory / "plain.lbt", log = directory / "record.log";
  fs::remove(file);
  std::vector<std::string> command = {(program_directory() / "linebounce-record").string(), "--binary", "-o",
                                      fs::absolute(file).string(), "--"};
  const std::vector<std::string> plain = plain_command(program, trace.summary());
  command.insert(command.end(), plain.begin(), plain.end());
  run_in(fs::current_path(), command, log, kOption);
  if (!fs::exists(file))
    throw ConfigError(fmt::format("{}: the instructions of {} could not be counted (see {})", kOption, program, log.string()));
  return file;
}

std::vector<OddFunction> odd_functions(const trace::Reader& recorded, const trace::Reader& plain, const CpuSpec& cpu) {
  // A build has no calls of functions that it has inlined, nor has the recorder of those that do not access memory.
  std::set<std::string> both = functions_in(recorded);
  std::erase_if(both, [of_plain = functions_in(plain)](const std::string& name) { return !of_plain.contains(name); });
  std::map<std::string, double> measured = instructions_of(recorded, both);
  const std::map<std::string, double> counted = instructions_of(plain, both);
  double all = 0;
  for (const auto& [name, instructions] : counted) all += instructions;
  std::vector<OddFunction> odd;
  for (const auto& [name, instructions] : counted) {
    if (100 * instructions < all) continue;
    const double cycles = trace::kCyclesOfInstruction * measured[name] / instructions;
    if (cycles < cpu.least_cycles_per_instruction || cycles > cpu.most_cycles_per_instruction)
      odd.push_back({.name = name, .pct = 100 * instructions / all, .cycles = cycles});
  }
  std::ranges::sort(odd, std::ranges::greater{}, &OddFunction::pct);
  return odd;
}

std::string sentence(const Explained& explained) {
  const std::string times = fmt::format("{:.2g} to {:.2g} times", explained.low, explained.high);
  return fmt::format("On {}, which describes this computer, the replay explains {} the processor time of {} ({:.1f} ms){}.",
                     explained.machine, times, explained.runs.program, explained.runs.least_us / 1000,
                     explained.tells_sizes() ? "" : ": too little or too much to say sizes, so only their order is shown");
}

std::string sentence(const OddFunction& odd) {
  return fmt::format(
      "In {}, with {:.0f} % of the plain build's instructions, each would take {:.2g} cycles: its loops differ between the two "
      "builds, or {}.",
      odd.name, odd.pct, odd.cycles,
      odd.cycles < 1 ? "what it computes at a time is too short to be measured" : "it waits for memory");
}

}  // namespace linebounce::sim
