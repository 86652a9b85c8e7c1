// Replays a trace on one machine to measure what false sharing costs there, and which cures help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/advise/sharing_report.hpp"
#include "commands/common/common_options.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct SharingArguments : StudyArguments {
  std::string machine;  // empty: the machine of the recording, else the first default machine
  std::size_t top = 5;  // most proposals to try
  int orders = 3;
};

// None if nothing could be found or the study was interrupted; `code` tells which. Errors: ConfigError, TraceError.
std::optional<SharingReport> find_sharing(const SharingArguments& arguments, const trace::Reader& reader,
                                          const std::vector<std::string>& argv, ExitCode& code);

}  // namespace linebounce::sim
