// Applies proposals to the sources of the recorded program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands/advise/proposals.hpp"
#include "commands/advise/source_text.hpp"

namespace linebounce::sim {

struct EditedSource {
  std::filesystem::path path;
  std::string text;
};

struct SourceEdit {
  std::vector<SourceText> files;      // the edited files; empty if no edit is possible
  std::string why_not;                // why no edit is possible; empty if one is
  std::vector<std::string> cautions;  // what the edit may break; the programmer must check it
  std::string place;                  // the definition to change, "/src/counters.c:12"; empty: unknown
};

// Edits the sources for proposals that belong together. Edits only plain declarations; for any other code, `why_not` has the
// reason. `recorded`: the recording's time. Refuses sources that were changed later, because the recorded program was not
// built from them. Supports C and C++ for gcc and clang.
SourceEdit source_edit(const std::vector<LayoutEdit>& edits, const trace::Symbols& symbols, int line_bytes,
                       std::filesystem::file_time_type recorded);

}  // namespace linebounce::sim
