// What the program uses of SystemC's kernel: run(), and VCD files. The kernel is in a shared library that only a simulation
// loads, because loading it takes seven million instructions. This header is the whole interface between them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "models/timebase.hpp"

namespace linebounce::sim {

// A VCD file while it is written. The destructor closes it.
class SignalFile {
 public:
  virtual ~SignalFile() = default;
  // Adds a signal with the content of `value`, which must stay at its address. Dots in the name make scopes. REQUIRES: no run
  // has begun.
  virtual void trace(const unsigned& value, const std::string& name, int bits) = 0;
  virtual void comment(const std::string& text) = 0;
};

class SystemCKernel {
 public:
  // Executes what is due at `now`, and returns when something is due next; none if the run is over.
  using Turn = std::function<std::optional<Tick>(Tick now)>;

  virtual ~SystemCKernel() = default;
  // Calls `turn` at time 0, and then at each time that it returns. SystemC's own time goes on from the previous run's end.
  // Errors: whatever `turn` throws.
  virtual void run(const Timebase& timebase, const Turn& turn) = 0;
  // SystemC adds ".vcd" to the path.
  virtual std::unique_ptr<SignalFile> open_vcd(const std::string& path) = 0;
};

// The library's only function, which returns this process's kernel.
constexpr const char* kKernelLibrary = "liblinebounce_systemc.so";
constexpr const char* kKernelFunction = "linebounce_systemc_kernel";
using KernelFunction = SystemCKernel*();

}  // namespace linebounce::sim
