// How long a transaction has waited so far on its critical path, by the resource that it waited for.
#pragma once

#include <array>
#include <cstdint>

#include "models/ordinal.hpp"
#include "models/units.hpp"

namespace linebounce {

// The kinds of waits of step_listener.hpp's stages, by resource.
enum class Resource : std::uint8_t {
  core,        // for an MSHR, or for the fill of a line that the core requested earlier
  bus,         // for arbitration, for earlier snoop results (they keep their order), or for the data bus
  line,        // for earlier transactions on the same line: on the bus, at the directory, or in a transient state
  link,        // for a network link, for a node's crossing stage, or for earlier messages that must stay first
  controller,  // for a controller that is receiving other messages
  memory       // for a bank or for the shared channel
};
constexpr int kResources = 6;

class Waits {
 public:
  [[nodiscard]] Tick& operator[](Resource resource) { return ticks_[ordinal(resource)]; }
  [[nodiscard]] Tick operator[](Resource resource) const { return ticks_[ordinal(resource)]; }
  Waits& operator+=(const Waits& other) {
    for (std::size_t i = 0; i < ticks_.size(); ++i) ticks_[i] += other.ticks_[i];
    return *this;
  }
  [[nodiscard]] Tick total() const {
    Tick sum = 0;
    for (const Tick ticks : ticks_) sum += ticks;
    return sum;
  }
  friend bool operator==(const Waits&, const Waits&) = default;

 private:
  std::array<Tick, kResources> ticks_{};
};

}  // namespace linebounce
