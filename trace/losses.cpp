#include "trace/losses.hpp"

namespace linebounce::trace {
namespace {

// Whether a sentence could come from this template: its literal parts occur in the text in order, the first at the beginning
// and the last at the end.
bool was_made_by(std::string_view pattern, std::string_view text) {
  for (bool first = true;; first = false) {
    const std::size_t hole = pattern.find('{');
    const std::string_view part = pattern.substr(0, hole);
    if (hole == pattern.npos) return first ? text == part : text.ends_with(part);
    const std::size_t at = text.find(part);
    if (at == text.npos || (first && at != 0)) return false;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(pattern.find('}', hole) + 1);
  }
}

}  // namespace

const LossKind* kind_of_sentence(std::string_view sentence) {
  const auto* const kind =
      std::ranges::find_if(kLossKinds, [sentence](const LossKind& one) { return was_made_by(one.sentence, sentence); });
  return kind == kLossKinds.end() ? nullptr : kind;
}

}  // namespace linebounce::trace
