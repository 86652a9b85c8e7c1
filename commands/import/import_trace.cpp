#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include "commands/import/importers.hpp"
#include "forms/recognised.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "trace/files.hpp"

namespace linebounce::sim {

ExitCode import_trace(const ImportArguments& arguments, const Form& form) {
  const std::filesystem::path out = output_of(arguments, ".lbt");
  if (!arguments.out.empty()) trace::require_trace_name("--output", out);
  UnfinishedFile file(out);
  const Losses losses = convert_files(form, {arguments.files.begin(), arguments.files.end()}, file.path());
  file.finish();
  std::cout << fmt::format("  {}  of {}: {}\n", out.string(), fmt::join(arguments.files, ", "), form.name)
            << losses_text(losses, arguments.painter());
  return ExitCode::done;
}

}  // namespace linebounce::sim
