#include "commands/steps/document.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "commands/steps/names.hpp"
#include "commands/steps/sentences.hpp"
#include "models/ordinal.hpp"
#include "models/text/visible.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/numbers.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

// The largest integer that JavaScript represents exactly. Larger numbers are written as text.
constexpr std::uint64_t kExact = std::uint64_t{1} << 53;

std::string digits(std::uint64_t value) {
  return value <= kExact ? fmt::format("{}", value) : fmt::format("\"0x{:x}\"", value);
}

ordered_json exact(std::uint64_t value) {
  return value <= kExact ? ordered_json(value) : ordered_json(fmt::format("0x{:x}", value));
}

ordered_json table_json(const ControllerTable& table) {
  ordered_json states = ordered_json::array(), plain = ordered_json::array(), meanings = ordered_json::array();
  ordered_json stable = ordered_json::array(), cells = ordered_json::array(), rows = ordered_json::array();
  for (const StateInfo& state : table.states) {
    states.push_back(state.name);
    plain.push_back(plain_state(state.name));
    meanings.push_back(state.meaning);
    stable.push_back(state.stable);
  }
  for (const Row& row : table.rows) cells.push_back(row.impossible ? 0 : static_cast<int>(row.source_line));
  for (const WrittenRow& row : table.written) rows.push_back({row.line, row.in, row.on, row.actions, row.then, row.why});
  const std::string protocol = table.files.empty() ? "" : table.files.front().name;
  ordered_json events = ordered_json::array();
  for (const BaseEvent& event : table.base_events) events.push_back({event.name, event.meaning, event.first, event.count});
  return {{"name", table.name}, {"protocol", protocol},   {"states", states},      {"plain", plain}, {"meanings", meanings},
          {"stable", stable},   {"events", table.events}, {"base_events", events}, {"lines", cells}, {"rows", rows}};
}

void add_machine(const RecordedSteps& run, const Endpoints& endpoints, ordered_json& out) {
  ordered_json tables = ordered_json::array();
  for (std::size_t controller = 0; controller < kControllers; ++controller)
    tables.push_back(table_json(run.table(static_cast<Controller>(controller))));
  out["tables"] = std::move(tables);
  ordered_json places = ordered_json::array(), caches = ordered_json::array(), named = ordered_json::array();
  for (const CpuPlace& place : run.places) places.push_back({place.node, place.bus, place.core, place.thread});
  constexpr std::array<const char*, kEndpointKinds> kKinds = {"cache", "bus", "memory", "controller", "directory", "group"};
  for (const Endpoints::Entry& entry : endpoints.all()) {
    if (entry.endpoint.kind == Endpoint::Kind::cache) caches.push_back({entry.label, entry.node, entry.bus, entry.cpus});
    named.push_back({kKinds[ordinal(entry.endpoint.kind)], entry.endpoint.number, entry.label, entry.node});
  }
  const MachineLayout layout = lay_out(run.input.machine);
  out["places"] = std::move(places);
  out["caches"] = std::move(caches);
  out["nodes"] = layout.nodes();
  out["buses"] = layout.cores_on_bus.size();
  out["groups"] = layout.groups.size();
  out["endpoints"] = std::move(named);
  out["messages"] = message_names(run);
  out["operations"] = kStepOperationNames;
  out["accesses"] = kStepAccessNames;
}

// For each function in a program's text, its first line. Finds a function only if "function" and its name are on one line.
ordered_json function_lines(const std::string& text) {
  ordered_json lines = ordered_json::object();
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view rest = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    for (const std::string_view word : {"local ", "function "}) {
      if (word == "local " && rest.substr(0, word.size()) == word) rest.remove_prefix(word.size());
      if (word != "function " || rest.substr(0, word.size()) != word) continue;
      rest.remove_prefix(word.size());
      const std::string name(rest.substr(0, rest.find_first_of(" (")));
      if (!name.empty() && !lines.contains(name)) lines[name] = line;
    }
  }
  return lines;
}

void add_program(const RecordedSteps& run, ordered_json& out) {
  ordered_json objects = ordered_json::array();
  for (const StepRecorder::Object& object : run.facts.objects)
    objects.push_back({object.name, object.structure, exact(run.facts.frames.to_physical(object.begin)), object.size});
  out["functions"] = run.facts.functions;
  out["objects"] = std::move(objects);
  if (run.input.program.path.empty()) return;
  out["program"] = {{"name", run.input.program.name()},
                    {"text", run.input.program.text},
                    {"functions", function_lines(run.input.program.text)}};
}

void add_results(const RecordedSteps& run, ordered_json& out) {
  ordered_json metrics = ordered_json::object(), files = ordered_json::object();
  for (const auto& [name, metric] : run.results.metrics) metrics[name] = {number_to_json(metric.value), metric.unit};
  for (const CsvFile& file : csv_files(0, run.results)) files[file.name] = file.content;
  files[kTimelineFile] = run.results.timeline;
  out["metrics"] = std::move(metrics);
  out["files"] = std::move(files);
}

