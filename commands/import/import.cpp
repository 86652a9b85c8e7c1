// `linebounce import`
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

#include "commands/calibrate/calibrate.hpp"
#include "commands/common/command.hpp"
#include "commands/import/importers.hpp"
#include "forms/recognised.hpp"
#include "models/text/shell_word.hpp"
#include "sim/point/config_error.hpp"
#include "sim/terminal/terminal.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImportFooter = R"(Examples:
  perf c2c report --stdio > report.txt; linebounce import report.txt && linebounce lines
      shows the lines that a machine's programs share, offset by offset; a part of a report is enough
  linebounce import matrix.csv --family amd_zen -o mine.toml && linebounce run core_to_core --machine mine.toml
      makes a machine from the output of core-to-core-latency, c2clat or MCTOP, or from a spreadsheet
  linebounce import report.txt job.pahole --structure job --at 0xffff888101230000
      names the fields that lie at the lines' offsets; a binary with debug information does as well
  linebounce import ./program --structure job -o job.toml
      makes a layout of a structure by its name in the program's debug information
  linebounce import ext4.ko --base /sys/kernel/btf/vmlinux --structure ext4_inode_info -o inode.toml
      makes one of a kernel module's structure, from the types (BTF) of the module and of its kernel
  lscpu -J -e > cpus.json; linebounce import cpus.json matrix.csv --family amd_zen -o mine.toml
      does the same with the cores, caches and nodes that lscpu, lstopo --of xml, Coreinfo or
      sysctl hw prints
  numactl -H > numa.txt; linebounce import numa.txt --family amd_zen -o mine.toml
      makes one from the firmware's node tables, and takes what they lack from generic_2socket_32core
  linebounce import course.txt && linebounce trace replay course.lbt --machine generic_2socket_32core
      converts and replays lines such as "1 r a1663dc4"
  linebounce import core_0.data core_1.data --as per-core -o two.lbt
      joins several files, each of one CPU
  linebounce import SB.litmus; linebounce import tests/
      shows whether the test's memory model allows its outcome, and how often the machine shows it; of a folder, all its
      .litmus files
  linebounce import SB.litmus --model sc
      judges it by another model; litmus/models/README.md says how to write one
  linebounce import lock_stat.txt --seconds 10 --cpus 32 && linebounce compare-locks lock_stat.lbt
      after: echo 1 > /proc/sys/kernel/lock_stat; echo 0 > /proc/lock_stat; sleep 10; cat /proc/lock_stat > lock_stat.txt
  perf lock record -a -- sleep 5; perf lock contention 2> waits.txt; linebounce import waits.txt
      shows where a kernel waits for its locks

FILE's form is recognised by its content; --as FORM states it. If a file may have several forms, the command asks on a terminal;
elsewhere it exits with 2 and prints the commands to choose from. Below the result, it prints what the data lack and what was
assumed; a trace stores this, too. docs/import.md lists the forms and what each becomes.

Exit codes: 0 done; 2 wrong usage; 3 a file that can't be read; 4 the machine showed what a litmus test's memory model forbids.)";

struct KindImporter {
  FormKind kind;
  ExitCode (*import)(const ImportArguments& arguments, const Form& form);
};
constexpr std::array kImporters = {
    KindImporter{FormKind::trace, import_trace},     KindImporter{FormKind::locks, import_locks},
    KindImporter{FormKind::machine, import_machine}, KindImporter{FormKind::layout, import_layout},
    KindImporter{FormKind::lines, import_lines},     KindImporter{FormKind::litmus, import_litmus},
};

std::string command_again(const ImportArguments& arguments) {
  std::string command = "linebounce import";
  for (const std::string& file : arguments.files) command += " " + shell_word(file);
  if (!arguments.out.empty()) command += " -o " + shell_word(arguments.out);
  return command;
}

