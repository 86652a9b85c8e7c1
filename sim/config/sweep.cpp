#include "sim/config/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/config/project_files.hpp"
#include "sim/native/lock_compiler.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kMostPoints = 100000;

struct PlacedAxis {
  toml::source_position position;
  SweepAxis axis;
};

// Expands "1..N": the powers of two below N, and N itself. N is the machine's number of CPUs.
std::vector<ConfigValue> up_to_all(std::int64_t all) {
  std::vector<ConfigValue> values;
  for (std::int64_t n = 1; n < all; n *= 2) values.emplace_back(n);
  values.emplace_back(all);
  return values;
}

// Expands "*": all locks that are legal for this key, except those limited to a number of CPUs.
std::vector<ConfigValue> all_locks_of(const KeyInfo& key) {
  std::vector<ConfigValue> values;
  for (std::string& lock : workloads::lock_names([](const workloads::LockTraits& traits) { return traits.most_cpus == 0; })) {
    if (std::find(key.choices.begin(), key.choices.end(), lock) != key.choices.end()) values.emplace_back(std::move(lock));
  }
  return values;
}

// True if the node was given on the command line. Only nodes from a file have a position.
bool is_typed(const toml::node& node) {
  return !node.source().begin;
}

class SweepReader {
 public:
  explicit SweepReader(ExperimentTables& tables) : tables_(tables) {}

  void list(const Leaf& leaf, SweepAxis& axis) {
    const bool whole_machine = leaf.path == kMachineAxis;
    const KeyInfo& key =
        whole_machine ? tables_.keys.require(leaf.path, leaf.origin) : tables_.keys.require_settable(leaf.path, leaf.origin);
    if (key.path.starts_with("engine.")) fail(leaf.origin, key.path, "changes no result: there is nothing to sweep");
    if (key.path == "run.seeds") fail(leaf.origin, key.path, "is one number for the whole experiment and cannot be swept");
    Origin origin = leaf.origin;
    origin.given = "swept by the experiment";
    if (!tables_.swept.emplace(key.path, origin).second) fail(leaf.origin, key.path, "is swept twice");
    axis.paths.push_back(key.path);
    axis.values.push_back(values(key, leaf));
  }

  void together(const toml::node& node, std::vector<PlacedAxis>& out) {
    const Origin at{place_of(tables_.file, node.source())};
    const auto* zips = node.as_array();
    if (!zips)
      fail(at, "sweep.together",
           fmt::format("expected [[sweep.together]] tables of path = [values], found {}", describe_node(node)));
    for (const auto& element : *zips) {
      const Origin here{place_of(tables_.file, element.source())};
      if (!element.is_table())
        fail(here, "sweep.together", fmt::format("expected a table of path = [values], found {}", describe_node(element)));
      out.push_back({element.source().begin, zip(*element.as_table(), here)});
    }
  }

 private:
  std::vector<ConfigValue> values(const KeyInfo& key, const Leaf& leaf) const {
    const auto text = leaf.node->value<std::string>();
    if (text == "1..N" && key.path == "machine.cpus") {
      return up_to_all(std::get<std::int64_t>(tables_.settings.at("machine.cpus_present").value));
    }
    const bool names_locks = key.files_of == "lock";
    if (text == "*" && names_locks) return all_locks_of(key);
    const auto* array = leaf.node->as_array();
    if (!array || array->empty()) {
      const char* const shorter = key.path == "machine.cpus" ? " or \"1..N\"" : names_locks ? " or \"*\"" : "";
      fail(leaf.origin, key.path,
           fmt::format("expected a list of values{}, found {}", shorter, array ? "an empty one" : describe_node(*leaf.node)));
    }
    std::vector<ConfigValue> out;
    for (const auto& element : *array) {
      const Leaf value{key.path, &element, is_typed(element) ? leaf.origin : Origin{place_of(tables_.file, element.source())}};
      const auto base = std::filesystem::path(tables_.file).parent_path();
      out.push_back(anchor_swept(key.path, checked(key, value), base));
    }
    return out;
  }

