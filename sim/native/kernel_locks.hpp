// Locks of the Linux kernel as files that compile like a user's own: the kernel's unchanged sources, with our headers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace linebounce::sim {

struct KernelLock {
  std::string name, title;
  std::vector<std::string> files;  // paths in the kernel's tree; the first `sources` of them are the lock itself
  std::size_t sources = 1;
  std::string functions;  // LINEBOUNCE_LOCK(...) and the lock's functions, as text
};

const std::vector<KernelLock>& kernel_locks();

// Fills the folder `to` with the lock's files, and returns the path of its main file NAME.c. `kernel`: a kernel's tree, or an
// archive of it, from which only the needed files are unpacked. `patch`: a patch for the copied sources; empty: none. Errors:
// ConfigError.
std::filesystem::path unpack_kernel_lock(const KernelLock& lock, const std::filesystem::path& kernel,
                                         const std::filesystem::path& patch, const std::filesystem::path& to);

}  // namespace linebounce::sim
