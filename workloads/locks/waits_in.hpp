// Tells in which function reports count the wait for a lock. Kernels wait out of line, in one function for each source file
// that takes the lock (".text.lock.dcache"). By default, waiting counts in the function that takes the lock.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class WaitsIn {
 public:
  WaitsIn() = default;
  WaitsIn(FunctionId everywhere) : everywhere_(everywhere) {}  // NOLINT(google-explicit-constructor): converts a function
  explicit WaitsIn(std::map<FunctionId, FunctionId> by_call_site) : by_call_site_(std::move(by_call_site)) {}

  // Returns the function in which the wait counts if this CPU takes the lock in the function that it is running now.
  [[nodiscard]] FunctionId of(const Cpu& cpu) const {
    const auto found = by_call_site_.find(cpu.function());
    return found != by_call_site_.end() ? found->second : everywhere_.value_or(cpu.function());
  }

  // everywhere() is the function for all call sites that are not in by_call_site(). Empty: waiting counts in the call site
  // itself.
  [[nodiscard]] const std::optional<FunctionId>& everywhere() const { return everywhere_; }
  [[nodiscard]] const std::map<FunctionId, FunctionId>& by_call_site() const { return by_call_site_; }
  WaitsIn(std::optional<FunctionId> everywhere, std::map<FunctionId, FunctionId> by_call_site)
      : everywhere_(everywhere), by_call_site_(std::move(by_call_site)) {}

 private:
  std::optional<FunctionId> everywhere_;
  std::map<FunctionId, FunctionId> by_call_site_;
};

}  // namespace linebounce::workloads
