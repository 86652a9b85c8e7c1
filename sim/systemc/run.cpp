#include "sim/systemc/run.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "models/machine/machine.hpp"
#include "sim/point/config_error.hpp"
#include "sim/systemc/systemc_kernel.hpp"

namespace linebounce::sim {
namespace {

ConfigError no_kernel() {
  return ConfigError(fmt::format("SystemC, which every simulation needs, can't be loaded: {}", ::dlerror()));
}

// Loads the shared library that is installed beside the program.
SystemCKernel* load_kernel() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  void* const library = ::dlopen(program.parent_path().append(kKernelLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw no_kernel();
  auto* const kernel = reinterpret_cast<KernelFunction*>(::dlsym(library, kKernelFunction));
  if (kernel == nullptr) throw no_kernel();
  return kernel();
}

}  // namespace

SystemCKernel& systemc_kernel() {
  static SystemCKernel* const kernel = load_kernel();
  return *kernel;
}

void run_in_systemc(Machine& machine, const std::function<void(double)>& progress) {
  systemc_kernel().run(machine.timebase(), [&](Tick now) -> std::optional<Tick> {
    if (!machine.advance(now + machine.slice(), progress)) return std::nullopt;
    return machine.now();
  });
}

}  // namespace linebounce::sim
