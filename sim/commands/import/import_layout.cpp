#include <fmt/format.h>
#include <toml++/toml.h>

#include <iostream>

#include "models/text/shell_word.hpp"
#include "sim/commands/import/importers.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/layout_drawing.hpp"

namespace linebounce::sim {
namespace {

toml::table layout_table(const Layout& layout) {
  toml::array fields;
  for (const Field& field : layout.fields)
    fields.push_back(toml::table{{"name", field.name}, {"offset_bytes", field.offset}, {"size_bytes", field.size}});
  return toml::table{{"size_bytes", layout.size}, {"alignment_bytes", layout.alignment}, {"fields", std::move(fields)}};
}

std::string layout_text(const LayoutFile& file, const std::string& name, const std::string& source) {
  toml::table structures;
  for (const auto& [structure, layout] : file.layouts.all()) structures.insert(structure, layout_table(layout));
  return fmt::format("# Written by `linebounce import {}`.\n\n", source) +
         to_toml(toml::table{
             {"name", name}, {"title", file.title}, {"line_bytes", file.line_bytes}, {"structure", std::move(structures)}});
}

// The wanted structures. A kernel has thousands, so a file with many must be asked for some.
void choose_structures(LayoutFile& file, const std::vector<std::string>& wanted, const std::string& in) {
  constexpr std::size_t kMostShown = 50;
  const auto& all = file.layouts.all();
  if (wanted.empty() && all.size() > kMostShown)
    throw ConfigError(
        fmt::format("{}: has {} structures; name those that you need: --structure {}", in, all.size(), all.begin()->first));
  if (wanted.empty()) return;
  LayoutSet chosen;
  for (const std::string& name : wanted) {
    const auto found = all.find(name);
    std::vector<std::string> known;
    if (found == all.end()) {
      for (const auto& [other, layout] : all) known.push_back(other);
      throw ConfigError(fmt::format("{}: has no structure {}{}", in, name, did_you_mean(name, known)));
    }
    chosen.add(found->second);
  }
  file.layouts = std::move(chosen);
}

}  // namespace

ExitCode import_layout(const ImportArguments& arguments, const Form&) {
  const std::string& in = arguments.files.front();
  const std::filesystem::path out = output_of(arguments, ".toml");
  LayoutFile file = read_layout_file(read_text(in), in);
  choose_structures(file, arguments.structures, in);
  write_file(out, layout_text(file, out.stem().string(), in));
  const Painter paint = arguments.painter();
  for (const auto& [name, layout] : file.layouts.all()) std::cout << "\n" << drawn_layout(layout, file.line_bytes, paint);
  std::cout << fmt::format("\n  {}  of {}: a layout, lines of {} bytes\n  See it:  linebounce describe layout {}\n",
                           out.string(), in, file.line_bytes, shell_word(out.string()));
  return ExitCode::done;
}

}  // namespace linebounce::sim
