#include "forms/recognised.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "models/ordinal.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/point/config_error.hpp"
#include "sim/terminal/table.hpp"
#include "sim/terminal/terminal.hpp"
#include "trace/error.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {
namespace {

bool is_wanted(const FormQuestion& question, const Form& form) {
  if (question.kinds.empty()) return form.kind != FormKind::own;
  return std::ranges::find(question.kinds, form.kind) != question.kinds.end();
}

ChosenForm as_told(const FormQuestion& question) {
  const Form* form = form_named(question.as);
  std::vector<std::string> names;
  for (const Form& one : all_forms()) {
    if (is_wanted(question, one)) names.emplace_back(one.name);
  }
  if (form == nullptr || !is_wanted(question, *form))
    throw ConfigError(fmt::format("{}: form {}", question.option, not_known(question.as, names)));
  return {form, "", true};
}

// The error for a file that only another command reads; it names that command.
ConfigError for_another_command(const FormQuestion& question, const FormCandidate& candidate) {
  const Form& form = *candidate.form;
  const std::string file = question.file.string();
  if (form.kind == FormKind::own) return ConfigError(fmt::format("{}: is {}", file, form.what));
  return ConfigError(fmt::format("{}: is {}, for {}; `linebounce import {}` turns it into {}", file, form.what,
                                 candidate.likeness.because, shell_word(file), noun_of(form.kind)));
}

ChosenForm chosen(const FormCandidate& candidate) {
  return {candidate.form, candidate.likeness.because, candidate.likeness.sure == Likeness::Sure::certain};
}

std::string choices(const FormQuestion& question, const std::vector<FormCandidate>& candidates) {
  std::string text;
  for (const FormCandidate& one : candidates)
    text += fmt::format("\n  {} {} {:<12} {}", question.command, question.option, one.form->name, one.form->what);
  return text;
}

// Asks on the terminal. The user answers with a number from the list or a form's name.
ChosenForm asked_on_terminal(const FormQuestion& question, const std::vector<FormCandidate>& candidates) {
  std::cerr << question.file.string() << " may have several forms. Which one is it?\n";
  for (std::size_t i = 0; i < candidates.size(); ++i)
    std::cerr << fmt::format("  {}  {}: {}\n", i + 1, candidates[i].form->name, candidates[i].form->what);
  std::cerr << "> " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (answer == std::to_string(i + 1) || answer == candidates[i].form->name) return {candidates[i].form, "", true};
  }
  throw ConfigError(fmt::format("{}: \"{}\" is not one of them", question.file.string(), answer));
}

std::string losses_table(const Losses& losses, const Painter& paint) {
  if (losses.all().empty()) return "";
  Table table({words("limit"), words("what the data lack, or what is in doubt"), words("name")}, paint);
  for (const FoundLoss& loss : losses.all()) {
    const LossKind& kind = facts_of(loss.loss);
    table.add({kSeverityNames[ordinal(kind.severity)], loss.sentence, std::string(kind.name)});
  }
  return table.text();
}

// Throws if the word names a folder of litmus tests and no experiment.
void refuse_litmus_folder(const std::string& word) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(word, ignored)) return;
  const std::vector<std::string> experiments = file_names(kExperimentFiles);
  if (std::ranges::find(experiments, word) != experiments.end()) return;
  for (const auto& entry : std::filesystem::directory_iterator(word, ignored)) {
    if (entry.path().extension() == ".litmus")
      throw ConfigError(
          fmt::format("{}: this is a folder of litmus tests; `linebounce import {}` runs them all", word, shell_word(word)));
  }
}

}  // namespace

ChosenForm choose_form(const FormQuestion& question, const Excerpt& excerpt) {
  if (!question.as.empty()) return as_told(question);
  const Recognised recognised = recognise(excerpt);
  if (recognised.candidates.empty()) throw ConfigError(question.file.string() + ": this is " + recognised.why_none);
  std::vector<FormCandidate> fitting;
  std::ranges::copy_if(recognised.candidates, std::back_inserter(fitting),
                       [&](const FormCandidate& one) { return is_wanted(question, *one.form); });
  if (fitting.empty()) throw for_another_command(question, recognised.candidates.front());
  if (fitting.size() == 1) return chosen(fitting.front());
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1) return asked_on_terminal(question, fitting);
  throw ConfigError(fmt::format("{}: may have several forms, for {}; name one:{}", question.file.string(),
                                fitting.front().likeness.because, choices(question, fitting)));
}

void refuse_foreign_file(const std::string& word) {
  const std::filesystem::path file = word;
  std::error_code ignored;
  refuse_litmus_folder(word);
  const bool is_own = file.extension() == ".toml" || file.extension() == ".lua" || file.extension() == ".md";
  const std::string extension = file.extension().string();
  const bool is_trace = extension == ".lbt" || extension == ".txt" || extension == ".trace";
  if (is_trace && !std::filesystem::exists(file, ignored)) throw trace::TraceError(read_problem(word, ENOENT));
  if (!file.has_extension() || is_own || !std::filesystem::is_regular_file(file, ignored)) return;
  const Recognised recognised = recognise(excerpt_of(file));
  if (recognised.candidates.empty() || recognised.candidates.front().form->kind == FormKind::own) return;
  throw for_another_command({.file = file}, recognised.candidates.front());
}

std::string losses_text(const Losses& losses, const Painter& paint) {
  constexpr std::size_t kNames = 9;
  if (paint.tables() == TableForm::markdown) return losses_table(losses, paint);
  std::string out;
  for (const FoundLoss& loss : losses.all()) {
    const LossKind& kind = facts_of(loss.loss);
    const Colour colour = kind.severity == Severity::note ? Colour::dim : Colour::yellow;
    const std::string severity = pad_right(kSeverityNames[ordinal(kind.severity)], kNames - 2);
    out += "  " + paint(colour, severity) +
           wrapped_from(fmt::format("{} ({})", loss.sentence, kind.name), kNames, Colour::none, paint);
  }
  return out;
}

}  // namespace linebounce::sim
