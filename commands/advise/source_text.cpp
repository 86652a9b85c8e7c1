#include "commands/advise/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/text/text_lines.hpp"

namespace linebounce::sim {
namespace {

// Replaces comments and the contents of strings in C and C++ by blanks. Does not know raw strings.
std::string without_comments_and_strings(std::string_view text) {
  std::string code(text);
  const auto blank = [&code](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, code.size()); ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    std::size_t end = at;
    if (rest.starts_with("//")) {
      end = std::min(text.find('\n', at), text.size());
      blank(at, end);
    } else if (rest.starts_with("/*")) {
      const std::size_t close = text.find("*/", at + 2);
      end = close == std::string_view::npos ? text.size() : close + 2;
      blank(at, end);
    } else if (rest.front() == '"' || (rest.front() == '\'' && rest.size() > 2 && (rest[2] == '\'' || rest[1] == '\\'))) {
      end = at + 1;
      while (end < text.size() && text[end] != rest.front() && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      blank(at + 1, end);
    } else {
      continue;
    }
    at = std::min(end, text.size()) - (rest.front() == '/' ? 1 : 0);
  }
  return code;
}

// A range of lines with changes.
struct Hunk {
  int from, to;
};

constexpr int kContext = 3;

}  // namespace

std::string without_ends(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

SourceText::SourceText(std::filesystem::path path, std::string_view text)
    : path_(std::move(path)), lines_(text_lines(text)), ends_with_newline_(text.ends_with('\n')) {
  code_ = text_lines(without_comments_and_strings(text));
}

void SourceText::insert(int line, std::size_t column, const std::string& text) {
  replace(line, column, 0, text);
}

void SourceText::replace(int line, std::size_t column, std::size_t bytes, const std::string& text) {
  std::vector<Change>& changes = edits_[line].changes;
  const auto same = [&](const Change& it) { return it.column == column && it.bytes == bytes && it.text == text; };
  if (std::ranges::none_of(changes, same)) changes.push_back({column, bytes, text});
}

void SourceText::remove(int line) {
  edits_[line].removed = true;
}

void SourceText::insert_before(int line, const std::string& text) {
  edits_[line].before.push_back(text);
}

std::vector<std::string> SourceText::edited(int line) const {
  const auto found = edits_.find(line);
  if (found == edits_.end()) return {original(line)};
  std::vector<std::string> out = found->second.before;
  if (found->second.removed) return out;
  std::vector<Change> changes = found->second.changes;
  std::ranges::stable_sort(changes, [](const Change& a, const Change& b) { return a.column > b.column; });
  std::string text = original(line);
  for (const Change& change : changes) text.replace(change.column, change.bytes, change.text);
  out.push_back(std::move(text));
  return out;
}

bool SourceText::is_changed() const {
  return !edits_.empty();
}

std::string SourceText::text() const {
  std::string out;
  for (int line = 1; line <= line_count(); ++line) {
    for (const std::string& each : edited(line)) out += each + "\n";
  }
  if (!ends_with_newline_ && !out.empty()) out.pop_back();
  return out;
}

std::string SourceText::diff(const std::string& name) const {
  std::vector<Hunk> hunks;
  for (const auto& [line, edit] : edits_) {
    const Hunk hunk = {std::max(1, line - kContext), std::min(line_count(), line + kContext)};
    if (!hunks.empty() && hunk.from <= hunks.back().to + 1) {
      hunks.back().to = hunk.to;
    } else {
      hunks.push_back(hunk);
    }
  }
  if (hunks.empty()) return "";
  std::string out = fmt::format("--- a/{}\n+++ b/{}\n", name, name);
  int shift = 0;  // number of lines that earlier hunks add
  for (const Hunk& hunk : hunks) {
    std::string body, removed, added;
    int now = 0;
    const auto flush = [&] { body += std::exchange(removed, "") + std::exchange(added, ""); };
    for (int line = hunk.from; line <= hunk.to; ++line) {
      const std::vector<std::string> after = edited(line);
      now += static_cast<int>(after.size());
      // An insertion before a line leaves the line itself unchanged, so the diff shows it as context.
      const bool stays = !after.empty() && after.back() == original(line);
      if (!stays) removed += "-" + original(line) + "\n";
      for (std::size_t i = 0; i < after.size() - (stays ? 1 : 0); ++i) added += "+" + after[i] + "\n";
      if (!stays) continue;
      flush();
      body += " " + original(line) + "\n";
    }
    flush();
    if (!ends_with_newline_ && hunk.to == line_count()) body += "\\ No newline at end of file\n";
    out += fmt::format("@@ -{},{} +{},{} @@\n{}", hunk.from, hunk.to - hunk.from + 1, hunk.from + shift, now, body);
    shift += now - (hunk.to - hunk.from + 1);
  }
  return out;
}

}  // namespace linebounce::sim
