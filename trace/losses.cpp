#include "trace/losses.hpp"

#include <optional>

namespace linebounce::trace {
namespace {

// What stands in a template's places {0} and {1}.
using Details = std::array<std::string, 2>;

// The details of a sentence that could come from this template: its literal parts occur in the text in order, the first at the
// beginning and the last at the end. None if it could not.
std::optional<Details> details_in(std::string_view pattern, std::string_view text) {
  Details details;
  std::string* before = nullptr;  // the place before the next literal part
  for (;;) {
    const std::size_t hole = pattern.find('{');
    const std::string_view part = pattern.substr(0, hole);
    const bool is_last = hole == pattern.npos;
    const std::size_t at = is_last && text.ends_with(part) ? text.size() - part.size() : text.find(part);
    if (at == text.npos || (before == nullptr && at != 0)) return std::nullopt;
    if (is_last && at + part.size() != text.size()) return std::nullopt;
    if (before != nullptr) *before = text.substr(0, at);
    if (is_last) return details;
    text.remove_prefix(at + part.size());
    before = &details.at(static_cast<std::size_t>(pattern.at(hole + 1) - '0'));
    pattern.remove_prefix(pattern.find('}', hole) + 1);
  }
}

}  // namespace

const LossKind* kind_of_sentence(std::string_view sentence) {
  const auto* const kind = std::ranges::find_if(
      kLossKinds, [sentence](const LossKind& one) { return details_in(one.sentence, sentence).has_value(); });
  return kind == kLossKinds.end() ? nullptr : kind;
}

std::string before_verdict(const LossKind& kind, std::string_view sentence) {
  if (kind.before_verdict.empty()) return std::string(sentence);
  const Details details = details_in(kind.sentence, sentence).value_or(Details());
  std::string text = fmt::format(fmt::runtime(kind.before_verdict), details[0], details[1]);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace linebounce::trace