void refuse_options_of_others(const ImportArguments& arguments, const Form& form) {
  const bool has_clock = form.kind == FormKind::locks || form.kind == FormKind::lines || form.kind == FormKind::machine;
  if (form.kind != FormKind::locks && (arguments.seconds || arguments.cpus))
    throw ConfigError(fmt::format("{}: is {}; --seconds and --cpus are for lock_stat", arguments.files.front(), form.what));
  if (!has_clock && arguments.mhz)
    throw ConfigError(fmt::format("{}: is {}; --mhz is for files in cycles", arguments.files.front(), form.what));
  if (form.kind != FormKind::machine && !arguments.family.empty())
    throw ConfigError(fmt::format("{}: is {}; --family is for machines", arguments.files.front(), form.what));
  if (form.kind != FormKind::machine && !arguments.os_nodes.empty())
    throw ConfigError(fmt::format("{}: is {}; --os-nodes is for machines", arguments.files.front(), form.what));
  const bool takes_layout = form.kind == FormKind::lines;
  if (form.kind != FormKind::layout && !takes_layout && !arguments.structures.empty())
    throw ConfigError(fmt::format("{}: is {}; --structure is for layouts", arguments.files.front(), form.what));
  if (form.kind != FormKind::layout && !takes_layout && !arguments.base.empty())
    throw ConfigError(fmt::format("{}: is {}; --base is for BTF", arguments.files.front(), form.what));
  if (!takes_layout && (!arguments.layout.empty() || !arguments.at.empty()))
    throw ConfigError(
        fmt::format("{}: is {}; --layout and --at are for reports of perf c2c", arguments.files.front(), form.what));
  if (form.kind != FormKind::litmus && !arguments.model.empty())
    throw ConfigError(fmt::format("{}: is {}; --model is for litmus tests", arguments.files.front(), form.what));
  if (arguments.files.size() > 1 && !form.joins_files)
    throw ConfigError(fmt::format("{}: {} is imported one file at a time", arguments.files[1], form.what));
}

void say_what_it_is(const ImportArguments& arguments, const std::string& file, const ChosenForm& chosen) {
  if (chosen.because.empty()) return;
  std::cout << paragraph(fmt::format("{}: {} {}, for {}.", file, chosen.is_certain ? "recognised as" : "taken for",
                                     chosen.form->what, chosen.because),
                         2, Colour::dim, arguments.painter());
}

