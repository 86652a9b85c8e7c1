#include "commands/calibrate/calibrate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "commands/calibrate/calibration.hpp"
#include "commands/calibrate/calibration_report.hpp"
#include "commands/calibrate/numbering.hpp"
#include "commands/calibrate/simulated_apart.hpp"
#include "commands/calibrate/verdict.hpp"
#include "commands/common/command.hpp"
#include "commands/common/common_options.hpp"
#include "forms/numa.hpp"
#include "forms/recognised.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/project_files.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/run_report.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kCalibrateFooter = R"(
FILE is what linebounce-probe writes, or a core-to-core matrix: a row and a column for each CPU, in nanoseconds, between commas,
semicolons, tabs or blanks, with the CPUs' numbers or without; the diagonal and one side of it may be empty.
core-to-core-latency, c2clat and MCTOP print such matrices. Groups of CPUs may differ in size, and cores have positions.
What waiting costs follows from the processor's name, in the file or its name, or from --family. docs/calibrate.md says what is
fitted, and how.

Examples:
  linebounce-probe -o mine.probe                                               measure this machine
  linebounce calibrate --from mine.probe -o mine.toml
  linebounce run core_to_core --machine mine.toml --set workload.access=atomic    shows the fitted matrix
  core-to-core-latency --csv > mine.csv && linebounce calibrate --from mine.csv --family amd_zen -o mine.toml
  linebounce calibrate --from mine.csv --machine x445_8way --anyway -o my_x445.toml     x445_8way's structure, your latencies)";

// Shows how many candidates have been simulated, on standard error if that is a terminal.
class CandidateLine {
 public:
  CandidateLine() : active_(::isatty(STDERR_FILENO) == 1) {}
  ~CandidateLine() {
    if (active_) std::cerr << kClearLine << std::flush;
  }
  CandidateLine(const CandidateLine&) = delete;
  CandidateLine& operator=(const CandidateLine&) = delete;

  void show(int candidates) const {
    if (active_) std::cerr << kClearLine << fmt::format("calibrate: {} machines simulated", candidates) << std::flush;
  }

 private:
  bool active_;
};

// Groups CPUs by one of their numbers in the topology, `what`, such as their node. Groups are ordered by their first CPU.
std::vector<std::vector<int>> cpus_by(const MachineTopology& topology, int cpus, int TopologyCpu::*what) {
  std::map<int, std::vector<int>> groups;
  for (int cpu = 0; cpu < cpus; ++cpu) groups[topology.cpus[cpu].*what].push_back(cpu);
  std::vector<std::vector<int>> sorted;
  for (auto& [number, group] : groups) sorted.push_back(std::move(group));
  std::ranges::sort(sorted);
  return sorted;
}

// The topology's nodes, shared caches and cores. If one cache serves several nodes, each node gets one bus instead, because a
// bus cannot span nodes.
CpuGroups groups_of(const MachineTopology& topology, int cpus, const std::string& file) {
  if (std::ssize(topology.cpus) != cpus)
    throw ConfigError(
        fmt::format("{}: has {} CPUs, and the matrix {}: both have to be of the same CPUs", file, topology.cpus.size(), cpus));
  CpuGroups groups{cpus_by(topology, cpus, &TopologyCpu::node), cpus_by(topology, cpus, &TopologyCpu::cache),
                   cpus_by(topology, cpus, &TopologyCpu::core)};
  const auto within_a_node = [&](const std::vector<int>& bus) {
    return std::ranges::any_of(groups.nodes, [&](const std::vector<int>& node) { return std::ranges::includes(node, bus); });
  };
  if (!std::ranges::all_of(groups.buses, within_a_node)) groups.buses = groups.nodes;
  return groups;
}

