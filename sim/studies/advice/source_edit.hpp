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
  std::vector<std::string> cautions;  // facts that the edit can't know
  std::string place;                  // the definition to change, "/src/counters.c:12"; empty: unknown
};

// Edits sources for proposals that belong together. Only plain declarations are edited; all others are refused with the reason.
// `recorded`: the time of the recording; younger sources are not what ran, and are refused. For C and C++ of gcc and clang.
SourceEdit source_edit(const std::vector<LayoutEdit>& edits, const trace::Symbols& symbols, int line_bytes,
                       std::filesystem::file_time_type recorded);

}  // namespace linebounce::sim
