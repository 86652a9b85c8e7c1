// What `linebounce import` makes of a recognised file: a function for each kind of form.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/exit_code.hpp"
#include "sim/sources/forms.hpp"

namespace linebounce::sim {

struct ImportArguments {
  std::vector<std::string> files;
  std::string as;
  std::string out;
  std::optional<double> seconds;
  std::optional<int> cpus;
  std::optional<int> mhz;
};

// Of processors whose clock is not told.
inline constexpr int kImportMhz = 3000;

// -o, or the first file's name with this extension. Errors: ConfigError if that is a file that is read.
std::filesystem::path output_of(const ImportArguments& arguments, const std::string& extension);

// Each prints what it has made, and what of the data was lost or is in doubt.
ExitCode import_trace(const ImportArguments& arguments, const Form& form);
ExitCode import_locks(const ImportArguments& arguments, const Form& form);
ExitCode import_machine(const ImportArguments& arguments, const Form& form);
// Of two files: one tells the structure, the other the latencies. `forms` by file. Errors: ConfigError for another two.
ExitCode import_machine_parts(const ImportArguments& arguments, const std::vector<const Form*>& forms);
ExitCode import_layout(const ImportArguments& arguments, const Form& form);
ExitCode import_lines(const ImportArguments& arguments, const Form& form);
ExitCode import_litmus(const ImportArguments& arguments, const Form& form);

}  // namespace linebounce::sim
