#include "sim/config/machine_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "sim/config/table_reader.hpp"
#include "sim/config/toml_text.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kLeftOut = "default";

bool is_day(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00";
  return text.size() == kForm.size() && std::equal(text.begin(), text.end(), kForm.begin(), [](char letter, char form) {
           return form == '-' ? letter == '-' : std::isdigit(static_cast<unsigned char>(letter)) != 0;
         });
}

class HistoryReader {
 public:
  HistoryReader(const std::string& file, const Settings& settings, const std::set<std::string>& defaults)
      : file_(file), settings_(settings), defaults_(defaults) {}

  HistoryEntry read(const toml::table& table) {
    TableReader reader(table, file_, "history");
    HistoryEntry entry{reader.required_text("date"), reader.required_text("what"), reader.required_text("why"), {}};
    const auto* changed = reader.table("changed");
    reader.finish();
    if (!is_day(entry.date))
      reader.refuse("date", fmt::format("\"{}\" is not a date; expected one such as \"2026-01-31\"", entry.date));
    if (changed == nullptr) return entry;
    for (const auto& [key, node] : *changed) entry.changed.push_back(step(std::string(key.str()), node));
    return entry;
  }

  // Checks that the history of each parameter ends at its present value.
  void check_ends() const {
    for (const auto& [path, last] : last_) {
      if (!settings_.contains(path) && last.value != kLeftOut)
        fail(last.origin, shown(path), "there is no such parameter; the last entry of a removed one ends at \"default\"");
      const std::string now = value_of(path);
      if (last.value != now) fail(last.origin, shown(path), fmt::format("ends at {}, but the machine has {}", last.value, now));
    }
  }

 private:
  struct Last {
    std::string value;
    Origin origin;
  };

  static std::string shown(const std::string& path) { return "history.changed.\"" + path.substr(path.find('.') + 1) + "\""; }

  [[nodiscard]] std::string value_of(const std::string& path) const {
    return !settings_.contains(path) || defaults_.contains(path) ? kLeftOut : plain_text(settings_.at(path).value);
  }

  ChangedParameter step(const std::string& key, const toml::node& node) {
    const std::string path = "machine." + key;
    const Origin origin{place_of(file_, node.source())};
    const auto* values = node.as_array();
    if (values == nullptr || values->size() != 2)
      fail(origin, shown(path), "expected [BEFORE, AFTER]; \"default\" stands for a parameter that is left out");
    const auto text = [&](std::size_t i) {
      return plain_text(canonical(plain_value(*values->get(i), origin, shown(path), ValueType::text)));
    };
    ChangedParameter changed{path, text(0), text(1)};
    const auto before = last_.find(path);
    if (before != last_.end() && before->second.value != changed.before)
      fail(origin, shown(path),
           fmt::format("begins at {}, but the entry before left it at {}", changed.before, before->second.value));
    last_.insert_or_assign(path, Last{changed.after, origin});
    return changed;
  }

  const std::string& file_;
  const Settings& settings_;
  const std::set<std::string>& defaults_;
  std::map<std::string, Last> last_;
};

constexpr std::array<std::string_view, 4> kForms = {"calibrated: ", "datasheet: ", "paper: ", "assumed: "};

bool has_legal_form(std::string_view text) {
  for (const auto form : kForms) {
    if (text.starts_with(form) && text.find_first_not_of(' ', form.size()) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<HistoryEntry> read_history(const toml::array& entries, const std::string& file, const Settings& settings,
                                       const std::set<std::string>& defaults) {
  HistoryReader reader(file, settings, defaults);
  std::vector<HistoryEntry> history;
  for (const auto& node : entries) {
    const auto* table = node.as_table();
    if (table == nullptr)
      fail(Origin{place_of(file, node.source())}, "history",
           fmt::format("expected [[history]] tables, found {}", describe_node(node)));
    history.push_back(reader.read(*table));
  }
  reader.check_ends();
  return history;
}

Sources read_sources(const toml::table& table, const std::string& file, const Origin& origin, const KeySpace& keys) {
  Sources sources;
  for (const auto& leaf : leaves(table, "machine", file, origin)) {
    const std::string shown = "sources.\"" + leaf.path.substr(leaf.path.find('.') + 1) + "\"";
    const KeyInfo* key = keys.find(leaf.path);
    if (key == nullptr && !keys.is_table(leaf.path))
      fail(leaf.origin, shown, "no such parameter: " + keys.unknown_text(leaf.path, "machine."));
    if (key != nullptr && key->structural) fail(leaf.origin, shown, "this key needs no source");
    const auto text = std::get<std::string>(
        checked({shown, ValueType::text, "", ""}, plain_value(*leaf.node, leaf.origin, shown, ValueType::text), leaf.origin));
    if (!has_legal_form(text)) {
      fail(leaf.origin, shown,
           fmt::format(
               "\"{}\" is not a source; legal: \"calibrated: ROW\", \"datasheet: WHICH\", \"paper: WHICH\", \"assumed: WHY\"",
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
