#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>

#include "commands/common/command.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/experiment.hpp"
#include "sim/config/project_files.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {

namespace fs = std::filesystem;

namespace {

struct Template {
  std::string_view kind;
  std::string_view file;                 // its path, relative to the project's root
  std::array<std::string_view, 2> next;  // suggested next commands; {} stands for the written file, @NAME@ for its name
};

constexpr std::array kTemplates = {
    Template{"experiment", "configs/templates/experiment.toml", {"linebounce run {}", "linebounce describe experiment {}"}},
    Template{"machine",
             "configs/templates/machine.toml",
             {"linebounce describe machine {}", "linebounce run core_to_core --machine {}"}},
    Template{"lock",
             "configs/templates/lock.lua",
             {"linebounce check-lock {}", "linebounce run lock_scaling --set 'workload.lock=[\"mcs\",\"{}\"]' -o out/@NAME@"}},
    Template{"program",
             "configs/templates/program.lua",
             {"linebounce run {} --machine p3_xeon_8way", "linebounce describe workload {}"}},
    Template{"protocol",
             "configs/templates/protocol.md",
             {"linebounce check {}",
              "linebounce ab lock_scaling --set machine.bus.protocol=mesi_snoop --set machine.bus.protocol={}"}},
    Template{"lesson", "teach/new-lesson.md", {"linebounce teach --check {}", "linebounce teach --lesson {}"}},
};

constexpr std::string_view kNamePlace = "@NAME@";

constexpr const char* kNewFooter = R"(Examples:
  linebounce new experiment my_locks      my_locks.toml, which runs as it is
  linebounce new lock locks/my_lock       locks/my_lock.lua
  linebounce new protocol my_mesi         my_mesi.md, mesi_snoop with one row changed)";

std::vector<std::string> kinds() {
  std::vector<std::string> words;
  for (const Template& each : kTemplates) words.emplace_back(each.kind);
  return words;
}

const Template& template_of(const std::string& kind) {
  return *std::ranges::find(kTemplates, kind, &Template::kind);
}

std::string with(std::string text, std::string_view place, const std::string& name) {
  for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + name.size()))
    text.replace(at, place.size(), name);
  return text;
}

ExitCode write_new(const std::string& kind, const std::string& name) {
  const Template& chosen = template_of(kind);
  const fs::path source = project_root() / chosen.file;
  fs::path path = name;
  if (path.extension() != source.extension()) path += source.extension();
  const std::string stem = path.stem().string();
  if (!names_directory(stem)) throw ConfigError(fmt::format("\"{}\" can't be a name: letters, digits, _ and - are fine", name));
  if (is_there(path)) throw ConfigError(path.string() + " exists already; nothing was written");
  if (path.has_parent_path()) make_directories(path.parent_path());
  write_file(path, with(read_text(source), kNamePlace, stem));
  std::cout << fmt::format("Wrote {}: the {} works as it is. Next:\n", path.string(), kind);
  for (const std::string_view command : chosen.next)
    std::cout << "  " << with(with(std::string(command), "{}", shell_word(path.string())), kNamePlace, stem) << "\n";
  return ExitCode::done;
}

}  // namespace

void add_new(Command& program) {
  struct Arguments {
    std::string kind, name;
  };
  auto arguments = std::make_shared<Arguments>();
  Command command = program.subcommand("new", "Write a commented file to start from", HelpGroup::runs);
  command.option("KIND", "", &arguments->kind, "experiment, machine, lock, program, protocol or lesson")
      .required()
      .one_of(kinds());
  command.option("NAME", "", &arguments->name, "Its name, or its path without the extension").required();
  command.footer(kNewFooter);
  command.action([arguments] { return write_new(arguments->kind, arguments->name); });
}

}  // namespace linebounce::sim
