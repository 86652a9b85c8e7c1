// Applies a proposal to the source from which the recorded program was built.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/studies/advice/proposals.hpp"
#include "sim/studies/advice/source_text.hpp"

namespace linebounce::sim {

struct EditedSource {
  std::filesystem::path path;
  std::string text;
};

struct SourceEdit {
  std::vector<SourceText> files;      // the edited files; empty: there is no edit
  std::string why_not;                // the reason, if there is no edit
  std::vector<std::string> cautions;  // what the edit may break, and cannot check itself
  std::string place;                  // the definition to change, "/src/counters.c:12"; empty: unknown
};

// Edits the sources for proposals that belong together. Only plain declarations are edited; any other code is refused, with
// the reason. `recorded`: when the recording was made; sources that are newer are refused, because they are not what ran.
// Supports C and C++ for gcc and clang.
SourceEdit source_edit(const std::vector<LayoutEdit>& edits, const trace::Symbols& symbols, int line_bytes,
                       std::filesystem::file_time_type recorded);

}  // namespace linebounce::sim
