// Exercises: accesses as they are typed, in a file or on the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/course/bus_options.hpp"
#include "commands/course/state_table.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {

struct Exercise {
  std::string text;
  std::string file;  // empty: the text of --accesses
};

// The exercise that stands in the place of a trace: --accesses, or a file `input` of such accesses, in which # and // begin
// comments. With a trace's options, a file is one if at least half of its lines are accesses. None if `input` is something
// else, or has more files beside it. Errors: UsageError if both or neither are given.
std::optional<Exercise> exercise_of(const TraceOptions& options, const std::string& input,
                                    const std::vector<std::string>& more_files);

// Its accesses. Errors: as for typed_accesses(), and of a file with the line.
std::vector<NamedAccess> accesses_of(const Exercise& exercise, int line_bytes);

// Throws what typed_accesses() has refused; of a file, with the line.
[[noreturn]] void refuse_exercise(const Exercise& exercise, const ConfigError& refused);

}  // namespace linebounce::sim