// A machine that was fitted to both would have the structure of one and the latencies of the other, at the wrong places.
void refuse_other_numbers(const LatencyMatrix& matrix, const MachineTopology& topology, const CalibrateArguments& arguments) {
  const NumberingFits fits = compare_numberings(matrix, topology);
  if (!fits.differ()) return;
  constexpr double kPercent = 100;
  throw ConfigError(fmt::format(
      "{0} and {1} number the CPUs differently: as they are, latencies between CPUs at the same distance differ by {2:.0f} %; "
      "by {3:.0f} % if the matrix's CPUs are {4}. Sort the matrix's rows and columns by the numbers that {0} has, or leave it "
      "out: linebounce import {5}{7} -o {6}",
      arguments.topology, arguments.from, kPercent * fits.given.spread, kPercent * fits.best.spread, fits.best.order,
      shell_word(arguments.from), shell_word(arguments.output),
      arguments.family.empty() ? "" : " --family " + arguments.family));
}

// Expands latencies between nodes, which Intel's MLC measures, into a matrix of CPUs: each pair gets the latency of its nodes.
LatencyMatrix matrix_of(const MlcLatencies& mlc, const MachineTopology& topology, const std::string& file) {
  const auto cpus = static_cast<int>(topology.cpus.size());
  if (cpus < 2 || cpus > kMostCpus) throw ConfigError(fmt::format("{}: {} CPUs; legal: 2 to {}", file, cpus, kMostCpus));
  LatencyMatrix matrix(cpus);
  for (int a = 0; a < cpus; ++a) {
    for (int b = 0; b < a; ++b) {
      const auto writer = static_cast<std::size_t>(topology.cpus[a].node),
                 reader = static_cast<std::size_t>(topology.cpus[b].node);
      if (writer == reader) {
        matrix.set(a, b, mlc.local_hitm_ns);
      } else if (writer < mlc.remote_hitm_ns.size() && reader < mlc.remote_hitm_ns.size()) {
        matrix.set_both(a, b, mlc.remote_hitm_ns[writer][reader], mlc.remote_hitm_ns[reader][writer]);
      } else {
        throw ConfigError(fmt::format("{}: has no latency between nodes {} and {}", file, writer, reader));
      }
    }
  }
  check_unit(matrix, file);
  return matrix;
}

