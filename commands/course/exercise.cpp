#include "commands/course/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands/course/trace_files.hpp"
#include "commands/course/typed_accesses.hpp"
#include "models/text/quote_marks.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// Without accesses: empty, or a comment.
bool is_blank(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  return line.empty() || line.starts_with('#') || line.starts_with("//");
}

std::string text_of(const std::string& file) {
  std::string text = read_text(file);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

// `strict`: all lines must be accesses, not only half of them.
bool is_exercise(const std::string& text, bool strict) {
  std::int64_t accesses = 0, others = 0;
  for (const std::string& line : text_lines(text)) {
    if (!is_blank(line)) ++(are_typed_accesses(line) ? accesses : others);
  }
  if (strict) return accesses > 0 && others == 0;
  return !text.empty() && accesses >= others;
}

// Errors: ConfigError if typed_accesses() refuses the line.
void require_line(const std::string& file, std::size_t number, const std::string& line) {
  constexpr int kAnyLine = 64;  // bytes
  try {
    typed_accesses(line, kAnyLine);
  } catch (const ConfigError& refused) {
    throw ConfigError(fmt::format("{}:{}: {}", file, number, refused.what()));
  }
}

bool may_be_exercise(const std::string& word) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  std::error_code failed;
  return !has_own_name(word) && fs::is_regular_file(word, failed) && fs::file_size(word, failed) <= kLargest && !is_trace(word);
}

}  // namespace

std::optional<Exercise> exercise_of(const TraceOptions& options, const std::string& input,
                                    const std::vector<std::string>& more_files) {
  if (options.accesses.empty() && input.empty()) throw UsageError("give an EXPERIMENT, a trace, or --accesses");
  if (!options.accesses.empty() && !input.empty())
    throw UsageError(fmt::format("--accesses takes the place of a trace; leave out {}", input));
  if (!options.accesses.empty() && !options.as.empty())
    throw UsageError("--as is the form of a trace's file, and --accesses takes the place of a trace");
  if (!options.accesses.empty()) return Exercise{options.accesses, ""};
  if (!options.as.empty() || !more_files.empty() || !may_be_exercise(input)) return std::nullopt;
  Exercise exercise{text_of(input), input};
  return is_exercise(exercise.text, !has_trace_options(options)) ? std::optional(std::move(exercise)) : std::nullopt;
}

std::vector<NamedAccess> accesses_of(const Exercise& exercise, int line_bytes) {
  try {
    return typed_accesses(exercise.text, line_bytes);
  } catch (const ConfigError& refused) {
    refuse_exercise(exercise, refused);
  }
}

void refuse_exercise(const Exercise& exercise, const ConfigError& refused) {
  if (exercise.file.empty()) throw ConfigError(refused.what());
  const std::vector<std::string> lines = text_lines(exercise.text);
  if (std::ranges::all_of(lines, is_blank)) throw ConfigError(fmt::format("{}: {}", exercise.file, refused.what()));
  // First what is no access: in a trace with a mistake, that is the mistake, even if all its addresses are no CPUs.
  for (const bool is_access : {false, true}) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!is_blank(lines[i]) && are_typed_accesses(lines[i]) == is_access) require_line(exercise.file, i + 1, lines[i]);
    }
  }
  throw ConfigError(refused.what());
}

}  // namespace linebounce::sim
