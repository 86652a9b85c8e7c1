#include "sim/config/machine_tables.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "models/network/topology.hpp"
#include "models/text/whole_number.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/recorded_run.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kLineBytes = "machine.line_bytes";
constexpr std::string_view kLevels = "cache_levels";
constexpr std::string_view kGroupLevels = "group_levels";

bool is_plain_name(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string_view::npos;
}

// Returns the names of a table's subtables, in the order of the text. `what`: the table's name, "cache" or "group".
// `example`: a subtable's head, for messages.
std::vector<std::string> in_order_of_text(const toml::table& tables, std::string_view what, std::string_view example,
                                          const std::string& file, const Origin& origin) {
  std::vector<std::pair<toml::source_position, std::string>> found;
  for (const auto& [key, value] : tables) {
    const Origin at{place_of(file, key.source()), origin.hidden};
    const std::string path = fmt::format("machine.{}.{}", what, key.str());
    if (!value.is_table())
      fail(at, path, fmt::format("expected a table for each {} ({}), found {}", what, example, describe_node(value)));
    if (!is_plain_name(key.str())) fail(at, path, fmt::format("a {}'s name has letters, digits, _ and - only", what));
    found.emplace_back(key.source().begin, key.str());
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [position, name] : found) names.push_back(std::move(name));
  return names;
}

// The names below [cache], in the order of the text.
std::vector<std::string> caches_in_text(const toml::table& machine, const std::string& file, const Origin& origin) {
  const auto* caches = machine["cache"].as_table();
  if (!caches || caches->empty()) {
    if (machine.contains("workload")) throw ConfigError(file + ": this is an experiment's file; expected a machine's");
    const auto* other = machine.get("cache");
    const Origin at{other ? place_of(file, other->source()) : file, origin.hidden};
    fail(at, "machine.cache", "a machine needs at least one cache: [cache.L1D] and its keys");
  }
  return in_order_of_text(*caches, "cache", "[cache.L1D]", file, origin);
}

// The names below [group], in the order of the text; a machine may have none.
std::vector<std::string> groups_in_text(const toml::table& machine, const std::string& file, const Origin& origin) {
  const auto* groups = machine["group"].as_table();
  return groups ? in_order_of_text(*groups, "group", "[group.L3]", file, origin) : std::vector<std::string>{};
}

// Returns the order that the key `cache_levels` or `group_levels` states. A resolved configuration needs this key, because
// its tables are sorted by name.
std::vector<std::string> levels_as_named(const toml::node& node, std::string_view what, const std::vector<std::string>& parts,
                                         const std::string& file, const Origin& origin) {
  const Origin at{place_of(file, node.source()), origin.hidden};
  const std::string path = fmt::format("machine.{}_levels", what);
  std::vector<std::string> levels;
  const auto* array = node.as_array();
  if (!array) fail(at, path, fmt::format("expected a list of the {}s' names, found {}", what, describe_node(node)));
  for (const auto& element : *array) levels.push_back(element.value_or(std::string{}));
  if (!std::is_permutation(levels.begin(), levels.end(), parts.begin(), parts.end())) {
    fail(at, path,
         fmt::format("expected each {0} once, the nearest to the core first; the {0}s are {1}", what, fmt::join(parts, ", ")));
  }
  return levels;
}

// Returns the names below [network.link] or [network.pair], sorted by node numbers. `what`: "link" or "pair".
std::vector<std::string> joins_in_text(const toml::table& machine, std::string_view what, const std::string& file,
                                       const Origin& origin) {
  const auto* joins = machine["network"][what].as_table();
  if (!joins) return {};
  std::vector<std::string> names;
  for (const auto& [key, value] : *joins) {
    const Origin at{place_of(file, key.source()), origin.hidden};
    const std::string path = fmt::format("machine.network.{}.{}", what, key.str());
    if (parse_link_name(std::string(key.str())).low < 0) {
      fail(at, path,
           fmt::format("a {0}'s name is the numbers of the two nodes that it joins, the lower one first: [network.{0}.0_1]",
                       what));
    }
    if (!value.is_table())
      fail(at, path, fmt::format("expected a table for each {0} ([network.{0}.0_1]), found {1}", what, describe_node(value)));
    names.emplace_back(key.str());
  }
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    const LinkEnds of_a = parse_link_name(a);
    const LinkEnds of_b = parse_link_name(b);
    return of_a.low != of_b.low ? of_a.low < of_b.low : of_a.high < of_b.high;
  });
  return names;
}

