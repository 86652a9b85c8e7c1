#include "models/text/csv_row.hpp"

#include <algorithm>

namespace linebounce {
namespace {

// Takes a quoted field, without its quotes, from the front of `text`. Returns false if the closing quote is missing.
bool take_quoted(std::string_view& text, std::string& field) {
  text.remove_prefix(1);
  while (!text.empty()) {
    const std::size_t quote = text.find('"');
    if (quote == std::string_view::npos) return false;
    field += text.substr(0, quote);
    text.remove_prefix(quote + 1);
    if (!text.starts_with('"')) return true;
    field += '"';
    text.remove_prefix(1);
  }
  return false;
}

// Takes an unquoted field, up to a separator or the line's end.
std::string_view take_plain(std::string_view& text, char separator) {
  std::string_view field = text.substr(0, std::min(text.find(separator), text.find('\n')));
  text.remove_prefix(field.size());
  if (field.ends_with('\r') && !text.starts_with(separator)) {
    field.remove_suffix(1);  // drops the "\r" of a line end "\r\n"
  }
  return field;
}

bool take_line_end(std::string_view& text) {
  if (text.starts_with("\r\n")) text.remove_prefix(1);
  if (text.starts_with('\n')) {
    text.remove_prefix(1);
    return true;
  }
  return text.empty();
}

}  // namespace

std::optional<std::vector<std::string>> take_csv_row(std::string_view& text, char separator) {
  std::vector<std::string> fields;
  while (true) {
    std::string& field = fields.emplace_back();
    if (!text.starts_with('"')) {
      field = take_plain(text, separator);
    } else if (!take_quoted(text, field)) {
      return std::nullopt;
    }
    if (take_line_end(text)) return fields;
    if (!text.starts_with(separator)) return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace linebounce
