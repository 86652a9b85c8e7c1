// The part of SystemC's kernel that the program uses: run() and `--vcd`. It is in a shared library that is loaded only for a
// simulation, because loading SystemC takes seven million instructions. This header is the whole interface between the two.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "models/timebase.hpp"

namespace linebounce::sim {

// A VCD file that is being written. The destructor closes it.
class SignalFile {
 public:
  virtual ~SignalFile() = default;
  // Traces `value`, whose address must stay the same. Dots in the name make scopes. REQUIRES: no run has begun.
  virtual void trace(const unsigned& value, const std::string& name, int bits) = 0;
  virtual void comment(const std::string& text) = 0;
};

class SystemCKernel {
 public:
  // Does everything that is due at `now`. Returns the next time at which something is due; none if the run is over.
  using Turn = std::function<std::optional<Tick>(Tick now)>;

  virtual ~SystemCKernel() = default;
  // Calls `turn` at time 0, and then at each time that it returns. A later run continues at the SystemC time where the
  // previous one ended. Errors: what `turn` throws.
  virtual void run(const Timebase& timebase, const Turn& turn) = 0;
  // SystemC adds ".vcd" to the path.
  virtual std::unique_ptr<SignalFile> open_vcd(const std::string& path) = 0;
};

// The shared library's only function returns this process's kernel.
constexpr const char* kKernelLibrary = "liblinebounce_systemc.so";
constexpr const char* kKernelFunction = "linebounce_systemc_kernel";
using KernelFunction = SystemCKernel*();

}  // namespace linebounce::sim
