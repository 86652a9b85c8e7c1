// Converts perf.data by running `perf script`.
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "forms/perf_script.hpp"
#include "models/text/shell_word.hpp"
#include "sim/results/own_directory.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A recording has only the fields that `perf record` was asked for. Requests fewer fields from perf script until it can print
// all of them.
Losses convert_perf_data(const std::vector<fs::path>& files, trace::Writer& out) {
  const fs::path& file = files.front();
  const ScratchFolder scratch("perf");
  const fs::path printed = scratch.file("printed"), errors = scratch.file("errors");
  std::vector<std::string> fields = {"comm", "pid", "tid", "cpu", "time", "event", "addr", "data_src", "ip", "sym"};
  static const std::regex kNotThere(R"(Cannot print '(\w+)' field)");
  for (;;) {
    const std::string command = fmt::format("perf script -i {} -F {} > {} 2> {}", shell_word(file.string()),
                                            fmt::join(fields, ","), shell_word(printed.string()), shell_word(errors.string()));
    const int status = std::system(command.c_str());
    if (status == 0) return convert_perf_script({printed}, out);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
      throw trace::TraceError(file.string() + ": needs perf to be read, which is not installed (Debian's package linux-perf)");
    const std::string said = text_of(errors);
    std::smatch missing;
    if (!std::regex_search(said, missing, kNotThere) || std::erase(fields, missing[1].str()) == 0)
      throw trace::TraceError(
          fmt::format("{}: perf script cannot read it: {}", file.string(), said.substr(0, said.find('\n'))));
    if (missing[1] == "addr")
      throw trace::TraceError(file.string() + ": its samples have no data addresses: record with perf mem record, or -d");
  }
}

}  // namespace

Form perf_data_form() {
  return {.name = "perf-data",
          .what = "perf.data of perf mem record or perf c2c record",
          .marks = "PERFILE2 at its beginning",
          .likeness =
              [](const Excerpt& excerpt) {
                return certain_if(excerpt.bytes.starts_with("PERFILE2"), "it begins as perf.data does");
              },
          .convert = convert_perf_data};
}

}  // namespace linebounce::sim
