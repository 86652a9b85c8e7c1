#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "commands/import/importers.hpp"
#include "forms/line_file.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/listing_layouts.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/layout_drawing.hpp"
#include "trace/error.hpp"
#include "types/elf_file.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

toml::table layout_table(const Layout& layout) {
  toml::array fields;
  for (const Field& field : layout.fields) {
    toml::table place{{"name", field.name}, {"offset_bytes", field.offset}, {"size_bytes", field.size}};
    if (field.alignment != 0) place.insert("alignment_bytes", field.alignment);
    fields.push_back(std::move(place));
  }
  toml::table table{{"size_bytes", layout.size}, {"alignment_bytes", layout.alignment}, {"fields", std::move(fields)}};
  toml::array unexplained;
  for (const Field& bytes : layout.unexplained)
    unexplained.push_back(toml::table{{"offset_bytes", bytes.offset}, {"size_bytes", bytes.size}});
  if (!unexplained.empty()) table.insert("unexplained", std::move(unexplained));
  return table;
}

std::string layout_text(const LayoutFile& file, const std::string& name, const std::string& source) {
  toml::table structures;
  for (const auto& [structure, layout] : file.layouts.all()) structures.insert(structure, layout_table(layout));
  return fmt::format("# Written by `linebounce import {}`.\n\n", source) +
         to_toml(toml::table{
             {"name", name}, {"title", file.title}, {"line_bytes", file.line_bytes}, {"structure", std::move(structures)}});
}

// A structure that is there but can't be read, or that several share the name of. Errors: TraceError, ConfigError.
void refuse_known(const LayoutFile& file, const std::string& name, const std::string& in) {
  const auto unread = file.unread.find(name);
  if (unread != file.unread.end()) throw trace::TraceError(fmt::format("{}: {}: {}", in, name, unread->second));
  std::string several;
  for (const auto& [other, layout] : file.layouts.all()) {
    if (!other.starts_with(name + "#")) continue;
    several += fmt::format("{}{} ({} bytes)", several.empty() ? "" : ", ", other, layout.size);
  }
  if (!several.empty())
    throw ConfigError(fmt::format("{}: has several structures {} that differ; name one: {}", in, name, several));
}

// Keeps only the wanted structures. A file with too many structures, such as a kernel's, needs such a choice.
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
      refuse_known(file, name, in);
      for (const auto& [other, layout] : all) known.push_back(other);
      throw ConfigError(fmt::format("{}: has no structure {}{}", in, name, did_you_mean(name, known)));
    }
    chosen.add(found->second);
  }
  file.layouts = std::move(chosen);
  file.unread.clear();
}

// Runs linebounce-record, because only that program links the library for debug information.
LayoutFile layouts_of_binary(const std::string& file, const std::vector<std::string>& structures) {
  std::string command = shell_word((fs::read_symlink("/proc/self/exe").parent_path() / "linebounce-record").string());
  command += " --structures " + shell_word(fs::absolute(file).string());
  for (const std::string& structure : structures) command += " " + shell_word(structure);
  std::FILE* const printed = ::popen((command + " 2>&1").c_str(), "r");
  if (printed == nullptr) throw ConfigError(file + ": linebounce-record, which reads debug information, can't be run");
  std::string text;
  for (int c = std::fgetc(printed); c != EOF; c = std::fgetc(printed)) text += static_cast<char>(c);
  if (::pclose(printed) != 0) {
    constexpr std::string_view kProgram = "linebounce-record: ";
    if (text.starts_with(kProgram)) text.erase(0, kProgram.size());
    throw trace::TraceError(std::string(stripped(text)));
  }
  return read_layout_file(text, file);
}

}  // namespace

LayoutFile layouts_in(const std::string& in, const LayoutChoice& choice, const std::string& as) {
  LayoutFile file;
  if (!types::is_elf(excerpt_of(in).bytes)) {
    file = read_layout_file(read_data(in), in, choice);
  } else if (as == "btf" || (as.empty() && (!choice.base.empty() || has_only_btf(in)))) {
    file = read_btf_layouts(in, choice);
  } else {
    file = layouts_of_binary(in, choice.wanted);
  }
  choose_structures(file, choice.wanted, in);
  return file;
}

ExitCode import_layout(const ImportArguments& arguments, const Form& /*form*/) {
  const std::string& in = arguments.files.front();
  const std::filesystem::path out = output_of(arguments, ".toml");
  const LayoutFile file = layouts_in(in, {arguments.structures, arguments.base}, arguments.as);
  write_file(out, layout_text(file, out.stem().string(), in));
  const Painter paint = arguments.painter();
  for (const auto& [name, layout] : file.layouts.all()) std::cout << "\n" << drawn_layout(layout, file.line_bytes, paint);
  for (const auto& [name, layout] : file.layouts.all()) {
    if (const std::string text = unexplained_text(layout); !text.empty()) std::cout << "\n  Not explained: " << text << "\n";
  }
  for (const auto& [name, why] : file.unread) std::cout << fmt::format("\n  Not read: {}: {}\n", name, why);
  std::cout << fmt::format("\n  {}  of {}: a layout, lines of {} bytes\n  See it:  linebounce describe layout {}\n",
                           out.string(), in, file.line_bytes, shell_word(out.string()));
  return ExitCode::done;
}

}  // namespace linebounce::sim
