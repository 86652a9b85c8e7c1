// Where waiting for a lock is counted: kernels have a function for it out of line, one for each source file that takes the lock
// (".text.lock.dcache"). None: in the function that takes it.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class WaitsIn {
 public:
  WaitsIn() = default;
  WaitsIn(FunctionId everywhere) : everywhere_(everywhere) {}  // NOLINT(google-explicit-constructor): it is one
  explicit WaitsIn(std::map<FunctionId, FunctionId> by_call_site) : by_call_site_(std::move(by_call_site)) {}

  // For the function that runs on the CPU.
  [[nodiscard]] FunctionId of(const Cpu& cpu) const {
    const auto found = by_call_site_.find(cpu.function());
    return found != by_call_site_.end() ? found->second : everywhere_.value_or(cpu.function());
  }

  // Of every other function; none: waiting is counted where the lock is taken.
  [[nodiscard]] const std::optional<FunctionId>& everywhere() const { return everywhere_; }
  [[nodiscard]] const std::map<FunctionId, FunctionId>& by_call_site() const { return by_call_site_; }
  WaitsIn(std::optional<FunctionId> everywhere, std::map<FunctionId, FunctionId> by_call_site)
      : everywhere_(everywhere), by_call_site_(std::move(by_call_site)) {}

 private:
  std::optional<FunctionId> everywhere_;
  std::map<FunctionId, FunctionId> by_call_site_;
};

}  // namespace linebounce::workloads