  SweepAxis zip(const toml::table& table, const Origin& here) {
    SweepAxis axis;
    auto lists = leaves(table, "", tables_.file, {});
    if (lists.empty()) fail(here, "sweep.together", "expected path = [values], found an empty table");
    // Sorts by path. A resolved configuration is sorted by key, and must give the same axis.
    std::ranges::sort(lists, [](const Leaf& a, const Leaf& b) { return a.path < b.path; });
    for (const auto& leaf : lists) list(leaf, axis);
    for (std::size_t i = 1; i < axis.paths.size(); ++i) {
      if (axis.values[i].size() == axis.values[0].size()) continue;
      fail(tables_.swept.at(axis.paths[i]), axis.paths[i],
           fmt::format("{} values, but {} of {}: lists that go together have one length", axis.values[i].size(),
                       axis.values[0].size(), axis.paths[0]));
    }
    return axis;
  }

  ExperimentTables& tables_;
};

void refuse_repeated_values(const SweepAxis& axis, const ExperimentTables& tables) {
  if (axis.paths.size() != 1) return;
  std::set<ConfigValue> known;
  for (const ConfigValue& value : axis.values[0]) {
    if (!known.insert(value).second)
      fail(tables.swept.at(axis.paths[0]), axis.paths[0],
           fmt::format("the list has the value {} twice; remove one", plain_text(value)));
  }
}

void remove_repeated_points(SweepAxis& axis) {
  std::set<std::vector<ConfigValue>> known;
  std::vector<std::vector<ConfigValue>> kept(axis.paths.size());
  for (std::size_t point = 0; point < axis.values[0].size(); ++point) {
    std::vector<ConfigValue> values;
    for (const auto& list : axis.values) values.push_back(list[point]);
    if (!known.insert(values).second) continue;
    for (std::size_t i = 0; i < values.size(); ++i) kept[i].push_back(values[i]);
  }
  axis.values = std::move(kept);
}

void refuse_too_many_points(const std::vector<SweepAxis>& axes, const ExperimentTables& tables) {
  std::size_t points = 1;
  for (const auto& axis : axes) {
    points *= axis.values[0].size();
    if (points > kMostPoints)
      fail(tables.swept.at(axis.paths[0]), axis.paths[0], fmt::format("the sweep has more than {} points", kMostPoints));
  }
}

void erase_path(toml::table& table, std::string_view path) {
  table.erase(path);
  for (auto&& [key, node] : table) {
    auto* below = node.as_table();
    if (below != nullptr && path.starts_with(std::string(key.str()) + "."))
      erase_path(*below, path.substr(key.str().size() + 1));
  }
}

// Appends a value from the command line, in TOML or as a bare word. A file's path is relative to the working directory.
void append_value(toml::array& array, std::string text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  text = first == std::string::npos ? "" : text.substr(first, last - first + 1);
  toml::table parsed;
  try {
    parsed = toml::parse("value = " + text);
  } catch (const toml::parse_error&) {
    parsed.insert("value", text);
  }
  if (auto* word = parsed["value"].as_string(); word != nullptr) {
    const std::string& name = word->get();
    const bool file = is_native_path(name) || name.ends_with(".lua") || name.ends_with(".toml") || name.ends_with(".md");
    array.push_back(file ? absolute_path(name) : name);
  } else {
    parsed["value"].visit([&array](auto&& node) {
      if constexpr (toml::is_value<decltype(node)>) array.push_back(node);
    });
  }
}

// REQUIRES: is_list(text), with brackets.
toml::array list_of(const std::string& text) {
  toml::array array;
  const std::string inside = text.substr(1, text.size() - 2);
  for (std::size_t begin = 0; begin < inside.size();) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    append_value(array, inside.substr(begin, end - begin));
    begin = end + 1;
  }
  return array;
}

}  // namespace

std::vector<SweepAxis> read_sweep(const toml::table& sweep, ExperimentTables& tables) {
  SweepReader reader(tables);
  std::vector<PlacedAxis> placed;
  for (Leaf leaf : leaves(sweep, "", tables.file, {}, {"together"})) {
    if (is_typed(*leaf.node)) leaf.origin = typed_origin(tables.options, leaf.path);
    SweepAxis axis;
    reader.list(leaf, axis);
    refuse_repeated_values(axis, tables);
    placed.push_back({leaf.node->source().begin, std::move(axis)});
  }
  if (const auto* together = sweep.get("together")) reader.together(*together, placed);
  std::ranges::stable_sort(placed, [](const auto& a, const auto& b) { return a.position < b.position; });
  std::vector<SweepAxis> axes;
  for (auto& [position, axis] : placed) axes.push_back(std::move(axis));
  refuse_too_many_points(axes, tables);
  return axes;
}