// Returns the names below [memory.node], sorted as numbers.
std::vector<std::string> memories_in_text(const toml::table& machine, const std::string& file, const Origin& origin) {
  const auto* memories = machine["memory"]["node"].as_table();
  if (!memories) return {};
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const auto& [key, value] : *memories) {
    const Origin at{place_of(file, key.source()), origin.hidden};
    const std::string path = "machine.memory.node." + std::string(key.str());
    constexpr std::int64_t kMostDigits = 9999;
    const auto number = whole_number(std::string(key.str()), 0, kMostDigits);
    if (!number) fail(at, path, "memory of one node is named by the node's number: [memory.node.2]");
    if (!value.is_table())
      fail(at, path, fmt::format("expected a table for each node ([memory.node.2]), found {}", describe_node(value)));
    found.emplace_back(*number, key.str());
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (auto& [number, name] : found) names.push_back(std::move(name));
  return names;
}

}  // namespace

ConfigValue anchor_path(const std::string& path, const ConfigValue& value, const std::filesystem::path& base) {
  const auto* text = std::get_if<std::string>(&value);
  const bool names_protocol = std::ranges::find(kProtocolKeys, path) != kProtocolKeys.end() ||
                              (path.starts_with("machine.group.") && path.ends_with(".protocol"));
  const bool names_trace = path == kTraceKey && text && !text->empty();
  const bool names_source = text && path.starts_with("workload.") && is_source_path(*text);
  if (!text || !(names_trace || names_source ||
                 (names_protocol ? is_path(kProtocolFiles, *text) : path == kLayoutKey && is_layout_path(*text))))
    return value;
  return absolute_path(base / *text);
}

namespace {

bool is_left_out(const std::string& path, const Settings& settings, const Sources& sources) {
  const Setting& setting = settings.at(path);
  if (setting.from != Setting::From::given) return true;
  const auto source = sources.find(path);
  return source != sources.end() && source->second == kLeftOutSource && setting.origin.given.empty();
}

// Returns the paths of those latencies of sharing that are 0 only because the machine's file leaves them out, in a fixed
// order.
std::vector<std::string> times_left_out(const Settings& settings, const Sources& sources) {
  const auto number = [&settings](const char* path) { return std::get<std::int64_t>(settings.at(path).value); };
  const bool has_network = number("machine.nodes") > 1;
  const bool has_controllers = has_network || number("machine.buses_per_node") > 1;
  std::vector<std::string> paths = {"machine.bus.intervention_clocks", "machine.cpu.atomic_latency_cycles",
                                    "machine.cpu.compare_exchange_latency_cycles"};
  if (has_network) paths.emplace_back("machine.directory.latency_ns");
  if (has_controllers) paths.emplace_back("machine.node.latency_ns");
  std::erase_if(paths, [&](const std::string& path) {
    const ConfigValue& value = settings.at(path).value;
    const bool is_zero = value == ConfigValue{std::int64_t{0}} || value == ConfigValue{0.0};
    return !is_zero || !is_left_out(path, settings, sources);
  });
  return paths;
}

// True if the contention family is a guess that matters: CPUs of a machine with a single CPU never contend.
bool assumes_contention(const Settings& settings, const Sources& sources) {
  return settings.at("machine.cpus_present").value != ConfigValue{std::int64_t{1}} &&
         is_left_out(kContention, settings, sources);
}

}  // namespace

std::vector<std::string> assumptions_of(const Settings& settings, const Sources& sources) {
  const auto text = [&settings](const char* path) { return std::get<std::string>(settings.at(path).value); };
  std::vector<std::string> sentences;
  if (const auto paths = times_left_out(settings, sources); !paths.empty())
    sentences.push_back(fmt::format("{} leaves out {}: taken as 0, which no real machine does it in.", text("machine.name"),
                                    fmt::join(paths, ", ")));
  if (assumes_contention(settings, sources))
    sentences.push_back(fmt::format("Contention as in {}, assumed: {} names no `contention` (linebounce list families).",
                                    text(kContention), text("machine.name")));
  return sentences;
}

