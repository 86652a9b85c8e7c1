// Layouts of structures by name, from the debug information of a program or library that need not run.
#pragma once

#include <string>
#include <vector>

namespace linebounce::record {

// The text of a layout file (configs/layouts/README.md) with these structures. A union is one field, and of a nameless union
// only the largest member. Errors: RecordError for a file that can't be read, has no debug information, or lacks one of the
// names; without names, for a file that has more than 50 structures. It lists those with similar names.
std::string structure_layouts(const std::string& file, const std::vector<std::string>& names);

}  // namespace linebounce::record
