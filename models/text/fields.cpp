#include "models/text/fields.hpp"

#include <stdexcept>

namespace linebounce {

std::string fill_fields(std::string_view text, const std::function<std::string(std::string_view field)>& value) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) throw std::invalid_argument("'{' without '}'");
    out += value(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace linebounce
