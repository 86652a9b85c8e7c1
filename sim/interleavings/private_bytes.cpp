#include "sim/interleavings/private_bytes.hpp"

#include <algorithm>

namespace linebounce::sim {

bool PrivateBytes::are_of(int cpu, Address address, int bytes) const {
  for (Address at = address; at < address + static_cast<Address>(bytes); ++at) {
    const auto word = words_.find(at / kWord);
    if (word == words_.end()) continue;
    const std::int8_t owner = word->second.owner[at % kWord];
    if (owner != kNobody && owner != cpu) return false;
  }
  return true;
}

bool PrivateBytes::note(int cpu, Address address, int bytes) {
  bool were_private = false;
  for (Address at = address; at < address + static_cast<Address>(bytes); ++at) {
    std::int8_t& owner = words_[at / kWord].owner[at % kWord];
    if (owner == kNobody) {
      owner = static_cast<std::int8_t>(cpu);
    } else if (owner != kSeveral && owner != cpu) {
      owner = kSeveral;
      were_private = true;
    }
  }
  return !were_private;
}

}  // namespace linebounce::sim
