#include "workloads/replay/count_form.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include "models/ordinal.hpp"

namespace linebounce::workloads {

namespace {

constexpr std::string_view kBetween = "; ";

CountChoice count_choice_of(const std::string& text) {
  const std::size_t space = text.find(' ');
  const std::size_t plus = text.rfind('+');
  const auto form = std::ranges::find(kCountForms, text.substr(0, space));
  if (form != kCountForms.end() && space < plus && plus != std::string::npos) {
    CountChoice choice{static_cast<CountForm>(form - kCountForms.begin()), text.substr(space + 1, plus - space - 1)};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + plus + 1, end, choice.offset);
    if (error == std::errc{} && rest == end) return choice;
  }
  throw std::invalid_argument(
      fmt::format("workload.count: \"{}\" is not a form of a count; legal: {} and a word, as in \"per_thread hits+0\"", text,
                  fmt::join(kCountForms, ", ")));
}

}  // namespace

std::vector<CountChoice> count_choices_of(const std::string& text) {
  std::vector<CountChoice> choices;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kBetween, begin), text.size());
    choices.push_back(count_choice_of(text.substr(begin, end - begin)));
    begin = end + kBetween.size();
  }
  return choices;
}

std::string text_of(const std::vector<CountChoice>& choices) {
  std::string text;
  for (const CountChoice& choice : choices)
    text += fmt::format("{}{} {}+{}", text.empty() ? "" : kBetween, kCountForms[ordinal(choice.form)], choice.layout,
                        choice.offset);
  return text;
}

}  // namespace linebounce::workloads
