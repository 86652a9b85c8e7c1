// TOML as text: parsing with errors in our form, and writing.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>

namespace linebounce::sim {

// Parses a file's text; `file` is what messages call it. Errors: ConfigError for bad syntax, a duplicate key, an empty text,
// one that is no text at all, or one that nests too deeply (toml_depth.hpp).
toml::table parse_toml(const std::string& text, const std::string& file);

// Writes a table so that it reads back the same: plain values first, then tables, each sorted by key; floats in the fewest
// digits that give the same number. REQUIRES: no dates, and arrays of plain values or of tables only.
std::string to_toml(const toml::table& table);

// "FILE:LINE:COLUMN", or "FILE" for a node that was not parsed. A node that comes from another file than the one that is being
// read, by `extends`, knows which one.
std::string place_of(const std::string& file, const toml::source_region& source);

// The file that a node stands in; `file` if it was not parsed.
std::filesystem::path file_of(const std::string& file, const toml::node& node);

// "a string (\"fast\")", "an integer (4)", "a table": what stands where something else was expected.
std::string describe_node(const toml::node& node);

}  // namespace linebounce::sim
