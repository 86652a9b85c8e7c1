// A small untimed system, one line in a few caches, of which every reachable state is visited. It runs the same functions over
// the same rows as the simulator. For the tests of the protocol files only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "models/coherence/bus_order.hpp"

namespace linebounce::test {

constexpr int kMaxCaches = 3;

// What one exploration found.
struct Exploration {
  std::size_t states = 0;
  std::optional<std::string> violation;               // exploring stops at the first one
  std::vector<bool> cache_rows_run, memory_rows_run;  // by [state][event]
};

// The whole state of the system. Data is a single bit; `latest` is what the last store wrote.
struct World {
  struct Cache {
    StateId state = 0;
    std::uint8_t data = 0;
    std::uint8_t access = 0;   // 1 a load, 2 a store that waits for `complete`
    std::uint8_t request = 0;  // 1 + the message that waits for its order step
  };
  std::array<Cache, kMaxCaches> caches{};
  StateId memory_state = 0;
  std::uint8_t memory_data = 0, bus_data = 0, latest = 0;
  std::uint8_t data_due = 0;  // 1 + the cache whose data step is due

  [[nodiscard]] std::uint64_t key() const;
};

// Visits every state that `caches` caches can reach. With `skip_absent`, caches without a copy are not asked about messages at
// which their row does nothing.
Exploration explore(const Protocol& protocol, int caches, bool skip_absent = false);

// The protocol file models/protocols/NAME.md.
std::string protocol_text(const std::string& name);
Protocol shipped_protocol(const std::string& name);

}  // namespace linebounce::test
