#include "models/text/csv_row.hpp"

namespace linebounce {

namespace {

// Takes a quoted field, without its quotes, from the front of `row`. False if it does not end.
bool take_quoted(std::string_view& row, std::string& field) {
  row.remove_prefix(1);
  while (!row.empty()) {
    const std::size_t quote = row.find('"');
    if (quote == std::string_view::npos) return false;
    field += row.substr(0, quote);
    row.remove_prefix(quote + 1);
    if (!row.starts_with('"')) return true;
    field += '"';
    row.remove_prefix(1);
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::string>> split_csv_row(std::string_view row) {
  std::vector<std::string> fields;
  while (true) {
    std::string& field = fields.emplace_back();
    if (row.starts_with('"')) {
      if (!take_quoted(row, field)) return std::nullopt;
    } else {
      field = row.substr(0, row.find(','));
      row.remove_prefix(field.size());
    }
    if (row.empty()) return fields;
    if (row.front() != ',') return std::nullopt;
    row.remove_prefix(1);
  }
}

}  // namespace linebounce
