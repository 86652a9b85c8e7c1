// Mistakes that an RCU can be told to make, to show that the checks of readers.hpp find them.
#pragma once

#include <cstdint>
#include <string>

namespace linebounce::workloads {

class ParameterBinder;

enum class RcuMistake : std::uint8_t {
  none,
  skips_a_cpu,  // a grace period doesn't wait for the last CPU
  no_barrier    // a reader's announcement may still be in its store buffer while it reads
};

struct RcuMistakeOption {
  std::string name = "none";

  [[nodiscard]] RcuMistake mistake() const;
  void bind(ParameterBinder& parameters);
};

}  // namespace linebounce::workloads
