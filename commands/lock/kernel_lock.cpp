// `linebounce lock`
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "commands/lock/kernel_locks.hpp"
#include "models/text/shell_word.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockFooter = R"(Examples:
  linebounce lock qspinlock --kernel /usr/src/linux-source-6.1.tar.xz
  linebounce check-lock out/kernel/qspinlock/qspinlock.c
  linebounce run lock_scaling --set 'workload.lock=["qspinlock","out/kernel/qspinlock/qspinlock.c"]'
  linebounce lock osq --kernel ~/linux --patch my.patch -o out/kernel/patched

Writes a folder with the lock's sources as they are in the kernel, headers that make its operations simulated ones, and a file in
C that every command takes as a lock (docs/kernel-locks.md). Unpacks only the needed files of an archive.)";

struct KernelLockArguments {
  std::string name, kernel, patch, directory;
};

ExitCode unpack(const KernelLockArguments& arguments) {
  const KernelLock& lock = kernel_lock_called(arguments.name);
  if (arguments.kernel.empty())
    throw ConfigError("--kernel is missing: give the kernel's sources, a folder or an archive: --kernel PATH");
  const fs::path to = arguments.directory.empty() ? fs::path("out/kernel") / lock.name : fs::path(arguments.directory);
  const fs::path file = unpack_kernel_lock(lock, arguments.kernel, arguments.patch, to);
  std::cout << fmt::format("{}, {}: {}\nNext: linebounce check-lock {}\n", lock.name, lock.title, file.string(),
                           shell_word(file.string()));
  return ExitCode::done;
}

}  // namespace

void add_kernel_lock(Command& program) {
  auto arguments = std::make_shared<KernelLockArguments>();
  Command command =
      program.subcommand("lock", "Take a lock from the Linux kernel's sources, to check and time it", HelpGroup::checks);
  std::vector<std::string> names;
  for (const KernelLock& lock : kernel_locks()) names.push_back(lock.name);
  command.option("NAME", "", &arguments->name, fmt::format("The lock: {}", fmt::join(names, ", "))).required();
  command.option("--kernel", "PATH", &arguments->kernel,
                 "Required: the kernel's sources, a folder or an archive such as Debian's");
  command.option("--patch", "FILE", &arguments->patch, "Apply this patch to the copied sources");
  command.option("-o,--output", "DIR", &arguments->directory, "Where to write the lock; default: out/kernel/NAME")
      .own_directory();
  command.footer(kLockFooter);
  command.action([arguments] { return unpack(*arguments); });
}

}  // namespace linebounce::sim
