#include "models/coherence/diagnostics.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "models/text/spelling.hpp"

namespace linebounce {
namespace {

constexpr std::size_t kMaxShown = 20;

}  // namespace

void Diagnostics::error_of_rows(int line, const std::string& text) {
  const FileLines& file = file_of(files_, line);
  if (&file == &files_.front()) return error(line, text);
  error(files_.front().first_line,
        fmt::format("with this file's rows, {}; {}:{} declares it", text, file.name, line_in_file(line)));
}

void Diagnostics::throw_if_any() const {
  if (errors_.empty()) return;
  auto sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxShown); ++i) {
    const auto& [line, what] = sorted[i];
    text += fmt::format("{}{}:{}: {}", i == 0 ? "" : "\n", file_of(files_, line).name, line_in_file(line), what);
  }
  if (sorted.size() > kMaxShown)
    text += fmt::format("\n{}: and {} more errors", files_.front().name, sorted.size() - kMaxShown);
  throw ProtocolError(text);
}

const FileLines& file_of(const std::vector<FileLines>& files, int line) {
  return *std::find_if(files.rbegin(), files.rend(), [line](const FileLines& file) { return file.first_line <= line; });
}

std::string hint(std::string_view unknown, const std::vector<std::string>& known) {
  const std::string near = nearest(unknown, known);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near);
  if (known.empty()) return "";
  return fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace linebounce
