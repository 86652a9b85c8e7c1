#include "commands/layout/layout_inputs.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "forms/access_trace.hpp"
#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/results/own_directory.hpp"
#include "trace/error.hpp"
#include "workloads/replay/places.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const LayoutSet& layouts) {
  std::vector<std::string> names;
  for (const auto& [name, layout] : layouts.all()) names.push_back(name);
  return names;
}

TypeSizes sizes_of(const std::vector<std::string>& words) {
  constexpr std::uint64_t kMost = 65536;
  TypeSizes sizes;
  for (const std::string& word : words) {
    const std::size_t equals = word.rfind('=');
    const auto bytes = equals == word.npos ? std::nullopt : decimal(std::string_view(word).substr(equals + 1));
    if (!bytes || *bytes < 1 || *bytes > kMost)
      throw ConfigError(fmt::format("--size {}: expected TYPE=BYTES, as in --size struct_page_pool=256", word));
    sizes[word.substr(0, equals)] = static_cast<int>(*bytes);
  }
  return sizes;
}

std::uint64_t address_of(const std::string& text, const C2cReport& report) {
  if (text.empty()) {
    if (report.lines.empty()) throw ConfigError("--accesses: the report has no lines");
    return report.lines.front().address;
  }
  const auto address = hexadecimal(text);
  if (!address) throw ConfigError(fmt::format("--at {}: expected an address, as in --at 0xffff888100a2c040", text));
  return *address;
}

// The form of a file that is not a trace: "accesses" or "perf-c2c"; empty if it has neither form.
std::string_view form_of(const std::string& file) {
  const Recognised recognised = recognise(excerpt_of(file));
  for (const FormCandidate& candidate : recognised.candidates) {
    if (candidate.form->name == "accesses" || candidate.form->name == "perf-c2c") return candidate.form->name;
  }
  return {};
}

void write_trace(const LayoutArguments& arguments, const AccessTable& table, Layout layout, std::size_t left_out,
                 int line_bytes, const fs::path& file) {
  // Assumes that the object begins at a line, as pahole and a table of accesses do.
  layout.base_offset.reset();
  layout.alignment = std::max(layout.alignment, line_bytes);
  make_own_directory(file.parent_path());
  UnfinishedFile unfinished(file);
  trace::Writer writer(unfinished.path());
  Losses losses = write_access_trace(table, layout, {.threads = arguments.threads}, writer);
  losses.add_count(Loss::types_unknown, table.file, static_cast<std::int64_t>(left_out));
  trace::Summary summary;
  summary.program = table.file;
  summary.recorder = "linebounce layout";
  summary.missing = losses.sentences();
  writer.finish(summary);
  unfinished.finish();
}

int largest_line(const LayoutArguments& arguments, const std::vector<std::string>& machines) {
  if (arguments.line_bytes) return *arguments.line_bytes;
  int line = 0;
  for (const std::string& machine : machines) line = std::max(line, load_machine(machine).spec.bus.line_bytes);
  return line;
}

}  // namespace

Layout layout_of_binary(const std::string& binary, const std::string& structure, const std::string& base,
                        const std::string& directory) {
  make_own_directory(directory);
  const fs::path out = fs::path(directory) / (structure + ".toml");
  std::string command =
      shell_word(fs::read_symlink("/proc/self/exe").string()) + " import " + shell_word(fs::absolute(binary).string());
  command += fmt::format(" --structure {} -o {}", shell_word(structure), shell_word(out.string()));
  if (!base.empty()) command += " --base " + shell_word(fs::absolute(base).string());
  command += " >/dev/null";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a command of our own, with every word quoted
  const std::string failed =
      fmt::format("--binary {}: import, whose message is above, could not read {} from it", binary, structure);
  if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::unreadable_input)) throw trace::TraceError(failed);
  if (status != 0) throw ConfigError(failed);
  return layout_at(out.string(), structure);
}

