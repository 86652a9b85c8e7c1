// The importers of `linebounce import`, one for each kind of form.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/layout_file.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/sources/forms.hpp"
#include "sim/sources/machine_topology.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct ImportArguments {
  std::vector<std::string> files;
  std::string folder;  // the folder that contains `files`; empty: the user named the files
  std::string as;
  std::string out;
  std::optional<double> seconds;
  std::optional<int> cpus;
  std::optional<int> mhz;
  std::vector<std::string> structures;  // the structures to import from a layout; empty: all
  std::string layout;                   // for cache lines: the file with the layout of the structure in them; empty: none
  std::string at;                       // for cache lines: where the structure begins, in hexadecimal; empty: at the first line
  std::string format = "text";

  // How the result is printed.
  [[nodiscard]] Painter painter() const {
    return format == "markdown" ? painter_for_stdout().for_markdown() : painter_for_stdout();
  }
};

// The path after -o; otherwise the first file's name with this extension. Errors: ConfigError if that file is also an input.
std::filesystem::path output_of(const ImportArguments& arguments, const std::string& extension);

// The structures of a listing, of BTF types, of a layout file or of a binary's debug information; `wanted`: only these. Errors:
// ConfigError, trace::TraceError.
LayoutFile layouts_in(const std::string& file, const std::vector<std::string>& wanted);

// Each prints what it wrote, and which parts of the data were lost or are doubtful.
ExitCode import_trace(const ImportArguments& arguments, const Form& form);
ExitCode import_locks(const ImportArguments& arguments, const Form& form);
ExitCode import_machine(const ImportArguments& arguments, const Form& form);
// Combines two files: one with the structure, one with the latencies. `forms`: by file. Errors: ConfigError for any other pair.
ExitCode import_machine_parts(const ImportArguments& arguments, const std::vector<const Form*>& forms);
// `file`: of the form numa. `structure`: another file's, with cores and caches.
ExitCode import_numa(const ImportArguments& arguments, const std::string& file,
                     const std::optional<MachineTopology>& structure);
ExitCode import_layout(const ImportArguments& arguments, const Form& form);
ExitCode import_lines(const ImportArguments& arguments, const Form& form);
ExitCode import_litmus(const ImportArguments& arguments, const Form& form);

}  // namespace linebounce::sim
