// `linebounce trace info`

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands/common/command.hpp"
#include "commands/compare_locks/lock_comparison_table.hpp"
#include "commands/trace/trace_table.hpp"
#include "sim/terminal/limits_text.hpp"
#include "trace/check.hpp"
#include "trace/operation.hpp"
#include "trace/profile.hpp"
#include "trace/reader.hpp"
#include "trace/word_locks.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr const char* kInfoFooter = R"(Examples:
  linebounce trace info pool.lbt                  its streams, objects, locks and functions
  linebounce trace info pool.lbt --check          also checks that its operations make sense
  linebounce trace info pool.lbt --recover        what a truncated file still holds
  linebounce trace info pool.lbt --json --top 3   as JSON

A structure's streams and writers are those of its object that has most of them. Exit code 3: the trace cannot be read, or
--check found a fault.)";

struct InfoArguments {
  std::string file;
  std::size_t top = 10;
  bool json = false;
  bool check = false;
  bool recover = false;
};

ordered_json summary_json(const trace::Summary& summary) {
  ordered_json misses = ordered_json::object();
  for (const auto& [source, count] : summary.misses) misses[source] = count;
  return {{"program", summary.program}, {"recorder", summary.recorder}, {"computation", trace::computation_of(summary)},
          {"machine", summary.machine}, {"misses", std::move(misses)},  {"missing", summary.missing}};
}

ordered_json kinds_json(const trace::Profile& profile) {
  ordered_json kinds = ordered_json::object();
  for (std::size_t kind = 1; kind < trace::kKinds; ++kind) {
    if (profile.kinds[kind] > 0) kinds[std::string(trace::kKindFacts[kind].name)] = profile.kinds[kind];
  }
  return kinds;
}

ordered_json streams_json(const trace::Symbols& symbols, const trace::Profile& profile) {
  ordered_json list = ordered_json::array();
  for (std::size_t id = 0; id < profile.streams.size(); ++id) {
    const int cpu = symbols.streams[id].cpu;
    list.push_back({{"name", symbols.streams[id].name},
                    {"cpu", cpu < 0 ? ordered_json(nullptr) : ordered_json(cpu)},
                    {"operations", profile.streams[id].operations},
                    {"accesses", profile.streams[id].accesses},
                    {"acquisitions", profile.streams[id].acquisitions}});
  }
  return list;
}

ordered_json objects_json(const trace::Symbols& symbols, const trace::Profile& profile, std::size_t top) {
  ordered_json list = ordered_json::array();
  for (const ObjectGroup& group : object_groups(symbols, profile)) {
    if (list.size() == top) break;
    list.push_back({{group.has_structure ? "structure" : "name", group.name},
                    {"objects", group.objects},
                    {"bytes", group.bytes},
                    {"loads", group.accesses.loads},
                    {"stores", group.accesses.writes},
                    {"atomics", group.accesses.atomics},
                    {"streams", group.accesses.streams},
                    {"writers", group.accesses.writers}});
  }
  return list;
}

ordered_json locks_json(const trace::Symbols& symbols, const trace::Profile& profile, std::size_t top) {
  ordered_json list = ordered_json::array();
  for (const std::uint32_t id : used_locks(profile)) {
    if (list.size() == top) break;
    const trace::Profile::OfLock& lock = profile.locks[id];
    list.push_back({{"name", symbols.locks[id].name},
                    {"algorithm", symbols.locks[id].algorithm},
                    {"acquisitions", lock.acquisitions},
                    {"shared", lock.shared},
                    {"failed", lock.failed},
                    {"streams", lock.streams}});
  }
  return list;
}

ordered_json functions_json(const trace::Symbols& symbols, const trace::Profile& profile, std::size_t top) {
  ordered_json list = ordered_json::array();
  for (const std::uint32_t id : used_functions(profile)) {
    if (list.size() == top) break;
    list.push_back({{"name", symbols.functions[id].name}, {"entered", profile.entries[id]}});
  }
  return list;
}

void print_json(const InfoArguments& arguments, const trace::Reader& reader, const trace::Profile& profile) {
  ordered_json out;
  out["schema"] = "linebounce.trace_info/1";
  out["file"] = arguments.file;
  out["fingerprint"] = reader.fingerprint();
  out.update(summary_json(reader.summary()));
  out["limits"] = limits_json(trace::limits_of(reader, profile));
  out["damage"] = reader.damage().empty() ? ordered_json(nullptr) : ordered_json(reader.damage());
  out["checked"] = arguments.check;
  out["operations"] = reader.operations();
  out["kinds"] = kinds_json(profile);
  out["streams"] = streams_json(reader.symbols(), profile);
  out["objects"] = objects_json(reader.symbols(), profile, arguments.top);
  out["locks"] = locks_json(reader.symbols(), profile, arguments.top);
  out["word_locks"] = word_locks_json(trace::word_locks(reader));
  out["functions"] = functions_json(reader.symbols(), profile, arguments.top);
  std::cout << out.dump(1, ' ', false, ordered_json::error_handler_t::replace) << "\n";
}

ExitCode show_trace(const InfoArguments& arguments) {
  const trace::Reader reader(arguments.file, {.recover = arguments.recover});
  if (arguments.check) trace::check(reader);
  const trace::Profile profile = trace::profile(reader);
  if (arguments.json) {
    print_json(arguments, reader, profile);
    return ExitCode::done;
  }
  const Painter paint = painter_for_stdout();
  std::cout << trace_tables(reader, profile, arguments.top, paint);
  if (const auto words = trace::word_locks(reader); !words.empty()) {
    std::cout << "\n" << word_locks_table(words, false, paint);
  }
  if (arguments.check) std::cout << "\n  " << paint(Colour::green, "checked") << "  every operation makes sense\n";
  return ExitCode::done;
}

}  // namespace

void add_trace_info(Command& trace) {
  auto arguments = std::make_shared<InfoArguments>();
  Command command = trace.child("info", "Show what is in a trace");
  command.option("TRACE", "", &arguments->file, "A trace, binary or text").required();
  command.option("--top", "N", &arguments->top, "Rows of each table; default: 10").between(1, 1000000);
  command.flag("--check", arguments->check, "Refuse a trace whose operations make no sense");
  command.flag("--recover", arguments->recover, "Read what comes before the first damage of each stream");
  command.flag("--json", arguments->json, "Print one JSON object instead of tables");
  command.footer(kInfoFooter);
  command.action([arguments] { return show_trace(*arguments); });
}

}  // namespace linebounce::sim
