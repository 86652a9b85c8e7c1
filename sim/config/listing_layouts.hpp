// Layouts from other tools' listings of structures, and from BTF (types/listing.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/layout_file.hpp"

namespace linebounce::sim {

// Whether a file's content is a listing or BTF; `file`: its extension may say so as well.
bool is_listing(const std::string& bytes, const std::filesystem::path& file);

// Errors: ConfigError if the listing is cut off, or has no structure that can be read.
LayoutFile read_listing_layouts(const std::string& bytes, const std::filesystem::path& file, const LayoutChoice& choice);

// Whether the program, library or kernel has BTF and no other debug information.
bool has_only_btf(const std::filesystem::path& elf_file);

// The structures in the BTF of an ELF file. Errors: ConfigError if it has none.
LayoutFile read_btf_layouts(const std::filesystem::path& elf_file, const LayoutChoice& choice);

}  // namespace linebounce::sim