// The means of MLC's idle latencies within a node and between nodes; none if no node has one.
std::optional<MemoryLatencies> memory_of(const MlcLatencies& mlc) {
  const auto mean = [&mlc](bool within) -> std::optional<double> {
    double sum = 0;
    int count = 0;
    for (std::size_t cpu = 0; cpu < mlc.idle_ns.size(); ++cpu) {
      for (std::size_t memory = 0; memory < mlc.idle_ns[cpu].size(); ++memory) {
        const double ns = mlc.idle_ns[cpu][memory];
        if (ns > 0 && (cpu == memory) == within) sum += ns, ++count;
      }
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  };
  const auto own = mean(true);
  return own ? std::optional(MemoryLatencies{"MLC", *own, mean(false)}) : std::nullopt;
}

// CPUs that share a cache: as stated, or as many as share the first CPU's last cache.
int cpus_sharing(const TopologyCache& cache, const MachineTopology& topology) {
  if (topology.shared_cache == fmt::format("L{}", cache.level))
    return static_cast<int>(std::ranges::count(topology.cpus, topology.cpus.front().cache, &TopologyCpu::cache));
  if (cache.cpus > 0) return cache.cpus;
  return cache.instances > 0 ? std::max(1, static_cast<int>(std::ssize(topology.cpus)) / cache.instances) : 1;
}

// Puts into the request what files with the structure say of the processor and its caches.
void take_description(MachineTopology& topology, const CalibrateArguments& arguments, CalibrationRequest& request) {
  const auto name_of_file = [](const std::string& file) { return std::filesystem::path(file).filename().string(); };
  std::vector<std::string> caches_files;
  if (!topology.caches.empty()) caches_files.push_back(name_of_file(arguments.topology));
  for (const std::string& file : arguments.topologies_too) {
    const std::vector<TopologyCache> before = topology.caches;
    add_description(topology, file);
    if (topology.caches != before) caches_files.push_back(name_of_file(file));
  }
  request.names.push_back({topology.processor, "as the description of its CPUs names it"});
  if (topology.mhz) {
    request.mhz = topology.mhz;
    request.clock_from = name_of_file(arguments.topology);
  }
  request.structure_file = name_of_file(arguments.topology);
  request.caches_file = fmt::format("{}", fmt::join(caches_files, " and "));
  constexpr std::int64_t kBytesOfKib = 1024;
  for (const TopologyCache& cache : topology.caches) {
    request.caches.push_back({cache.level, static_cast<int>(std::min(cache.bytes / kBytesOfKib, std::int64_t{1} << 30)),
                              cache.ways, cache.line_bytes, cpus_sharing(cache, topology)});
  }
}

// The parts of a measurement file that do not enter the fit.
struct Unfitted {
  Losses losses;
  std::vector<LoadedLatency> loaded = {};
};

// Reads a latency matrix, or everything that linebounce-probe measured.
Unfitted read_measured(const CalibrateArguments& arguments, CalibrationRequest& request) {
  const std::string text = read_data(arguments.from);
  Losses losses;
  if (is_probe_file(text)) {
    request.probe = parse_probe_file(text, arguments.from);
    request.measured = request.probe->matrix;
    return {};
  }
  const FormQuestion question{.file = arguments.from,
                              .as = arguments.as,
                              .kinds = {FormKind::machine},
                              .command = "linebounce import " + shell_word(arguments.from)};
  const Excerpt excerpt = excerpt_of_text(text, std::filesystem::path(arguments.from).filename().string());
  std::optional<MachineTopology> topology;
  if (!arguments.topology.empty()) topology = read_structure(arguments.topology);
  MachineTopology described = topology.value_or(MachineTopology{});
  if (topology || !arguments.topologies_too.empty()) take_description(described, arguments, request);
  // An unrecognised file is read as a matrix, because the matrix reader's error names line and column.
  const bool is_known = !arguments.as.empty() || !recognise(excerpt).candidates.empty();
  const Form& chosen = is_known ? *choose_form(question, excerpt).form : *form_named("matrix");
  const std::string_view form = chosen.name;
  if (form == "lscpu" && !says_what_cpus_share(text))
    throw ConfigError(arguments.from + ": does not say which CPUs share what: lscpu -J -e does");
  if (chosen.read_facts && !chosen.read_structure)
    throw ConfigError(
        fmt::format("{0}: names the processor and has no latencies: add them, as in `core-to-core-latency --csv > "
                    "m.csv; linebounce import {1} m.csv -o mine.toml`",
                    arguments.from, shell_word(arguments.from)));
  if (chosen.read_structure)
    throw ConfigError(
        fmt::format("{0}: says what CPUs share and no latencies: add them, as in `core-to-core-latency --csv > m.csv; "
                    "linebounce import {1} m.csv -o mine.toml`, or measure all with linebounce-probe",
                    arguments.from, shell_word(arguments.from)));
  if (form == "numa")
    throw ConfigError(fmt::format("{0}: has no latencies between cores; `linebounce import {1}` makes a machine of it",
                                  arguments.from, shell_word(arguments.from)));
  if (form == "mlc") {
    const MlcLatencies mlc = read_mlc(text, arguments.from);
    if (!topology) refuse_mlc_alone(mlc, arguments.from);
    if (mlc.local_hitm_ns <= 0)
      throw ConfigError(fmt::format(
          "{0}: has no latency from cache to cache to fit to (mlc --c2c_latency); `linebounce import {1} {2}` makes a machine "
          "of the idle latencies",
          arguments.from, shell_word(arguments.topology), shell_word(arguments.from)));
    request.memory = memory_of(mlc);
    request.measured = matrix_of(mlc, *topology, arguments.from);
    request.groups = groups_of(*topology, request.measured.cpus(), arguments.topology);
    request.names.push_back({std::filesystem::path(arguments.from).stem().string(), "by the file's name"});
    losses.add(mlc.losses);
    losses.add(topology->losses);
    return {losses, mlc.loaded};
  }
  request.names.push_back({titles_in(text), "by the file's title"});
  request.names.push_back({std::filesystem::path(arguments.from).stem().string(), "by the file's name"});
  if (arguments.mhz) {
    request.mhz = arguments.mhz;
    request.clock_from = "--mhz";
  }
  MeasuredMatrix measured = parse_measured_matrix(text, arguments.from, arguments.mhz.value_or(kAssumedMhz));
  if (measured.in_cycles && !arguments.mhz) losses.add(Loss::clock_assumed, "MCTOP", std::to_string(kAssumedMhz));
  if (measured.in_cycles && text.find("#Mem_") != std::string::npos)
    losses.add(Loss::not_fitted, "MCTOP", "latencies and bandwidths of memory");
  if (measured.further_tables > 0)
    losses.add(Loss::not_fitted, "core-to-core-latency", fmt::format("{} further table(s)", measured.further_tables));
  request.measured = std::move(measured.matrix);
  if (topology) {
    request.groups = groups_of(*topology, request.measured.cpus(), arguments.topology);
    refuse_other_numbers(request.measured, *topology, arguments);
    losses.add(topology->losses);
  }
  return {losses};
}

}  // namespace