void add_layout_options(Command& command, LayoutArguments& arguments) {
  command
      .option("--accesses", "FILE", &arguments.trace,
              "Who touches what: a recording or other trace, a report of perf c2c, or a table like Linux's net_cachelines")
      .required();
  command
      .option("--size", "TYPE=BYTES", &arguments.type_sizes,
              "Size of a type that the table names, if the structure itself is not given")
      .one_value_each();
  command.option("--at", "ADDRESS", &arguments.at,
                 "For perf c2c: the address of the object; default: that of the report's first line");
  command
      .option("--threads", "N", &arguments.threads,
              "For a table that states no numbers of CPUs: how many run its paths in all; default: 16")
      .between(1, 256);
  add_machines(command, arguments.machines);
  add_orders(command, arguments.orders);
  command.option("--line-bytes", "N", &arguments.line_bytes, "Size of a line; default: the machines' largest").between(8, 4096);
  command.option("--set", "PATH=VALUE", &arguments.sets, "Override a parameter of the machine or the replay").settings();
  command.option("-o,--output", "DIR", &arguments.directory, "Folder for the results; default: out/layout/STRUCTURE")
      .own_directory();
  add_jobs(command, arguments.at_once);
  command.flag("--json", arguments.json, "Print one JSON object instead of text");
}

void refuse_unexplained(const Layout& layout) {
  if (const std::string text = unexplained_text(layout); !text.empty())
    throw trace::TraceError(fmt::format("structure {}: {}; no result about its members can rest on that", layout.name, text));
}

Layout LayoutInput::layout() const {
  return workloads::layouts_of(reader->symbols()).find(structure);
}

Layout layout_at(const std::string& place, const std::string& structure, const std::string& base) {
  std::string file = place, name = structure;
  const std::size_t colon = place.rfind(':');
  if (colon != place.npos && colon > 0 && !fs::exists(place)) {
    file = place.substr(0, colon);
    name = place.substr(colon + 1);
  }
  LayoutChoice choice{.base = base};
  if (!name.empty()) choice.wanted.push_back(name);
  const fs::path found = find_layout_file(file, "");
  const LayoutFile layouts = read_layout_file(read_text(found), found, choice);
  const std::vector<std::string> known = names_in(layouts.layouts);
  if (name.empty()) {
    if (known.size() == 1) return layouts.layouts.find(known.front());
    throw ConfigError(fmt::format("{}: has {} structures; name one: {}:{}", file, known.size(), file,
                                  known.empty() ? "NAME" : known.front()));
  }
  if (const auto unread = layouts.unread.find(name); unread != layouts.unread.end())
    throw trace::TraceError(fmt::format("{}: {}: {}", file, name, unread->second));
  if (std::ranges::find(known, name) == known.end())
    throw ConfigError(fmt::format("{}: structure {}", file, not_known(name, known)));
  return layouts.layouts.find(name);
}

LayoutInput layout_input(const LayoutArguments& arguments, const std::string& structure, const std::optional<Layout>& given) {
  LayoutInput input{.reader = nullptr, .structure = structure, .table = {}, .machines = arguments.machines};
  if (input.machines.empty()) input.machines.assign(kUsualMachines.begin(), kUsualMachines.end());
  const std::string_view form = form_of(arguments.trace);
  if (form.empty()) {
    input.reader = std::make_unique<trace::Reader>(arguments.trace);
    input.machines = machines_for(arguments.machines, *input.reader);
    input.line_bytes = largest_line(arguments, input.machines);
    std::vector<std::string> known;
    for (const trace::Structure& it : input.reader->symbols().structures) known.push_back(it.name);
    const auto is_meant = [&structure](const std::string& name) {
      return name == structure || name.ends_with("::" + structure);
    };
    if (std::ranges::find(known, structure) == known.end() && std::ranges::count_if(known, is_meant) == 1)
      input.structure = *std::ranges::find_if(known, is_meant);
    if (std::ranges::find(known, input.structure) == known.end())
      throw ConfigError(fmt::format("{}: structure {}", arguments.trace, not_known(structure, known)));
    input.aligns = input.layout().base_offset || input.layout().alignment % input.line_bytes != 0;
    return input;
  }
  input.line_bytes = largest_line(arguments, input.machines);
  const fs::path file = fs::path(arguments.directory) / "accesses.lbt";
  Layout layout;
  std::vector<std::string> left_out;
  if (form == "accesses") {
    input.table = read_access_table(arguments.trace);
    layout = given ? *given : layout_of_types(*input.table, sizes_of(arguments.type_sizes), left_out);
  } else {
    if (!given) throw ConfigError("a report of perf c2c knows no fields: give the structure by --pahole");
    layout = *given;
    const C2cReport report = read_c2c_report(arguments.trace);
    input.table = table_of_c2c(report, layout, address_of(arguments.at, report));
  }
  layout.name = structure;
  write_trace(arguments, *input.table, layout, left_out.size(), input.line_bytes, file);
  input.reader = std::make_unique<trace::Reader>(file.string());
  return input;
}

}  // namespace linebounce::sim
