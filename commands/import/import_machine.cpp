#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "commands/calibrate/calibrate.hpp"
#include "commands/import/importers.hpp"
#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"
#include "sim/terminal/run_report.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

CalibrateArguments wanted_machine(const ImportArguments& arguments, const std::string& from, const Form& form) {
  CalibrateArguments wanted;
  wanted.from = from;
  wanted.as = form.name;
  wanted.output = output_of(arguments, ".toml").string();
  wanted.access = form.name == "mlc" ? "load" : "atomic";
  wanted.mhz = arguments.mhz;
  wanted.family = arguments.family;
  wanted.os_nodes = arguments.os_nodes;
  wanted.anyway = arguments.anyway;
  wanted.at_once = available_cores();
  return wanted;
}

// Ranks forms by their detail about a machine's structure; 0: none.
int detail_of(const Form& form) {
  if (form.name == "numa") return 1;
  if (!form.read_structure) return 0;
  return form.name == "lstopo" ? 3 : 2;
}

MachineTopology described_by(const std::string& structure, const std::vector<std::string>& others) {
  MachineTopology described = read_structure(structure);
  for (const std::string& file : others) add_description(described, file);
  return described;
}

// Imports MLC's output. Its idle latencies alone make a machine, too. `others`: further descriptions of the machine.
ExitCode import_mlc(const ImportArguments& arguments, const std::string& file, const std::string* structure, const Form& form,
                    const std::vector<std::string>& others = {}) {
  const MlcLatencies mlc = read_mlc(read_data(file), file);
  if (structure == nullptr) refuse_mlc_alone(mlc, file);
  if (mlc.local_hitm_ns <= 0)
    return import_nodes(arguments, tables_of(mlc), file, described_by(*structure, others), mlc.loaded);
  CalibrateArguments wanted = wanted_machine(arguments, file, form);
  wanted.topology = *structure;
  wanted.topologies_too = others;
  return run_calibrate(wanted);
}

}  // namespace

ExitCode import_machine(const ImportArguments& arguments, const Form& form) {
  if (form.name == "numa") return import_numa(arguments, arguments.files.front(), std::nullopt);
  if (form.name == "mlc") return import_mlc(arguments, arguments.files.front(), nullptr, form);
  return run_calibrate(wanted_machine(arguments, arguments.files.front(), form));
}

namespace {

struct StructureFile {
  std::string file;
  int detail = 0;
};

// Sorts the most detailed file first, of those that say which CPUs share what: of lscpu's texts, some don't.
void put_readable_first(std::vector<StructureFile>& structures) {
  std::ranges::stable_sort(structures, std::greater{}, &StructureFile::detail);
  const auto is_readable = [](const StructureFile& one) {
    try {
      read_structure(one.file);
      return true;
    } catch (const trace::TraceError&) {
      return false;
    }
  };
  const auto readable = std::ranges::find_if(structures, is_readable);
  if (readable != structures.end()) std::rotate(structures.begin(), readable, readable + 1);
}

}  // namespace

ExitCode import_machine_parts(const ImportArguments& arguments, const std::vector<const Form*>& forms) {
  std::vector<StructureFile> structures;
  std::vector<std::string> names_alone;
  const std::string* latencies = nullptr;
  std::vector<std::string> nodes;
  const Form* measured = nullptr;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const std::string& file = arguments.files[i];
    if (forms[i]->name == "numa") nodes.push_back(file);
    if (forms[i]->read_facts && !forms[i]->read_structure) {
      names_alone.push_back(file);
    } else if (const int detail = detail_of(*forms[i]); detail > 0) {
      structures.push_back({file, detail});
    } else if (latencies != nullptr) {
      throw ConfigError(fmt::format("{} and {} both have latencies: give one of them", *latencies, file));
    } else {
      latencies = &file;
      measured = forms[i];
    }
  }
  if (structures.size() > 1) put_readable_first(structures);
  const std::string* structure = structures.empty() ? nullptr : &structures.front().file;
  std::vector<std::string> others = names_alone;
  for (std::size_t i = 1; i < structures.size(); ++i) others.push_back(structures[i].file);
  if (latencies == nullptr && !nodes.empty()) {
    // Of two files of nodes, one says which CPUs they have, and the other what their memories take.
    const auto other = std::ranges::find_if(nodes, [&](const std::string& file) { return file != *structure; });
    return import_numa(arguments, other == nodes.end() ? nodes.front() : *other, described_by(*structure, others));
  }
  if (latencies == nullptr) return import_machine(arguments, *forms.front());
  if (measured->name == "mlc") return import_mlc(arguments, *latencies, structure, *measured, others);
  CalibrateArguments wanted = wanted_machine(arguments, *latencies, *measured);
  wanted.topologies_too = others;
  if (structure == nullptr) return run_calibrate(wanted);
  wanted.topology = *structure;
  return run_calibrate(wanted);
}

}  // namespace linebounce::sim
