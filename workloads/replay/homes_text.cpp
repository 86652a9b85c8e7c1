#include "workloads/replay/homes_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace linebounce::workloads {

namespace {

constexpr std::string_view kNode = "node ";

}  // namespace

std::string text_of(const Home& home) {
  return home.policy ? std::string(word_of(*home.policy)) : fmt::format("{}{}", kNode, home.node);
}

std::optional<Home> home_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const auto policy = enum_named<Placement>(text)) return Home::by(*policy);
  int node = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with(kNode)) {
    const auto [rest, error] = std::from_chars(text.data() + kNode.size(), end, node);
    if (error == std::errc{} && rest == end && node >= 0) return Home::on(node);
  }
  throw std::invalid_argument(
      fmt::format("\"{}\" is no place for an object; legal: {}, node N", text, fmt::join(kWordsOf<Placement>, ", ")));
}

}  // namespace linebounce::workloads
