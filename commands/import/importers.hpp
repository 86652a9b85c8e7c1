// The importers of `linebounce import`, one for each kind of form.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "forms/forms.hpp"
#include "forms/machine_topology.hpp"
#include "forms/numa.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/plan/exit_code.hpp"
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
  std::string family;                   // of machines: the contention family; empty: that of the processor that a file names
  std::string os_nodes;                 // of machines: the operating system's nodes; empty: the machine's own
  std::vector<std::string> structures;  // the structures to import from a layout; empty: all
  std::string base;                     // for BTF of a kernel module: the file with its kernel's; empty: none
  std::string layout;   // for cache lines: a file with the layout of the structure that they contain; empty: none
  std::string at;       // for cache lines: the structure's address, in hexadecimal; empty: the first line's
  std::string model;    // for litmus tests: the memory model that judges them; empty: the one that they were written for
  bool anyway = false;  // of machines: write one even if a kind of pairs is far off
  std::string format = "text";

  // Formats the printed result.
  [[nodiscard]] Painter painter() const {
    return format == "markdown" ? painter_for_stdout().for_markdown() : painter_for_stdout();
  }
};

// The path after -o; otherwise the first file's name with this extension. Errors: ConfigError if that file is also an input.
std::filesystem::path output_of(const ImportArguments& arguments, const std::string& extension);

// The structures in a listing, BTF, a layout file or a binary's debug information. `as`: the form that the user has stated;
// empty: by the file's content. Errors: ConfigError, trace::TraceError.
LayoutFile layouts_in(const std::string& file, const LayoutChoice& choice, const std::string& as = "");

// Each importer prints what it wrote, and which data were lost or are doubtful.
ExitCode import_trace(const ImportArguments& arguments, const Form& form);
ExitCode import_locks(const ImportArguments& arguments, const Form& form);
ExitCode import_machine(const ImportArguments& arguments, const Form& form);
// Combines one file with a machine's structure and one with its latencies. `forms`: the form of each file. Errors: ConfigError
// for any other pair.
ExitCode import_machine_parts(const ImportArguments& arguments, const std::vector<const Form*>& forms);
// `file`: has the form numa. `structure`: cores and caches from another file; may be none.
ExitCode import_numa(const ImportArguments& arguments, const std::string& file,
                     const std::optional<MachineTopology>& structure);
// `tables`: the nodes in `file`, of any form. `loaded`: latencies under load, which are kept as a prediction.
ExitCode import_nodes(const ImportArguments& arguments, const NumaTables& tables, const std::string& file,
                      const std::optional<MachineTopology>& structure, const std::vector<LoadedLatency>& loaded = {});
ExitCode import_layout(const ImportArguments& arguments, const Form& form);
ExitCode import_lines(const ImportArguments& arguments, const Form& form);
ExitCode import_litmus(const ImportArguments& arguments, const Form& form);

}  // namespace linebounce::sim
