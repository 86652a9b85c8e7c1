#include "workloads/locks/lock_traits.hpp"

#include <algorithm>

namespace linebounce::workloads {

unsigned models_in(std::string_view words, std::string& wrong) {
  unsigned models = 0;
  for (std::size_t at = 0; (at = words.find_first_not_of(" ,", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(words.find_first_of(" ,", at), words.size());
    const auto* const found = std::ranges::find(kMemoryModels, words.substr(at, end - at));
    if (found != kMemoryModels.end()) {
      models |= 1U << static_cast<unsigned>(found - kMemoryModels.begin());
    } else if (wrong.empty()) {
      wrong = words.substr(at, end - at);
    }
    at = end;
  }
  return models;
}

}  // namespace linebounce::workloads
