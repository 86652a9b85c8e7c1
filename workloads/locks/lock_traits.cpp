#include "workloads/locks/lock_traits.hpp"

#include <algorithm>

namespace linebounce::workloads {

std::optional<MemoryModel> model_named(std::string_view word) {
  const auto* const found = std::ranges::find(kMemoryModels, word);
  if (found == kMemoryModels.end()) return std::nullopt;
  return static_cast<MemoryModel>(found - kMemoryModels.begin());
}

std::optional<unsigned> models_in(std::string_view words) {
  unsigned models = 0;
  for (std::size_t at = 0; (at = words.find_first_not_of(" ,", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(words.find_first_of(" ,", at), words.size());
    const std::optional<MemoryModel> model = model_named(words.substr(at, end - at));
    if (!model) return std::nullopt;
    models |= 1U << static_cast<unsigned>(*model);
    at = end;
  }
  return models == 0 ? std::nullopt : std::optional(models);
}

}  // namespace linebounce::workloads
