// Inputs of `layout optimise` and `layout diff`: a structure, and a trace of which CPUs access which members.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "forms/access_table.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct LayoutArguments : StudyArguments {  // `trace` may also be a table of accesses or a perf c2c report.
  std::vector<std::string> machines;
  std::vector<std::string> type_sizes;  // "TYPE=BYTES"
  std::string at;                       // for perf c2c: the object's address
  int threads = 16;
  int orders = 3;
  std::optional<int> line_bytes;
};

// Adds --accesses, --size, --at, --threads, --machine, --orders, --line-bytes, --set, -o, -j and --json.
void add_layout_options(Command& command, LayoutArguments& arguments);

// A trace of accesses to one structure, and how it was obtained.
struct LayoutInput {
  std::unique_ptr<trace::Reader> reader;
  std::string structure;             // the structure's name in the trace
  std::optional<AccessTable> table;  // none: a recording
  std::vector<std::string> machines;
  int line_bytes = 64;
  bool aligns = false;  // true if a new layout must state in its file that objects begin at lines

  [[nodiscard]] Layout layout() const;
};

// Reads the trace, or converts a table or a report into a trace in the results folder. `given`: the structure to use in place
// of the one in the trace or table. Errors: ConfigError, TraceError, WriteError.
LayoutInput layout_input(const LayoutArguments& arguments, const std::string& structure, const std::optional<Layout>& given);

// Errors: TraceError if the layout has bytes that nothing explains: a member that is not known may lie there, so a result about
// the members is worth nothing.
void refuse_unexplained(const Layout& layout);

// Reads "FILE" or "FILE:STRUCTURE"; FILE is a layout file, pahole's output, or BTF types. Without ":STRUCTURE", uses the name
// in `structure`. If that is empty too, the file must have exactly one structure. `base`: a file with the BTF of the kernel,
// for BTF of one of its modules; empty: none. Errors: ConfigError; TraceError if the structure is there but can't be read.
Layout layout_at(const std::string& place, const std::string& structure, const std::string& base = {});

// Runs `linebounce import`, which writes the structure's layout from the program's debug information into `directory`; then
// reads it. Errors: ConfigError.
Layout layout_of_binary(const std::string& binary, const std::string& structure, const std::string& base,
                        const std::string& directory);

}  // namespace linebounce::sim
