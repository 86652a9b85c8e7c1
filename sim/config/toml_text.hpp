// TOML as text: parsing with errors in our form, and writing.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>

namespace linebounce::sim {

// Parses a file's text; messages call it `file`. Errors: ConfigError for bad syntax, a duplicate key, a text that is empty,
// binary or nested too deeply (toml_depth.hpp).
toml::table parse_toml(const std::string& text, const std::string& file);

// Writes a table so that parsing gives it back: plain values first, then tables, each sorted by key. Floats get the fewest
// digits that give the same number. REQUIRES: no dates, and only arrays of plain values or of tables.
std::string to_toml(const toml::table& table);

// "FILE:LINE:COLUMN", or "FILE" for a node that was not parsed. FILE is the file that defines the node, which may be one that
// the experiment extends.
std::string place_of(const std::string& file, const toml::source_region& source);

// The file that contains a node; `file` if the node was not parsed.
std::filesystem::path file_of(const std::string& file, const toml::node& node);

// "a string (\"fast\")", "an integer (4)", "a table": names the value found in place of an expected one.
std::string describe_node(const toml::node& node);

}  // namespace linebounce::sim
