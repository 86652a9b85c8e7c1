// Which bytes of memory only one CPU has accessed, in all interleavings of a case so far.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "models/units.hpp"

namespace linebounce::sim {

class PrivateBytes {
 public:
  // True if no other CPU has accessed any of these bytes. `bytes`: at most 8, in one aligned word.
  [[nodiscard]] bool are_of(int cpu, Address address, int bytes) const;
  // Notes an access. Returns false if are_of() was true of another CPU for one of the bytes.
  bool note(int cpu, Address address, int bytes);

 private:
  static constexpr std::uint64_t kWord = 8;
  static constexpr std::int8_t kNobody = -1, kSeveral = -2;
  struct Word {
    std::array<std::int8_t, kWord> owner = {kNobody, kNobody, kNobody, kNobody, kNobody, kNobody, kNobody, kNobody};
  };
  std::unordered_map<Address, Word> words_;
};

}  // namespace linebounce::sim