void apply_line_size(Settings& settings, const PartNames& parts) {
  const auto line = settings.find(kLineBytes);
  if (line == settings.end() || line->second.value == ConfigValue{std::int64_t{0}}) return;
  const Setting size = line->second;
  std::vector<std::string> paths = {"machine.bus.line_bytes"};
  for (const std::string& cache : parts.caches) paths.push_back(fmt::format("machine.cache.{}.line_bytes", cache));
  for (const std::string& path : paths) {
    const auto [own, added] = settings.try_emplace(path, size);
    const bool follows = own->second.value == ConfigValue{std::int64_t{0}};  // 0: the bus takes the outermost cache's line size
    if (own->second.value == size.value || follows) continue;
    const bool overridden = !own->second.origin.given.empty();
    const bool replaces_file = !size.origin.given.empty();
    if (own->second.from == Setting::From::given && (overridden || !replaces_file)) {
      fail(own->second.origin, path,
           fmt::format("{} differs from {} = {} ({}), the line size of every cache and bus", plain_text(own->second.value),
                       kLineBytes, plain_text(size.value), size.origin.place));
    }
    own->second = size;
  }
  // The code cache's lines get this size, too, unless the file or the user sets their size.
  const auto code = settings.find("machine.footprint.code_cache_kib");
  if (code == settings.end() || code->second.value == ConfigValue{std::int64_t{0}}) return;
  const auto [own, added] = settings.try_emplace("machine.footprint.code_line_bytes", size);
  if (own->second.from == Setting::From::schema) own->second = size;
}

MachineTables read_machine_tables(const toml::table& table, const std::filesystem::path& file, const Origin& origin) {
  MachineTables machine;
  machine.parts.caches = caches_in_text(table, file.string(), origin);
  if (const auto* named = table.get(kLevels))
    machine.parts.caches = levels_as_named(*named, "cache", machine.parts.caches, file.string(), origin);
  machine.parts.groups = groups_in_text(table, file.string(), origin);
  if (const auto* named = table.get(kGroupLevels))
    machine.parts.groups = levels_as_named(*named, "group", machine.parts.groups, file.string(), origin);
  machine.parts.links = joins_in_text(table, "link", file.string(), origin);
  machine.parts.pairs = joins_in_text(table, "pair", file.string(), origin);
  machine.parts.memories = memories_in_text(table, file.string(), origin);
  for (const auto& key : schema_keys(machine.parts, {"machine."})) machine.keys.add(key);
  read_settings(leaves(table, "machine", file.string(), origin, {kLevels, kGroupLevels, "sources", "history"}), machine.keys,
                machine.settings);
  for (const KeyInfo& key : machine.keys.keys()) {
    if (!machine.settings.contains(key.path)) machine.defaults.insert(key.path);
  }
  apply_line_size(machine.settings, machine.parts);
  fill_defaults(machine.settings, machine.parts, "machine.", origin);
  apply_contention(machine.settings, machine.keys, machine.family);
  const std::filesystem::path folder = file.parent_path();
  for (auto& [path, setting] : machine.settings) setting.value = anchor_path(path, setting.value, folder);
  if (const auto* entries = table.get("history")) {
    const Origin at{place_of(file.string(), entries->source()), origin.hidden};
    if (!entries->is_array())
      fail(at, "machine.history", fmt::format("expected [[history]] tables, found {}", describe_node(*entries)));
    machine.history = read_history(*entries->as_array(), file.string(), machine.settings, machine.defaults);
  }
  auto& present = machine.settings.at("machine.cpus_present");
  if (present.value == ConfigValue{std::int64_t{0}}) present = machine.settings.at("machine.cpus");
  if (const auto* sources = table.get("sources")) {
    const Origin at{place_of(file.string(), sources->source()), origin.hidden};
    if (!sources->is_table()) fail(at, "machine.sources", fmt::format("expected a table, found {}", describe_node(*sources)));
    machine.sources = read_sources(*sources->as_table(), file.string(), {}, machine.keys);
  }
  for (std::string& path : times_left_out(machine.settings, machine.sources))
    machine.sources.insert_or_assign(std::move(path), kLeftOutSource);
  if (assumes_contention(machine.settings, machine.sources)) machine.sources.insert_or_assign(kContention, kLeftOutSource);
  for (const Family::Parameter& parameter : machine.family.parameters) {
    if (machine.settings.at(parameter.path).from == Setting::From::family)
      machine.sources.insert_or_assign(parameter.path, family_source(parameter, machine.family.name));
  }
  return machine;
}

MachineTables read_machine_text(const std::string& text, const std::filesystem::path& file) {
  return read_machine_tables(parse_toml(text, file.string()), file, Origin{file.string(), "machine."});
}

MachineTables read_machine_file(const std::string& name_or_path, const std::filesystem::path& base,
                                const std::string& context) {
  const auto file = find_file(kMachineFiles, name_or_path, base, context);
  return read_machine_text(read_text(file), file);
}

}  // namespace linebounce::sim
