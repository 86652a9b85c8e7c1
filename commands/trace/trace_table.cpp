#include "commands/trace/trace_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

#include "models/text/template_arguments.hpp"
#include "sim/answer/quantity.hpp"
#include "sim/terminal/limits_text.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using trace::Profile;
using trace::Reader;
using trace::Symbols;

std::string readable_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const auto kib = static_cast<double>(bytes) / 1024;
  return kib < 1024 ? figure(kib, "KiB") : figure(kib / 1024, "MiB");
}

std::uint64_t sum_of(const Profile::OfObject& it) {
  return it.loads + it.writes + it.atomics;
}

std::uint64_t sum_of(const Profile::OfLock& it) {
  return it.acquisitions + it.shared + it.failed;
}

// The indices of the values in `uses` that are not 0, sorted by value, the largest first.
std::vector<std::uint32_t> by_use(const std::vector<std::uint64_t>& uses) {
  std::vector<std::uint32_t> ids(uses.size());
  std::iota(ids.begin(), ids.end(), 0U);
  std::erase_if(ids, [&uses](std::uint32_t id) { return uses[id] == 0; });
  std::ranges::stable_sort(ids, [&uses](std::uint32_t a, std::uint32_t b) { return uses[a] > uses[b]; });
  return ids;
}

// A table of names with figures.
Table of_names(std::string title, const std::vector<std::string>& titles, std::size_t figure_width, const Painter& paint) {
  std::vector<Column> columns = {names(std::move(title))};
  for (std::size_t i = 0; i < titles.size(); ++i) {
    columns.push_back(is_narrow(paint) ? dispensable(figures(titles[i], 0, 2), static_cast<int>(i))
                                       : figures(titles[i], figure_width));
  }
  Table table(std::move(columns), paint);
  table.add_rule();
  return table;
}

// Appends a line such as "and 12 more locks" to the table. `left_out`: the number of left-out rows. `what`: what a row is.
std::string with_rest(const Table& table, std::size_t shown, std::size_t left_out, std::string_view what,
                      const Painter& paint) {
  if (shown == 0) return "";
  const std::string rest = fmt::format("  and {} more {}", grouped(left_out), what);
  return "\n" + table.text() + (left_out > 0 ? paint(Colour::dim, rest) + "\n" : "");
}

std::string measured_text(const trace::Summary& summary) {
  std::string text = summary.machine;
  std::string misses;
  for (const auto& [source, count] : summary.misses) {
    misses += fmt::format("{}{} {}", misses.empty() ? "" : ", ", grouped(static_cast<std::uint64_t>(count)), source);
  }
  return misses.empty() ? text : text + "; misses: " + misses;
}

std::string head(const Reader& reader, const Profile& profile, const Painter& paint) {
  const trace::Summary& summary = reader.summary();
  std::error_code ignored;
  const std::uint64_t bytes = std::filesystem::file_size(reader.file(), ignored);
  const double each = reader.operations() == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(reader.operations());
  std::uint64_t accesses = 0;
  for (const Profile::OfStream& stream : profile.streams) accesses += stream.accesses;
  Table facts = labelled(13, paint);
  facts.add({{"operations", Colour::dim},
             fmt::format("{} in {}; {} accesses to memory", grouped(reader.operations()),
                         plural(profile.streams.size(), "stream"), grouped(accesses))});
  facts.add({{"size", Colour::dim}, fmt::format("{}, {} bytes an operation", readable_bytes(bytes), figure(each))});
  if (!summary.program.empty()) facts.add({{"program", Colour::dim}, summary.program});
  if (!summary.recorder.empty()) facts.add({{"recorded by", Colour::dim}, summary.recorder});
  if (!summary.machine.empty()) facts.add({{"measured on", Colour::dim}, measured_text(summary)});
  for (std::size_t i = 0; i < summary.missing.size(); ++i) {
    facts.add({{i == 0 ? "missing" : "", Colour::dim}, summary.missing[i]});
  }
  std::istringstream damage(reader.damage());
  std::string label = "damaged";
  for (std::string line; std::getline(damage, line); label.clear()) {
    facts.add({{label, Colour::red}, line});
  }
  return "  " + paint(Colour::bold, reader.file().string()) + "\n" + facts.text();
}

std::string stream_table(const Reader& reader, const Profile& profile, std::size_t most, const Painter& paint) {
  Table table = of_names("stream", {"CPU", "operations", "accesses", "locks taken"}, 14, paint);
  const auto& streams = reader.symbols().streams;
  const std::size_t shown = std::min(most, streams.size());
  for (std::size_t id = 0; id < shown; ++id) {
    const Profile::OfStream& counts = profile.streams[id];
    table.add({streams[id].name, streams[id].cpu < 0 ? "any" : std::to_string(streams[id].cpu), grouped(counts.operations),
               grouped(counts.accesses), grouped(counts.acquisitions)});
  }
  return with_rest(table, shown, streams.size() - shown, "streams", paint);
}

