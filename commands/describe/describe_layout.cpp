#include "commands/describe/describe_layout.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/describe/named_kinds.hpp"
#include "models/text/visible.hpp"
#include "sim/config/experiment.hpp"
#include "sim/config/layout_changes.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/terminal/layout_drawing.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

// The experiment's structures as they are after a set of changes.
struct Changed {
  std::string changes;  // the value of layout.changes
  LayoutSet layouts;
};

struct Subject {
  LayoutFile file;
  std::vector<std::string> structures;
  std::vector<Changed> changed;
  int line_bytes = 0;
};

std::vector<std::string> names_of(const LayoutSet& layouts) {
  std::vector<std::string> names;
  for (const auto& [name, layout] : layouts.all()) names.push_back(name);
  return names;
}

// The shipped files that contain this structure; skips unreadable files.
std::vector<std::string> files_with(const std::string& structure) {
  std::vector<std::string> files;
  for (const std::string& name : file_names(kLayoutFiles)) {
    try {
      if (load_layout_file(name, "").layouts.all().contains(structure)) files.push_back(name);
    } catch (const ConfigError&) {
      continue;
    }
  }
  return files;
}

// Fills in the file if the question names only a structure.
LayoutQuestion completed(LayoutQuestion question) {
  const auto files = file_names(kLayoutFiles);
  const bool is_file = is_layout_path(question.name) || std::ranges::find(files, question.name) != files.end();
  if (is_file || !question.structure.empty()) return question;
  const auto with = files_with(question.name);
  if (with.size() > 1)
    throw ConfigError(fmt::format("several layouts have a structure {}: {}; name one: linebounce describe layout {} {}",
                                  question.name, fmt::join(with, ", "), with.front(), question.name));
  if (with.size() == 1) {
    question.structure = question.name;
    question.name = with.front();
  }
  return question;
}

bool same_file(const std::string& layout, const std::string& other) {
  return std::filesystem::weakly_canonical(find_layout_file(layout, "")) ==
         std::filesystem::weakly_canonical(find_layout_file(other, ""));
}

std::vector<Changed> changes_of(const LayoutQuestion& question, const LayoutFile& file, int& line_bytes) {
  const Experiment experiment = load_unexpanded(question.experiment, {});
  const PointMaker make_point = point_maker(experiment);
  const auto points = static_cast<int>(point_count(experiment));
  std::vector<Changed> changed;
  for (int number = 0; number < points; ++number) {
    const Point point = make_point(number);
    const std::string named = point.resolved.at_path(kLayoutKey).value_or(std::string{});
    if (named.empty() || !same_file(named, question.name)) continue;
    line_bytes = point.input.machine.bus.line_bytes;
    const std::string changes = point.resolved.at_path(kLayoutChanges).value_or(std::string("none"));
    const bool known = std::ranges::any_of(changed, [&](const Changed& other) { return other.changes == changes; });
    if (!known && point.input.layouts.all() != file.layouts.all()) changed.push_back({changes, point.input.layouts});
  }
  if (changed.empty())
    throw ConfigError(fmt::format("experiment {} changes no structure of layout {}", experiment.name, file.name));
  return changed;
}

Subject subject_of(const LayoutQuestion& asked) {
  const LayoutQuestion question = completed(asked);
  Subject subject;
  subject.file = load_layout_file(question.name, "");
  subject.line_bytes = subject.file.line_bytes;
  if (!question.experiment.empty()) subject.changed = changes_of(question, subject.file, subject.line_bytes);
  if (!question.machine.empty()) subject.line_bytes = load_machine(question.machine).spec.bus.line_bytes;
  subject.line_bytes = question.line_bytes.value_or(subject.line_bytes);
  const auto names = names_of(subject.file.layouts);
  if (!question.structure.empty()) {
    if (std::ranges::find(names, question.structure) == names.end())
      throw ConfigError(fmt::format("layout {}: structure {}", subject.file.name, not_known(question.structure, names)));
    subject.structures = {question.structure};
    return subject;
  }
  for (const std::string& name : names) {
    const Layout& before = subject.file.layouts.find(name);
    const bool differs =
        std::ranges::any_of(subject.changed, [&](const Changed& changed) { return changed.layouts.find(name) != before; });
    if (subject.changed.empty() || differs) subject.structures.push_back(name);
  }
  return subject;
}

}  // namespace

std::string layout_answer(const LayoutQuestion& question, const Painter& paint) {
  const Subject subject = subject_of(question);
  std::string out = paint(Colour::bold, subject.file.name) + "  " + visible_name(subject.file.title) + "\n";
  for (const std::string& name : subject.structures) {
    if (!subject.changed.empty()) out += "\n  as in the layout file";
    out += "\n" + drawn_layout(subject.file.layouts.find(name), subject.line_bytes, paint);
    for (const Changed& changed : subject.changed) {
      out += fmt::format("\n  with {} = \"{}\"", kLayoutChanges, changed.changes);
      const Layout& after = changed.layouts.find(name);
      const bool same = after == subject.file.layouts.find(name);
      out += "\n" + (same ? "  unchanged\n" : drawn_layout(after, subject.line_bytes, paint));
    }
  }
  return out;
}

ordered_json layout_answer_json(const LayoutQuestion& question) {
  const Subject subject = subject_of(question);
  const auto structures = [&](const LayoutSet& layouts) {
    ordered_json list = ordered_json::array();
    for (const std::string& name : subject.structures) list.push_back(layout_to_json(layouts.find(name), subject.line_bytes));
    return list;
  };
  ordered_json out;
  out["name"] = subject.file.name;
  out["title"] = subject.file.title;
  out["line_bytes"] = subject.line_bytes;
  out["structures"] = structures(subject.file.layouts);
  for (const Changed& changed : subject.changed)
    out["changed"].push_back({{"changes", changed.changes}, {"structures", structures(changed.layouts)}});
  return out;
}

std::string layout_page(const std::string& name, const Painter& paint) {
  return layout_answer({.name = name}, paint);
}

ordered_json layout_json(const std::string& name) {
  return layout_answer_json({.name = name});
}

}  // namespace linebounce::sim
