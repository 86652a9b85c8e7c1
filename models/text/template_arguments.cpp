#include "models/text/template_arguments.hpp"

#include <cctype>
#include <cstddef>

namespace linebounce {
namespace {

constexpr std::size_t kShort = 16;  // characters of arguments that stay

bool ends_a_name(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  if (text.empty() || text.ends_with(kOperator)) return false;
  const auto last = static_cast<unsigned char>(text.back());
  return std::isalnum(last) != 0 || last == '_';
}

// The position behind the ">" that belongs to the "<" at the beginning; npos if there is none.
std::size_t end_of_arguments(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_arrow = at > 0 && text[at - 1] == '-';
    if (text[at] == '<') ++depth;
    if (text[at] == '>' && !is_arrow && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string without_template_arguments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('<');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const std::size_t end = ends_a_name(out) ? end_of_arguments(text) : std::string_view::npos;
    const bool is_long = end != std::string_view::npos && end > kShort + 2;
    const std::size_t taken = is_long ? end : 1;
    out += is_long ? "<...>" : std::string(text.substr(0, taken));
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace linebounce
