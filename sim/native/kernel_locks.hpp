// Locks of the Linux kernel as files that can be compiled like a user's own: their sources as they are, and headers of ours.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace linebounce::sim {

struct KernelLock {
  std::string name, title;
  std::vector<std::string> files;  // in the kernel's tree; the lock's own are the first `sources`
  std::size_t sources = 1;
  std::string functions;  // LINEBOUNCE_LOCK, and the lock's functions
};

const std::vector<KernelLock>& kernel_locks();

// Makes the folder `to` with the lock NAME.c, and returns that file's path. `kernel`: a kernel's tree, or an archive of one, of
// which only what is needed is unpacked. `patch`: a file that changes the copied sources; empty: none. Errors: ConfigError.
std::filesystem::path unpack_kernel_lock(const KernelLock& lock, const std::filesystem::path& kernel,
                                         const std::filesystem::path& patch, const std::filesystem::path& to);

}  // namespace linebounce::sim