KeyInfo machine_axis_key() {
  KeyInfo key;
  key.path = kMachineAxis;
  key.type = ValueType::text;
  key.meaning = "which machine";
  key.structural = true;
  return key;
}

bool sweeps_machine(const toml::table& sweep) {
  if (sweep.contains(kMachineAxis)) return true;
  const auto* zips = sweep["together"].as_array();
  return zips && std::any_of(zips->begin(), zips->end(),
                             [](const toml::node& zip) { return zip.is_table() && zip.as_table()->contains(kMachineAxis); });
}

void remove_swept(toml::table& sweep, std::string_view path) {
  erase_path(sweep, path);
  auto* zips = sweep["together"].as_array();
  for (std::size_t i = zips ? zips->size() : 0; i-- > 0;) {
    auto* zip = (*zips)[i].as_table();
    if (!zip) continue;
    erase_path(*zip, path);
    if (zip->empty()) zips->erase(zips->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

bool is_list(std::string_view value) {
  return (value.starts_with('[') && value.ends_with(']')) || value == "1..N" || value == "*";
}

void sweep_lists(toml::table& experiment, const std::vector<std::pair<std::string, std::string>>& lists) {
  for (const auto& [path, text] : lists) {
    if (!experiment.contains("sweep")) experiment.insert("sweep", toml::table{});
    auto* sweep = experiment.get_as<toml::table>("sweep");
    if (sweep == nullptr) return;  // the reader refuses it
    remove_swept(*sweep, path);
    if (text.starts_with('[')) {
      sweep->insert_or_assign(path, list_of(text));
    } else {
      sweep->insert_or_assign(path, text);
    }
    if (!path.starts_with("run.")) experiment.insert_or_assign("overridden", true);
  }
}

ConfigValue anchor_swept(const std::string& path, const ConfigValue& value, const std::filesystem::path& base) {
  if (path != kMachineAxis) return anchor_path(path, value, base);
  const auto& text = std::get<std::string>(value);
  if (!is_path(kMachineFiles, text)) return value;
  return absolute_path(base / text);
}

std::vector<Leaf> swept_lists(const toml::table& sweep, const std::string& file) {
  std::vector<Leaf> lists = leaves(sweep, "", file, {}, {"together"});
  if (const auto* zips = sweep["together"].as_array()) {
    for (const auto& element : *zips) {
      if (!element.is_table()) continue;
      for (auto& leaf : leaves(*element.as_table(), "", file, {})) lists.push_back(std::move(leaf));
    }
  }
  return lists;
}

std::vector<Leaf> swept_values(const toml::table& sweep, const std::string& file, const std::string& path) {
  std::vector<Leaf> values;
  for (const auto& leaf : swept_lists(sweep, file)) {
    const auto* array = leaf.path == path ? leaf.node->as_array() : nullptr;
    if (!array) continue;
    for (const auto& element : *array) values.push_back({leaf.path, &element, Origin{place_of(file, element.source())}});
  }
  return values;
}

void pin(std::vector<SweepAxis>& axes, const std::string& path, const ConfigValue& value) {
  for (auto& axis : axes) {
    const auto found = std::ranges::find(axis.paths, path);
    if (found == axis.paths.end()) continue;
    auto& values = axis.values[found - axis.paths.begin()];
    // Lists that are zipped with this path keep their values. Points that are now equal are merged.
    values.assign(values.size(), value);
    remove_repeated_points(axis);
  }
}

toml::table sweep_table(const std::vector<SweepAxis>& axes) {
  toml::array together;
  for (const auto& axis : axes) {
    toml::table lists;
    for (std::size_t i = 0; i < axis.paths.size(); ++i) {
      toml::array values;
      for (const auto& value : axis.values[i]) std::visit([&](const auto& plain) { values.push_back(plain); }, value);
      lists.insert_or_assign(axis.paths[i], std::move(values));
    }
    together.push_back(std::move(lists));
  }
  return toml::table{{"together", std::move(together)}};
}

}  // namespace linebounce::sim
