// Recognises litmus tests in herd's format (.litmus), which litmus reads.
#include <algorithm>
#include <array>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

// Architectures that herd has tests for, with a memory model here or without one.
constexpr std::array<std::string_view, 13> kLitmusArchitectures = {"X86",   "X86_64", "AArch64", "C",   "LISA", "ARM", "PPC",
                                                                   "RISCV", "MIPS",   "CPP",     "BPF", "ASL",  "JAVA"};

Likeness litmus_likeness(const Excerpt& excerpt) {
  // Passes over comments in front of the head, and one behind it.
  bool is_comment = false;
  const auto first = std::ranges::find_if(excerpt.lines, [&is_comment](const Excerpt::Line& line) {
    const bool was_comment = is_comment || line.text.starts_with("(*");
    is_comment = was_comment && line.text.find("*)") == line.text.npos;
    return !was_comment;
  });
  if (first == excerpt.lines.end()) return {};
  std::string_view text = first->text;
  text = stripped(text.substr(0, text.find("(*")));
  const std::string_view architecture = take_word(text);
  const bool is_known = std::ranges::find(kLitmusArchitectures, architecture) != kLitmusArchitectures.end();
  const bool is_named = !text.empty() && text.find(' ') == text.npos;
  const bool has_parts = excerpt.has("{") && (excerpt.has("exists") || excerpt.has("forall") || excerpt.has("P0"));
  return certain_if(is_known && is_named && has_parts,
                    "it begins with an architecture and a name, and has threads or a condition");
}

}  // namespace

Form litmus_form() {
  return {.name = "litmus",
          .kind = FormKind::litmus,
          .what = "herd's litmus test, for x86, AArch64, LISA or C with the kernel's or C11's names",
          .marks = "an architecture and a name, { ... }, threads, exists (...)",
          .likeness = litmus_likeness,
          .joins_files = true};
}

}  // namespace linebounce::sim
