// Recognises Linebounce's own files, so that a command that can't use such a file can name the command that does.
#include "forms/own_forms.hpp"

#include <algorithm>

#include "forms/forms.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kBinaryTrace = "\x5b\x2a\x4d\x18";  // docs/trace-format.md
constexpr std::string_view kTextTrace = "linebounce trace ";

bool has_line(const Excerpt& excerpt, std::string_view begin) {
  return std::ranges::any_of(excerpt.lines, [begin](const Excerpt::Line& line) { return line.text.starts_with(begin); });
}

bool is_toml(const Excerpt& excerpt) {
  const bool is_named = excerpt.name.ends_with(".toml");
  return is_named && (has_line(excerpt, "name ") || has_line(excerpt, "name=") || has_line(excerpt, "["));
}

}  // namespace

bool is_own_trace(const Excerpt& excerpt) {
  return excerpt.bytes.starts_with(kBinaryTrace) || excerpt.bytes.starts_with(kTextTrace);
}

Form own_trace_form() {
  return {.name = "trace",
          .kind = FormKind::own,
          .what = "a trace of Linebounce's: linebounce trace info or replay takes it",
          .marks = "its first bytes, or \"linebounce trace 1\"",
          .likeness = [](const Excerpt& excerpt) { return certain_if(is_own_trace(excerpt), "its beginning says so"); }};
}

Form own_toml_form() {
  return {.name = "toml",
          .kind = FormKind::own,
          .what = "an experiment, machine or layout of Linebounce's: linebounce run, --machine or describe layout takes it",
          .marks = "NAME.toml with a name or a table",
          .likeness = [](const Excerpt& excerpt) { return certain_if(is_toml(excerpt), "it is TOML by name and content"); }};
}

Form own_program_form() {
  return {.name = "lua",
          .kind = FormKind::own,
          .what = "a program or lock in Lua: linebounce run or check-lock takes it",
          .marks = "NAME.lua with a function",
          .likeness = [](const Excerpt& excerpt) {
            return certain_if(excerpt.name.ends_with(".lua") && excerpt.has("function "), "it is Lua by name and content");
          }};
}

}  // namespace linebounce::sim
