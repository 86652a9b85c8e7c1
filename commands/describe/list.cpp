#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/common/command.hpp"
#include "commands/describe/named_kinds.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/experiment.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/terminal/table.hpp"
#include "workloads/counters/counter_registry.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;
namespace {

constexpr const char* kListFooter = R"(Examples:
  linebounce list                         how many of each kind
  linebounce list experiments --search lock
  linebounce list machines --json)";

// Lists a broken file with its error, so that it does not hide the others.
template <class Title>
std::vector<ListedThing> list_files(const FileKind& kind, Title title) {
  std::vector<ListedThing> things;
  for (const std::string& name : file_names(kind)) {
    try {
      things.push_back({name, title(name), ""});
    } catch (const std::runtime_error& error) {
      things.push_back({name, "", error.what()});
    }
  }
  return things;
}

template <class Entries>
std::vector<ListedThing> list_entries(const Entries& entries) {
  std::vector<ListedThing> things;
  for (const auto& entry : entries) things.push_back({entry.name, entry.title, ""});
  return things;
}

void print_json(const std::vector<ListedThing>& things) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const ListedThing& thing : things) {
    nlohmann::ordered_json entry;
    entry["name"] = thing.name;
    entry["title"] = thing.title;
    if (!thing.problem.empty()) entry["problem"] = thing.problem;
    if (!thing.details.is_null()) entry.update(thing.details);
    out.push_back(std::move(entry));
  }
  std::cout << out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

void print_table(const std::vector<ListedThing>& things) {
  const Painter paint = painter_for_stdout();
  Table table({words(""), prose("", 0, 2)}, paint, 0);
  for (const ListedThing& thing : things) {
    const bool broken = !thing.problem.empty();
    table.add({{thing.name, Colour::bold}, {broken ? thing.problem : thing.title, broken ? Colour::red : Colour::none}});
    if (!broken && !thing.remark.empty()) table.add({"", {thing.remark, Colour::dim}});
  }
  std::cout << table.text();
}

// Lists all kinds, each with a few names as examples.
std::vector<ListedThing> list_kinds() {
  constexpr std::size_t kExamples = 3;
  std::vector<ListedThing> things;
  for (const Kind& kind : kKinds) {
    std::vector<std::string> names = names_of(kind);
    const std::size_t count = names.size();
    names.resize(std::min(kExamples, count));
    things.push_back({std::string(kind.plural),
                      fmt::format("{:>3}: {}{}", count, fmt::join(names, ", "), count > kExamples ? ", ..." : ""), ""});
  }
  return things;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end() || word.empty();
}

std::vector<ListedThing> found_by(std::vector<ListedThing> things, const std::string& word) {
  std::erase_if(things, [&word](const ListedThing& thing) {
    return !has_word(thing.name, word) && !has_word(thing.title, word) && !has_word(thing.remark, word);
  });
  return things;
}

// Shows each folder of experiments as one line with their common question.
std::vector<ListedThing> with_folders(const std::vector<ListedThing>& things) {
  static const std::map<std::string, std::string> questions = {
      {"contention", "what each mechanism of waiting costs, alone"},
      {"latencies", "the published latencies that machines are fitted to"},
      {"validation", "published results that nothing was fitted to"},
      {"what_if", "changes to the OLTP kernel that were proposed"},
  };
  std::map<std::string, int> folders;
  std::vector<ListedThing> shown;
  for (const ListedThing& thing : things) {
    const std::size_t slash = thing.name.find('/');
    if (slash == std::string::npos) {
      shown.push_back(thing);
    } else {
      ++folders[thing.name.substr(0, slash)];
    }
  }
  for (const auto& [folder, count] : folders) {
    const auto question = questions.find(folder);
    const std::string asks = question == questions.end() ? "" : ": " + question->second;
    shown.push_back({folder + "/", fmt::format("{} experiments{} (--search {}/)", count, asks, folder), ""});
  }
  return shown;
}

ExitCode list(const std::string& word, const std::string& search, bool json) {
  if (word.empty()) {
    if (!search.empty()) throw ConfigError("--search: say in which kind: list experiments --search " + search);
    const std::vector<ListedThing> kinds = list_kinds();
    json ? print_json(kinds) : print_table(kinds);
    return ExitCode::done;
  }
  const Kind& kind = find_kind(word);
  const std::vector<ListedThing> things = search.empty() ? kind.list() : found_by(kind.list(), search);
  if (json) {
    print_json(things);
  } else if (things.empty() && !search.empty()) {
    std::cout << "No " << kind.singular << " has \"" << search << "\" in its name or title.\n";
  } else if (search.empty() && kind.plural == "experiments") {
    print_table(with_folders(things));
  } else if (things.empty()) {
    std::cout << "There are no " << kind.plural << ".\n";
  } else {
    print_table(things);
  }
  return ExitCode::done;
}

}  // namespace

std::vector<ListedThing> list_machines() {
  return list_files(kMachineFiles, [](const std::string& name) { return load_machine(name).spec.title; });
}

std::vector<ListedThing> list_families() {
  return list_files(kFamilyFiles, [](const std::string& name) { return load_family(name, "").title; });
}

std::vector<ListedThing> list_experiments() {
  return list_files(kExperimentFiles, [](const std::string& name) { return load_experiment(name, {}).title; });
}

std::vector<ListedThing> list_protocols() {
  return list_files(kProtocolFiles, [](const std::string& name) { return load_protocol(name).title; });
}

std::vector<ListedThing> list_layouts() {
  return list_files(kLayoutFiles, [](const std::string& name) { return load_layout_file(name, "").title; });
}

std::vector<ListedThing> list_workloads() {
  return list_entries(all_workloads());
}
std::vector<ListedThing> list_counters() {
  return list_entries(all_counters());
}

std::vector<std::string> names_of(const Kind& kind) {
  for (const FileKind* files : {&kMachineFiles, &kFamilyFiles, &kExperimentFiles, &kProtocolFiles, &kLayoutFiles}) {
    if (kind.singular == files->name) return file_names(*files);
  }
  std::vector<std::string> names;
  for (const ListedThing& thing : kind.list()) names.push_back(thing.name);
  return names;
}

std::string listed_kinds(std::string_view Kind::*word) {
  std::string kinds;
  for (const Kind& kind : kKinds) {
    const bool is_last = &kind == &kKinds.back();
    kinds += fmt::format("{}{}", kinds.empty() ? "" : is_last ? " or " : ", ", kind.*word);
  }
  return kinds;
}

const Kind& find_kind(const std::string& word) {
  std::vector<std::string> known;
  for (const Kind& kind : kKinds) {
    if (word == kind.singular || word == kind.plural) return kind;
    known.emplace_back(kind.plural);
  }
  throw ConfigError("kind " + not_known(word, known));
}

void add_list(Command& program) {
  auto word = std::make_shared<std::string>();
  auto search = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  Command command = program.subcommand("list", "List everything of one kind", HelpGroup::runs);
  command.option("KIND", "", word.get(), listed_kinds(&Kind::plural) + "; left out: how many of each");
  command.option("--search", "WORD", search.get(), "Only those with this word in their name or title");
  command.flag("--json", *json, "Print one JSON array of objects with name and title");
  command.footer(kListFooter);
  command.action([word, search, json] { return list(*word, *search, *json); });
}

}  // namespace linebounce::sim
