// Unpacks locks of the Linux kernel as files that compile like a user's own: unchanged kernel sources with headers of ours.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace linebounce::sim {

struct KernelLock {
  std::string name, title;
  std::vector<std::string> files;  // paths in the kernel's tree; the first `sources` of them implement the lock
  std::size_t sources = 1;
  std::string functions;  // the text of LINEBOUNCE_LOCK(...) and the lock's functions
};

const std::vector<KernelLock>& kernel_locks();

// The lock of this name. Errors: ConfigError, which lists the names.
const KernelLock& kernel_lock_called(const std::string& name);

// Fills the folder `to` with the lock's files, and returns its main file's path, NAME.c. `kernel`: a kernel's source tree or an
// archive of one. `patch`: a patch for the copied sources; empty: none. Replaces what an earlier call has made; if it fails,
// that stays. Errors: ConfigError, InputError, OutputError.
std::filesystem::path unpack_kernel_lock(const KernelLock& lock, const std::filesystem::path& kernel,
                                         const std::filesystem::path& patch, const std::filesystem::path& to);

}  // namespace linebounce::sim
