// A proposal as an edit of the source that the recorded program was made from.
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
  std::vector<SourceText> files;      // that change; empty: there is no edit
  std::string why_not;                // empty: there is one
  std::vector<std::string> cautions;  // what the edit can't know
  std::string place;                  // "/src/counters.c:12", of the definition to change; empty: not known
};

// Of proposals that go together. Only what is plainly declared is edited; all else is refused with the reason. `recorded`:
// sources that are younger are not what ran, and are left alone. C and C++ of gcc and clang.
SourceEdit source_edit(const std::vector<LayoutEdit>& edits, const trace::Symbols& symbols, int line_bytes,
                       std::filesystem::file_time_type recorded);

}  // namespace linebounce::sim