std::string object_table(const Reader& reader, const Profile& profile, std::size_t most, const Painter& paint) {
  Table table = of_names("structure or object", {"objects", "loads", "stores", "atomics", "streams", "writers"}, 12, paint);
  const std::vector<ObjectGroup> groups = object_groups(reader.symbols(), profile);
  const std::size_t shown = std::min(most, groups.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ObjectGroup& group = groups[i];
    const Profile::OfObject& it = group.accesses;
    table.add({group.shown_name(), grouped(group.objects), grouped(it.loads), grouped(it.writes), grouped(it.atomics),
               std::to_string(it.streams), std::to_string(it.writers)});
  }
  return with_rest(table, shown, groups.size() - shown, "structures and objects", paint);
}

std::string lock_table(const Reader& reader, const Profile& profile, std::size_t most, const Painter& paint) {
  Table table = of_names("lock", {"taken", "shared", "tries failed", "streams", "as recorded"}, 15, paint);
  const std::vector<std::uint32_t> used = used_locks(profile);
  const std::size_t shown = std::min(most, used.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const trace::Lock& lock = reader.symbols().locks[used[i]];
    const Profile::OfLock& it = profile.locks[used[i]];
    table.add({without_template_arguments(lock.name), grouped(it.acquisitions), grouped(it.shared), grouped(it.failed),
               std::to_string(it.streams), shortened(lock.algorithm, 14)});
  }
  return with_rest(table, shown, used.size() - shown, "locks", paint);
}

std::string function_table(const Reader& reader, const Profile& profile, std::size_t most, const Painter& paint) {
  Table table = of_names("function", {"entered"}, 14, paint);
  const std::vector<std::uint32_t> used = used_functions(profile);
  const std::size_t shown = std::min(most, used.size());
  for (std::size_t i = 0; i < shown; ++i) {
    table.add({without_template_arguments(reader.symbols().functions[used[i]].name), grouped(profile.entries[used[i]])});
  }
  return with_rest(table, shown, used.size() - shown, "functions", paint);
}

}  // namespace

std::string ObjectGroup::shown_name() const {
  const bool is_template = has_structure && name.find('<') != std::string::npos;
  return is_template && objects == 1 ? variable : without_template_arguments(name);
}

std::vector<ObjectGroup> object_groups(const Symbols& symbols, const Profile& profile) {
  std::map<std::pair<bool, std::string>, ObjectGroup> groups;
  for (std::size_t id = 0; id < symbols.objects.size(); ++id) {
    const trace::Object& object = symbols.objects[id];
    const bool has_structure = object.structure != trace::kNone;
    const std::string& name = has_structure ? symbols.structures[object.structure].name : object.name;
    ObjectGroup& group = groups[{has_structure, name}];
    group.name = name;
    if (group.objects == 0) group.variable = object.name;
    group.has_structure = has_structure;
    ++group.objects;
    group.bytes += static_cast<std::uint64_t>(object.size);
    const Profile::OfObject& it = profile.objects[id];
    group.accesses.loads += it.loads;
    group.accesses.writes += it.writes;
    group.accesses.atomics += it.atomics;
    group.accesses.streams = std::max(group.accesses.streams, it.streams);
    group.accesses.writers = std::max(group.accesses.writers, it.writers);
  }
  std::vector<ObjectGroup> list;
  for (auto& [unused, group] : groups) list.push_back(std::move(group));
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) { return sum_of(a.accesses) > sum_of(b.accesses); });
  return list;
}

std::vector<std::uint32_t> used_locks(const Profile& profile) {
  std::vector<std::uint64_t> uses;
  for (const Profile::OfLock& lock : profile.locks) uses.push_back(sum_of(lock));
  return by_use(uses);
}

std::vector<std::uint32_t> used_functions(const Profile& profile) {
  return by_use(profile.entries);
}

std::string trace_tables(const Reader& reader, const Profile& profile, std::size_t most, const Painter& paint) {
  return limits_text(trace::limits_of(reader, profile), 2, paint) + head(reader, profile, paint) +
         stream_table(reader, profile, most, paint) + object_table(reader, profile, most, paint) +
         lock_table(reader, profile, most, paint) + function_table(reader, profile, most, paint);
}

}  // namespace linebounce::sim
