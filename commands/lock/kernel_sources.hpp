// Copies files of a kernel's source tree, and applies a patch to them. Tree, archive and patch may come from strangers: nothing
// is written outside the folder, and no link is made in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace linebounce::sim {

// Copies these files, paths in the kernel's tree, into the folder `to`. `kernel`: a source tree or an archive of one. Errors:
// InputError if a file is missing, is no regular file, or if all of them exceed the limits, which it states; ConfigError
// without the program tar.
void copy_kernel_files(const std::filesystem::path& kernel, const std::vector<std::string>& files,
                       const std::filesystem::path& to);

// Applies a unified patch, whose names begin with one folder to be left out (patch -p1), to the files in `to`. Errors:
// ConfigError if it does not apply, or names a file elsewhere; InputError if it can't be read.
void apply_patch(const std::filesystem::path& patch, const std::filesystem::path& to);

}  // namespace linebounce::sim