void refuse_mlc_alone(const MlcLatencies& mlc, const std::string& file) {
  throw ConfigError(fmt::format(
      "{0}: MLC measures nodes, and does not say which CPUs they have: add that, as in `lscpu -J -e > cpus.json; linebounce "
      "import cpus.json {1} -o mine.toml`{2}",
      file, shell_word(file),
      mlc.local_hitm_ns > 0 ? "" : "; latencies from cache to cache are missing, too: mlc --c2c_latency"));
}

std::string keep_as_prediction(const std::vector<LoadedLatency>& loaded, const std::string& machine, Losses& losses) {
  if (loaded.empty()) return {};
  const std::string csv = std::filesystem::path(machine).replace_extension(".loaded.csv").string();
  replace_own_file(csv, loaded_latencies_csv(loaded), kLoadedLatenciesTitle);
  losses.add(Loss::kept_as_prediction, "MLC", csv);
  return fmt::format("  Score it: linebounce validate load_to_use --against {} --machine {}\n", shell_word(csv),
                     shell_word(machine));
}

MachineTopology read_structure(const std::string& file) {
  const std::string text = read_data(file);
  const FormQuestion question{.file = file, .kinds = {FormKind::machine}, .command = "linebounce import " + shell_word(file)};
  const Form& form = *choose_form(question, excerpt_of_text(text, file)).form;
  if (form.read_structure) return form.read_structure(text, file);
  if (form.name == "numa") return topology_of(read_numa(text, file), file);
  std::string names;
  for (const Form& each : all_forms()) {
    if (each.read_structure) names += fmt::format("{}, ", each.name);
  }
  throw ConfigError(fmt::format("{}: is {}; --topology is of the form {}or numa", file, form.name, names));
}

void add_description(MachineTopology& topology, const std::string& file) {
  const std::string text = read_data(file);
  const FormQuestion question{.file = file, .kinds = {FormKind::machine}, .command = "linebounce import " + shell_word(file)};
  const Form& form = *choose_form(question, excerpt_of_text(text, file)).form;
  if (form.read_facts) {
    add_what_is_missing(topology, form.read_facts(text));
  } else if (form.read_structure) {
    add_what_is_missing(topology, form.read_structure(text, file));
  }
}

