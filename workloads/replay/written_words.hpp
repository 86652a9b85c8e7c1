// How often each word has been written so far, in the order in which the writes take effect.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "models/units.hpp"

namespace linebounce::workloads {

class WrittenWords {
 public:
  void written(Address address, int bytes) {
    std::vector<Kind>& kinds = granules_[address / kGranule];
    for (Kind& kind : kinds) {
      if (kind.address != address || kind.bytes != bytes) continue;
      ++kind.times;
      return;
    }
    kinds.push_back({address, bytes, 1});
  }

  // Of any write that has a byte in common with the word.
  [[nodiscard]] std::uint64_t times(Address address, int bytes) const {
    const auto found = granules_.find(address / kGranule);
    if (found == granules_.end()) return 0;
    std::uint64_t sum = 0;
    for (const Kind& kind : found->second) sum += overlap(kind, address, bytes) ? kind.times : 0;
    return sum;
  }

  // Whether every write so far of a byte of the word was one of all its bytes.
  [[nodiscard]] bool only_as_a_whole(Address address, int bytes) const {
    const auto found = granules_.find(address / kGranule);
    return found == granules_.end() || std::all_of(found->second.begin(), found->second.end(), [&](const Kind& kind) {
             return !overlap(kind, address, bytes) || covers(kind.address, kind.bytes, address, bytes);
           });
  }

  static bool covers(Address write, int write_bytes, Address word, int bytes) {
    return write <= word && word + static_cast<Address>(bytes) <= write + static_cast<Address>(write_bytes);
  }

 private:
  static constexpr Address kGranule = 8;  // a word is naturally aligned and lies in one
  struct Kind {
    Address address;
    int bytes;
    std::uint64_t times;
  };
  static bool overlap(const Kind& kind, Address address, int bytes) {
    return kind.address < address + static_cast<Address>(bytes) && address < kind.address + static_cast<Address>(kind.bytes);
  }
  std::unordered_map<Address, std::vector<Kind>> granules_;
};

}  // namespace linebounce::workloads
