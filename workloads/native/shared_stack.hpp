// Tells which bytes of a shared stack are up to date in simulated memory. (A stack is shared from the moment that the code
// stores a pointer into it.) A compiler does not report accesses to a local variable that no other CPU can reach, but a
// function that gets a pointer to the variable does report its own. So the newest value of such a variable may be in the host's
// memory alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace linebounce::workloads {

template <std::size_t kBytes>
class SharedStack {
 public:
  // True if simulated memory has the newest value of these bytes. `at`: the index of the first byte; `host`: their place in
  // the host's memory.
  [[nodiscard]] bool is_newest(std::size_t at, const char* host, std::size_t bytes) const {
    for (std::size_t i = 0; i < bytes; ++i) {
      const State state = states_[at + i];
      if (state == State::unknown || (state == State::own && host[i] != reported_[at + i])) return false;
    }
    return true;
  }
  // Notes a reported access of the stack's own CPU, after which both memories are equal.
  void note_own(std::size_t at, const char* host, std::size_t bytes) {
    std::fill_n(states_.begin() + static_cast<std::ptrdiff_t>(at), bytes, State::own);
    std::copy_n(host, bytes, reported_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  // Notes a write of another CPU.
  void note_other(std::size_t at, std::size_t bytes) {
    const auto first = states_.begin() + static_cast<std::ptrdiff_t>(at);
    std::replace(first, first + static_cast<std::ptrdiff_t>(bytes), State::unknown, State::other);
  }
  // Must be called when the functions whose variables these bytes were have returned.
  void forget(std::size_t at, std::size_t bytes) {
    std::fill_n(states_.begin() + static_cast<std::ptrdiff_t>(at), bytes, State::unknown);
  }

 private:
  enum class State : std::uint8_t { unknown, own, other };
  std::array<State, kBytes> states_ = {};
  std::array<char, kBytes> reported_ = {};  // of bytes in state `own`: the host's value after the access
};

}  // namespace linebounce::workloads