std::string words_text(const RecordedSteps& run) {
  std::string text = "[";
  std::size_t number = 0;
  for (const auto& [word, name] : run.facts.words) {
    const RecordedSteps::WordValues& values = run.word_values[number++];
    text += fmt::format("{}[{},{},{},{},{}]", number > 1 ? ",\n" : "\n", digits(word.first), word.second,
                        ordered_json(name).dump(), digits(values.first), digits(values.last));
  }
  return text + "]";
}

void append_directory(const Endpoints& endpoints, const RunStep& step, std::string& text) {
  const auto out = std::back_inserter(text);
  const auto agent = [&](int number) { return endpoints.number(endpoints.home_agent(number)); };
  fmt::format_to(out, "[{},{},{},{},", step.time, static_cast<int>(step.kind), step.agent, digits(step.where));
  text += step.cpu < 0 ? "-1" : std::to_string(agent(step.cpu));
  text += ",[";
  for (int number = 0; number < 64; ++number) {
    if ((step.fresh >> number & 1) == 0) continue;
    if (text.back() != '[') text += ',';
    text += std::to_string(agent(number));
  }
  text += "]]";
}

void append_step(const RecordedSteps& run, const Endpoints& endpoints, const RunStep& step, std::string& text) {
  const auto out = std::back_inserter(text);
  const int kind = static_cast<int>(step.kind);
  switch (step.kind) {
    case RunStepKind::row:
      fmt::format_to(out, "[{},{},{},{},{},{},{},{}]", step.time, kind, step.what, step.agent, digits(step.where), step.state,
                     step.event, step.next);
      return;
    case RunStepKind::access:
      fmt::format_to(out, "[{},{},{},{},{},{},{},{},{},{}]", step.time, kind, step.agent, step.cpu, step.what,
                     digits(step.where), step.bytes, digits(step.old), digits(step.fresh),
                     step.far    ? 2
                     : step.flag ? 1
                                 : 0);
      return;
    case RunStepKind::message:
      fmt::format_to(out, "[{},{},{},{},{},{},{},{}]", step.time, kind, endpoints.number(step.from), endpoints.number(step.to),
                     message_number(run, step), digits(step.where), step.arrives == kNever ? -1 : step.arrives,
                     step.flag ? 1 : 0);
      return;
    case RunStepKind::operation:
      fmt::format_to(out, "[{},{},{},{},{},{},{},{},{},{}]", step.time, kind, step.cpu, step.what, digits(step.where),
                     step.bytes, digits(step.fresh), step.source_line, step.function, digits(step.old));
      return;
    case RunStepKind::buffer:
      fmt::format_to(out, "[{},{},{},{},{},{},{}]", step.time, kind, step.cpu, digits(step.where), step.bytes,
                     digits(step.fresh), step.what);
      return;
    case RunStepKind::data:
      fmt::format_to(out, "[{},{},{},{},{},{},{}]", step.time, kind, endpoints.number(step.from), digits(step.where),
                     step.bytes, step.flag ? digits(step.old) : "-1", digits(step.fresh));
      return;
    case RunStepKind::directory: append_directory(endpoints, step, text); return;
  }
}

std::string log_text(const RecordedSteps& run, const Endpoints& endpoints) {
  std::string text = "[";
  for (const RunStep& step : run.steps) {
    text += text.size() > 1 ? ",\n" : "\n";
    append_step(run, endpoints, step, text);
  }
  return text + "]";
}

std::string sentences_text(const RecordedSteps& run) {
  std::string text = "[";
  for (const std::string& sentence : sentences(run)) {
    text += text.size() > 1 ? ",\n" : "\n";
    text += ordered_json(sentence).dump();
  }
  return text + "]";
}

}  // namespace

std::string steps_document(const RecordedSteps& run) {
  ordered_json head = {{"format", 1}, {"exit", static_cast<int>(run.exit)}, {"error", run.error}, {"cut", run.cut}};
  const Endpoints endpoints(run);
  if (run.known) add_machine(run, endpoints, head);
  head["assumptions"] = run.assumptions;
  head["tick_ns"] = run.facts.tick_ns;
  head["cpus"] = run.facts.cpus;
  head["line_bytes"] = run.facts.line_bytes;
  add_program(run, head);
  if (run.exit == ExitCode::done && !run.cut) add_results(run, head);
  std::string text = head.dump(1);
  text.resize(text.size() - 2);  // removes the closing brace and the newline before it, to append members
  return visible(text + ",\n\"words\": " + words_text(run) + ",\n\"log\": " + log_text(run, endpoints) +
                 ",\n\"sentences\": " + sentences_text(run) + "}\n");
}

}  // namespace linebounce::sim
