#include <fmt/format.h>

#include "sim/commands/calibrate.hpp"
#include "sim/commands/import/importers.hpp"
#include "sim/point/config_error.hpp"
#include "sim/terminal/run_report.hpp"

namespace linebounce::sim {
namespace {

CalibrateArguments wanted_machine(const ImportArguments& arguments, const std::string& from, const Form& form) {
  CalibrateArguments wanted;
  wanted.from = from;
  wanted.as = form.name;
  wanted.output = output_of(arguments, ".toml").string();
  wanted.access = form.name == "mlc" ? "load" : "atomic";
  wanted.mhz = arguments.mhz;
  wanted.at_once = available_cores();
  return wanted;
}

bool tells_structure(const Form& form) {
  return form.name == "lscpu" || form.name == "lstopo";
}

}  // namespace

ExitCode import_machine(const ImportArguments& arguments, const Form& form) {
  return run_calibrate(wanted_machine(arguments, arguments.files.front(), form));
}

ExitCode import_machine_parts(const ImportArguments& arguments, const std::vector<const Form*>& forms) {
  // If both lscpu and lstopo are given, lstopo's structure is used: it is more detailed.
  const std::string* structure = nullptr;
  const std::string* latencies = nullptr;
  const Form* measured = nullptr;
  bool is_lstopo = false;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (tells_structure(*forms[i])) {
      if (is_lstopo && forms[i]->name != "lstopo") continue;
      structure = &arguments.files[i];
      is_lstopo = forms[i]->name == "lstopo";
    } else if (latencies != nullptr) {
      throw ConfigError(fmt::format("{} and {} both have latencies: give one of them", *latencies, arguments.files[i]));
    } else {
      latencies = &arguments.files[i];
      measured = forms[i];
    }
  }
  if (latencies == nullptr) return import_machine(arguments, *forms.front());
  CalibrateArguments wanted = wanted_machine(arguments, *latencies, *measured);
  if (structure != nullptr) wanted.topology = *structure;
  return run_calibrate(wanted);
}

}  // namespace linebounce::sim
