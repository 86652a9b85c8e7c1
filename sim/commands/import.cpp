// `linebounce import`
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "sim/commands/commands.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "sim/sources/formats.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

namespace {

namespace fs = std::filesystem;

constexpr const char* kImportFooter = R"(Examples:
  perf c2c record -a -- sleep 5 && linebounce import perf.data && linebounce find-sharing perf.lbt
      lines that programs on this machine share falsely, from samples
  linebounce import lackey.log -o ls.lbt
      of: valgrind --tool=lackey --trace-mem=yes --log-file=lackey.log ls

perf itself reads perf.data: best on the machine that recorded it, which knows the functions' names. Samples are some accesses of
many, without locks and without an order between threads: what they show to be shared is shared; how much that costs is an
estimate, and what they do not show may be shared, too.)";

struct ImportArguments {
  std::string in;
  std::string out;
};

ExitCode import_file(const ImportArguments& arguments) {
  if (!fs::exists(arguments.in)) throw trace::TraceError(arguments.in + ": there is no such file");
  const SourceFormat* format = format_of(arguments.in);
  if (format == nullptr)
    throw ConfigError(arguments.in +
                      ": is neither perf.data nor a log of lackey; `linebounce trace convert` reads more formats");
  const fs::path out = arguments.out.empty() ? fs::path(arguments.in).stem().concat(".lbt") : fs::path(arguments.out);
  std::error_code ignored;
  if (fs::equivalent(arguments.in, out, ignored))
    throw ConfigError(fmt::format("{}: is the file that is read; name another with -o", out.string()));
  UnfinishedFile file(out);
  const std::vector<std::string> missing = convert_foreign(*format, arguments.in, file.path());
  file.finish();
  std::cout << fmt::format("  {}  of {}: {}\n", out.string(), arguments.in, format->name)
            << not_seen_text(missing, painter_for_stdout());
  return ExitCode::done;
}

}  // namespace

void add_import(Command& program) {
  auto arguments = std::make_shared<ImportArguments>();
  Command command = program.subcommand("import", "Make a trace of perf.data, or of what another tool has recorded");
  command.option("FILE", "", &arguments->in, "What perf mem record, perf c2c record or valgrind's lackey has written")
      .required();
  command.option("-o,--output", "OUT", &arguments->out, "The trace; default: FILE's name with .lbt; .txt: as text");
  command.footer(kImportFooter);
  command.action([arguments] { return import_file(*arguments); });
}

}  // namespace linebounce::sim
