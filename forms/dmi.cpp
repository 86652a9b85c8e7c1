// Reads what dmidecode prints of processors. It has the processor's name, and not which CPUs share what.
//
//   Processor Information
//           Manufacturer: Advanced Micro Devices, Inc.
//           Version: AMD EPYC 7763 64-Core Processor
#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/machine_topology.hpp"
#include "models/text/quote_marks.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kProcessor = "Processor Information";

// Takes the first socket whose processor is there; an empty one has a version such as "Not Specified".
MachineTopology read_dmi_facts(const std::string& text) {
  MachineTopology topology;
  bool is_processor = false;
  std::string version;
  const auto end_processor = [&](std::string_view status) {
    if (topology.processor.empty() && status.find("Unpopulated") == status.npos) topology.processor = version;
  };
  for (const std::string& line : unquoted_lines(text)) {
    const std::string_view whole = stripped(line);
    if (whole.starts_with("Handle 0x") || whole == kProcessor) {
      is_processor = whole == kProcessor;
      version.clear();
    }
    if (!is_processor) continue;
    if (whole.starts_with("Version:")) version = stripped(whole.substr(std::string_view("Version:").size()));
    if (whole.starts_with("Status:")) end_processor(whole);
  }
  return topology;
}

}  // namespace

Form dmi_form() {
  return {.name = "dmi",
          .kind = FormKind::machine,
          .what = "dmidecode -t processor: the processor's name, beside a file with latencies",
          .marks = "\"Processor Information\" and \"Version:\"",
          .likeness =
              [](const Excerpt& excerpt) {
                return certain_if(
                    excerpt.is_text && excerpt.has(kProcessor) && excerpt.has("Version:") && excerpt.has("Status:"),
                    "it has a processor as dmidecode prints it");
              },
          .read_facts = read_dmi_facts};
}

}  // namespace linebounce::sim