std::vector<std::string> litmus_files_in(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (entry.path().extension() == ".litmus" && entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// Imports the litmus tests in a folder and its files.
ExitCode import_folder(ImportArguments arguments) {
  arguments.folder = arguments.files.front();
  if (arguments.files.size() > 1) throw ConfigError(fmt::format("{}: a folder is imported alone", arguments.folder));
  if (!arguments.as.empty() && arguments.as != "litmus")
    throw ConfigError(fmt::format("{}: this is a folder; only litmus tests are imported by folder", arguments.folder));
  arguments.files = litmus_files_in(arguments.folder);
  if (arguments.files.empty())
    throw ConfigError(fmt::format("{}: this is a folder without litmus tests (*.litmus)", arguments.folder));
  const fs::path name = fs::weakly_canonical(arguments.folder).filename();
  if (arguments.out.empty()) arguments.out = name.string() + ".toml";
  const Form& litmus = *form_named("litmus");
  refuse_options_of_others(arguments, litmus);
  return import_litmus(arguments, litmus);
}

// If one of the two files is a perf c2c report and the other a layout, returns the arguments that import the report with that
// layout; else none.
std::optional<ImportArguments> lines_with_layout(const ImportArguments& arguments, const std::vector<const Form*>& forms) {
  if (forms.size() != 2 || !arguments.layout.empty()) return std::nullopt;
  const std::size_t report = forms.front()->kind == FormKind::lines ? 0 : 1;
  if (forms[report]->kind != FormKind::lines || forms[1 - report]->kind != FormKind::layout) return std::nullopt;
  ImportArguments of_report = arguments;
  of_report.layout = arguments.files[1 - report];
  of_report.files = {arguments.files[report]};
  return of_report;
}

ExitCode import_files(const ImportArguments& arguments) {
  const auto is_folder = [](const std::string& file) { return fs::is_directory(file); };
  if (std::ranges::any_of(arguments.files, is_folder)) return import_folder(arguments);
  FormQuestion question{.file = arguments.files.front(), .as = arguments.as, .command = command_again(arguments)};
  std::vector<const Form*> forms;
  for (const std::string& file : arguments.files) {
    question.file = file;
    if (!fs::exists(file)) throw trace::TraceError(read_problem(file, ENOENT));
    const ChosenForm one = question.as.empty() ? choose_form(question, excerpt_of(file)) : choose_form(question, {});
    if (forms.empty() || one.form != forms.back()) say_what_it_is(arguments, file, one);
    forms.push_back(one.form);
  }
  const auto is_machine = [](const Form* form) { return form->kind == FormKind::machine; };
  if (forms.size() > 1 && std::ranges::all_of(forms, is_machine)) return import_machine_parts(arguments, forms);
  if (const auto lines = lines_with_layout(arguments, forms)) return import_lines(*lines, *form_named("perf-c2c"));
  const auto other = std::ranges::find_if(forms, [&](const Form* form) { return form != forms.front(); });
  if (other != forms.end())
    throw ConfigError(fmt::format("{} is {}, and {} is {}: only files of the same form can be joined", arguments.files.front(),
                                  forms.front()->name, arguments.files[other - forms.begin()], (*other)->name));
  refuse_options_of_others(arguments, *forms.front());
  const auto* const importer = std::ranges::find(kImporters, forms.front()->kind, &KindImporter::kind);
  return importer->import(arguments, *forms.front());
}

std::string forms_text() {
  std::string text = "The form of FILE, if its content is ambiguous:";
  for (const Form& form : all_forms()) {
    if (form.kind != FormKind::own) text += fmt::format(" {}", form.name);
  }
  return text;
}

}  // namespace

fs::path output_of(const ImportArguments& arguments, const std::string& extension) {
  const fs::path first = arguments.files.front();
  const fs::path out = arguments.out.empty() ? fs::path(first.stem()).concat(extension) : fs::path(arguments.out);
  for (const std::string& file : arguments.files) {
    std::error_code ignored;
    if (fs::equivalent(file, out, ignored))
      throw ConfigError(fmt::format("{}: is also the input; name another file with -o", out.string()));
  }
  return out;
}

void add_import(Command& program) {
  auto arguments = std::make_shared<ImportArguments>();
  Command command = program.subcommand(
      "import", "Convert what another tool wrote: traces, machines, cache lines, locks, layouts, litmus tests",
      HelpGroup::programs);
  command
      .option("FILE", "", &arguments->files,
              "A file that another tool has written; several: each is one CPU's trace, or a litmus test; or a folder of litmus "
              "tests")
      .required();
  command.option("--as", "FORM", &arguments->as, forms_text());
  command
      .option(
          "-o,--output", "OUT", &arguments->out,
          "The result: a trace (.lbt, or .txt as text), a machine (.toml) or a results directory; default: from FILE's name")
      .own_directory();
  command.option("--seconds", "S", &arguments->seconds, "lock_stat: how long it counted").between_reals(0.001, 1e6);
  command.option("--cpus", "N", &arguments->cpus, "lock_stat: the number of CPUs").between(2, 1024);
  command.option("--mhz", "M", &arguments->mhz, fmt::format("The clock, for files in cycles; default: {} MHz", kAssumedMhz))
      .between(1, 20000);
  command.option(
      "--family", "NAME", &arguments->family,
      "Machines: the contention family (linebounce list families); default: that of the processor that a file names");
  command.option("--os-nodes", "NODES", &arguments->os_nodes, kOsNodesHelp);
  command.flag("--anyway", arguments->anyway, "Machines: write one even if it is more than 15 % off for a kind of pairs");
  command.option("--structure", "NAME", &arguments->structures, "Layouts: this structure alone; may be repeated")
      .one_value_each();
  command.option("--base", "FILE", &arguments->base,
                 "BTF of a kernel module: the file with its kernel's BTF, such as vmlinux or /sys/kernel/btf/vmlinux");
  command.option("--layout", "FILE", &arguments->layout,
                 "perf c2c: a listing, layout or binary with the structure that lies in the lines, so that they have fields");
  command.option("--at", "ADDRESS", &arguments->at,
                 "perf c2c: where the structure of --layout begins; default: the first line");
  command.option("--model", "NAME|FILE", &arguments->model,
                 "Litmus tests: the memory model that judges them, such as x86-tso, or a file; default: the one that they were "
                 "written for");
  command.option("--format", "text|markdown", &arguments->format, "The form of the tables that it prints; default: text")
      .one_of({"text", "markdown"});
  command.footer(kImportFooter);
  command.action([arguments] { return import_files(*arguments); });
}

}  // namespace linebounce::sim
