// Inputs of `layout optimise` and `layout diff`: a structure, and which CPUs access which members.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/commands/command.hpp"
#include "sim/commands/common_options.hpp"
#include "sim/sources/access_table.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {

struct LayoutArguments : StudyArguments {  // `trace`: the accesses, in any form
  std::vector<std::string> machines;
  std::vector<std::string> type_sizes;  // "TYPE=BYTES"
  std::string at;                       // for perf c2c: the object's address
  int threads = 16;
  int orders = 3;
  std::optional<int> line_bytes;
};

// Adds --accesses, --size, --at, --threads, --machine, --orders, --line-bytes, --set, -o, -j and --json.
void add_layout_options(Command& command, LayoutArguments& arguments);

// A trace of the accesses to one structure.
struct LayoutInput {
  std::unique_ptr<trace::Reader> reader;
  std::string structure;             // its name in the trace
  std::optional<AccessTable> table;  // none: a recording
  std::vector<std::string> machines;
  int line_bytes = 64;
  bool aligns = false;  // whether a new layout must say that objects begin at lines

  [[nodiscard]] Layout layout() const;
};

// `given`: the structure, if not the trace or the table has it. Writes the trace of a table or report into the results' folder.
// Errors: ConfigError, TraceError, WriteError.
LayoutInput layout_input(const LayoutArguments& arguments, const std::string& structure, const std::optional<Layout>& given);

// "FILE" or "FILE:STRUCTURE": a layout file, pahole's output, or BTF types. Without a structure, `structure` names it; if that
// is empty, too, the file has only one. Errors: ConfigError.
Layout layout_at(const std::string& place, const std::string& structure);

// The structure from a program's debug information, by `linebounce import`, which writes its layout into the folder. Errors:
// ConfigError.
Layout layout_of_binary(const std::string& binary, const std::string& structure, const std::string& directory);

}  // namespace linebounce::sim
