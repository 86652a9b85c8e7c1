#include "sim/config/sources.hpp"

#include <fmt/format.h>

#include <array>

namespace linebounce::sim {
namespace {

constexpr std::array<std::string_view, 4> kForms = {"calibrated: ", "datasheet: ", "paper: ", "assumed: "};

bool has_legal_form(std::string_view text) {
  for (const auto form : kForms) {
    if (text.starts_with(form) && text.find_first_not_of(' ', form.size()) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

Sources read_sources(const toml::table& table, const std::string& file, const Origin& origin, const KeySpace& keys) {
  Sources sources;
  for (const auto& leaf : leaves(table, "machine", file, origin)) {
    const std::string shown = "sources.\"" + leaf.path.substr(leaf.path.find('.') + 1) + "\"";
    if (!keys.is_table(leaf.path)) {
      const auto* key = keys.find(leaf.path);
      if (!key) fail(leaf.origin, shown, "no such parameter: " + keys.unknown_text(leaf.path, "machine."));
      if (key->structural) fail(leaf.origin, shown, "this key needs no source");
    }
    const auto text = std::get<std::string>(
        checked({shown, ValueType::text, "", ""}, plain_value(*leaf.node, leaf.origin, shown, ValueType::text), leaf.origin));
    if (!has_legal_form(text)) {
      fail(leaf.origin, shown,
           fmt::format(
               "\"{}\" is no source; legal: \"calibrated: ROW\", \"datasheet: WHICH\", \"paper: WHICH\", \"assumed: WHY\"",
               text));
    }
    sources[leaf.path] = text;
  }
  return sources;
}

const std::string* source_of(const Sources& sources, std::string_view path) {
  for (;;) {
    if (const auto found = sources.find(std::string(path)); found != sources.end()) return &found->second;
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos) return nullptr;
    path = path.substr(0, dot);
  }
}

}  // namespace linebounce::sim
