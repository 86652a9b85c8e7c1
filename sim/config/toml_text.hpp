// Parses and writes TOML, with errors in Linebounce's form.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>

namespace linebounce::sim {

// Parses a file's text. `file`: the text's name in messages. Errors: ConfigError for bad syntax, a duplicate key, a text that
// is empty or binary, or keys and values that nest too deeply.
toml::table parse_toml(const std::string& text, const std::string& file);

// Writes a table so that parsing it gives the same table: plain values first, then tables, each sorted by key. Floats get the
// fewest digits that identify the number. REQUIRES: no dates; arrays contain only plain values, or only tables.
std::string to_toml(const toml::table& table);

// Returns "FILE:LINE:COLUMN", or "FILE" for a node that was not parsed. FILE is the file that defines the node, which may be
// one that the experiment extends.
std::string place_of(const std::string& file, const toml::source_region& source);

// The file that contains a node; `file` if the node was not parsed.
std::filesystem::path file_of(const std::string& file, const toml::node& node);

// Describes the node that was found, for a message: "a string (\"fast\")", "an integer (4)", "a table".
std::string describe_node(const toml::node& node);

}  // namespace linebounce::sim
