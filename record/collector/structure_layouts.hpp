// Reads layouts of structures from the debug information of a program or library, without running it.
#pragma once

#include <string>
#include <vector>

namespace linebounce::record {

// Returns the text of a layout file (configs/layouts/README.md) with these structures. A union becomes one field; of a nameless
// union only the largest member is kept. Without `names`, returns all structures. Errors: RecordError if the file can't be
// read, has no debug information, lacks a name (the message lists similar names), or has more than 50 structures and `names` is
// empty.
std::string structure_layouts(const std::string& file, const std::vector<std::string>& names);

}  // namespace linebounce::record
