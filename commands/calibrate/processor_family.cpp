#include "commands/calibrate/processor_family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "forms/line_file.hpp"
#include "models/text/text_lines.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kWithoutWaiting = "ideal";  // a model to compare with, and no processor

std::string candidates() {
  std::vector<std::string> names;
  for (const std::string& name : file_names(kFamilyFiles)) {
    if (name != kWithoutWaiting) names.push_back(fmt::format("{} ({})", name, load_family(name, "").title));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// A name may stand in a long text, such as a file's titles: its line.
std::string line_with_name(const std::string& text) {
  for (const std::string& line : text_lines(text)) {
    if (processor_in(line)) return std::string(stripped(line));
  }
  return std::string(stripped(text));
}

}  // namespace

std::optional<NamedProcessor> find_processor(const std::vector<PlaceOfName>& places) {
  for (const PlaceOfName& place : places) {
    if (const auto known = processor_in(place.text))
      return NamedProcessor{line_with_name(place.text), place.where, *known, clock_in(place.text)};
  }
  return std::nullopt;
}

std::string titles_in(const std::string& text) {
  constexpr std::size_t kMostTitles = 64;
  constexpr int kFewestLetters = 3;
  std::string titles;
  std::size_t count = 0;
  for (const std::string& line : text_lines(text)) {
    if (std::ranges::count_if(line, is_letter) < kFewestLetters || count == kMostTitles) continue;
    titles += line + "\n";
    ++count;
  }
  return titles;
}

AskFamily family_question() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) return nullptr;
  return [](const std::string& question) {
    std::cerr << question << "\nFamily: " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return std::string(stripped(answer));
  };
}

ChosenFamily family_of(const std::string& wanted, const std::optional<NamedProcessor>& named) {
  if (!wanted.empty()) return {wanted, "assumed: --family says so"};
  if (!named || named->known.family.empty()) return {};
  return {named->known.family,
          fmt::format("assumed: the {}family of {}, {}", named->known.is_nearest ? "nearest " : "", named->name, named->where)};
}

UsualValues usual_values(const std::string& family, const std::optional<NamedProcessor>& named) {
  const std::string of = named ? named->name : family;
  return {named ? named->known : usual_of(family), of, "assumed: as processors like " + of + " have it"};
}

ChosenFamily ask_or_refuse(const AskFamily& ask, const std::string& file, const std::string& found,
                           const std::optional<NamedProcessor>& named) {
  const std::string why =
      named ? fmt::format("no contention family is known to fit \"{}\"", named->name) : "nothing in it names the processor";
  const std::string question =
      fmt::format("{}: {}, and {}. The contention family, which says what waiting costs, decides verdicts on locks: {}", file,
                  found, why, candidates());
  if (ask == nullptr) throw ConfigError(question + ". Name one: --family NAME");
  const std::string answer = ask(question);
  load_family(answer, "family");
  return {answer, "assumed: the user says so"};
}

}  // namespace linebounce::sim
