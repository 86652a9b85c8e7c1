// The program compiled without linebounce-cc, as a check of its recording: how long it takes, and which instructions it
// executes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/advise/time_account.hpp"
#include "models/cpu_spec.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

// Some runs of the plain program.
struct PlainRuns {
  std::string program;
  double least_us = 0, most_us = 0;  // processor time, without that of starting a process
};

// How much of the plain program's processor time a replay explains.
struct Explained {
  std::string machine;
  PlainRuns runs;
  // The replay's processor time, in times of the plain program's. Whether a thread that waits for a lock spins or sleeps is not
  // known: the first leaves the time at locks out.
  double low = 0, high = 0;

  // Whether the two agree by a factor of 1.5. Otherwise nothing is known of sizes.
  [[nodiscard]] bool tells_sizes() const;
};

// A function whose recorded time does not fit the instructions that the plain program executes there.
struct OddFunction {
  std::string name;
  double pct = 0;     // of the plain program's instructions
  double cycles = 0;  // that each of them would take
};

// Errors: ConfigError if the trace was not made by linebounce-record of a program that linebounce-cc had compiled, or is a part
// of a run.
void require_plain_comparable(const trace::Reader& trace);

// Asks on the terminal, as confirm_recheck() does.
void confirm_plain(const std::string& program, const trace::Reader& trace);

// Whether the machine was calibrated on the computer that this process runs on, by the name of its processor.
bool is_this_computer(const std::string& machine_title);

// Runs the program three times, with the recorded arguments. Its output goes into the folder. Errors: ConfigError, also if it
// runs for too short a time to say anything.
PlainRuns run_plain(const std::string& program, const trace::Reader& trace, const std::filesystem::path& directory);

Explained explained_by(const TimeAccount& account, const PlainRuns& runs);

// Records the plain program as it is (linebounce-record --binary). Returns the new trace. Errors: ConfigError.
std::filesystem::path record_plain(const std::string& program, const trace::Reader& trace,
                                   const std::filesystem::path& directory);

// Of the functions with at least 1 % of the plain program's instructions, those that would take fewer or more cycles for each
// than `cpu` allows: the compiler has made other loops of them for the recording, or they wait for memory.
std::vector<OddFunction> odd_functions(const trace::Reader& recorded, const trace::Reader& plain, const CpuSpec& cpu);

// A sentence each.
std::string sentence(const Explained& explained);
std::string sentence(const OddFunction& odd);

}  // namespace linebounce::sim