ExitCode run_calibrate(const CalibrateArguments& arguments) {
  if (std::filesystem::path(arguments.output).extension() != ".toml") {
    throw ConfigError("--output " + arguments.output + ": a machine file's name ends in .toml");
  }
  CalibrationRequest request;
  request.name = std::filesystem::path(arguments.output).stem().string();
  if (!names_directory(request.name)) {
    throw ConfigError("--output " + arguments.output + ": the machine is named as its file, and \"" + request.name + "\" " +
                      kNoDirectoryName);
  }
  request.matrix_file = arguments.from;
  Unfitted unfitted = read_measured(arguments, request);
  if (!arguments.machine.empty()) request.machine = arguments.machine;
  request.access = arguments.access;
  request.ask_family = family_question();
  if (!arguments.family.empty()) request.family = arguments.family;
  request.os_nodes = arguments.os_nodes;
  request.at_once = arguments.at_once;
  Calibration calibration;
  try {
    const CandidateLine line;
    request.progress = [&line](int candidates) { line.show(candidates); };
    calibration = calibrate(request);
  } catch (const Interrupted&) {
    std::cerr << "linebounce: interrupted; nothing was written\n";
    return ExitCode::interrupted;
  }
  if (const std::string off = far_off(calibration); !off.empty() && !arguments.anyway) {
    std::cout << calibration_report(calibration, painter_for_stdout());
    throw ConfigError(fmt::format("{}: {}: {} is not written; --anyway writes it", arguments.from, off, arguments.output));
  }
  const std::string score = keep_as_prediction(unfitted.loaded, arguments.output, unfitted.losses);
  std::string text = machine_file_text(calibration, arguments.from);
  for (const std::string& sentence : unfitted.losses.sentences()) text += "# " + sentence + "\n";
  write_file(arguments.output, text);
  std::cout << calibration_report(calibration, painter_for_stdout());
  std::cout << fmt::format("\n  Written: {}\n  See it:  linebounce run core_to_core --machine {}{}\n", arguments.output,
                           shell_word(arguments.output), arguments.access == "atomic" ? " --set workload.access=atomic" : "");
  std::cout << score << losses_text(unfitted.losses, painter_for_stdout());
  return ExitCode::done;
}

void add_calibrate(Command& program) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  arguments->at_once = available_cores();
  Command command = program.subcommand(
      "calibrate", "Fit a machine to measurements: linebounce-probe's, or a core-to-core matrix", HelpGroup::machines);
  command.option("--from", "FILE", &arguments->from, "linebounce-probe's file, or a core-to-core matrix").required();
  command.option(
      "--topology", "FILE", &arguments->topology,
      "Which CPUs share a core, a cache and a node, from lscpu -J -e, lstopo's XML, Coreinfo, sysctl hw or numactl -H; "
      "default: as the matrix shows it");
  command.option(
      "--machine", "NAME", &arguments->machine,
      "Keep this machine's structure; default: the one found in the measurements, with the rest of generic_2socket_32core");
  command.option("-o,--output", "MACHINE.toml", &arguments->output, "The machine file to write")
      .required()
      .output_file("a machine", {".toml"});
  command
      .option("--access", "atomic|load", &arguments->access,
              "What the matrix measures: atomic (core-to-core-latency's compare-and-exchange) or load; default: atomic")
      .one_of({"atomic", "load"});
  command.option(
      "--family", "NAME", &arguments->family,
      "Contention family (linebounce list families); default: that of the processor that a file names, else --machine's");
  command.option("--os-nodes", "NODES", &arguments->os_nodes, kOsNodesHelp);
  command
      .option("--mhz", "M", &arguments->mhz, fmt::format("The clock of a file that counts in cycles; default: {}", kAssumedMhz))
      .between(1, 20000);
  command.flag("--anyway", arguments->anyway, "Write the machine even if it is more than 15 % off for a kind of pairs");
  add_jobs(command, arguments->at_once);
  command.footer(kCalibrateFooter);
  command.action([arguments] { return run_calibrate(*arguments); });
}

}  // namespace linebounce::sim
