#include "workloads/replay/homes_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace linebounce::workloads {

namespace {

constexpr std::string_view kNode = "node ";
constexpr std::array<std::pair<std::string_view, Placement>, 3> kPolicies = {
    {{"local", Placement::local}, {"first_touch", Placement::first_touch}, {"interleaved", Placement::interleaved}}};

}  // namespace

std::string text_of(const Home& home) {
  for (const auto& [name, policy] : kPolicies) {
    if (home.policy == policy) return std::string(name);
  }
  return fmt::format("{}{}", kNode, home.node);
}

std::optional<Home> home_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (const auto& [name, policy] : kPolicies) {
    if (text == name) return Home::by(policy);
  }
  int node = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with(kNode)) {
    const auto [rest, error] = std::from_chars(text.data() + kNode.size(), end, node);
    if (error == std::errc{} && rest == end && node >= 0) return Home::on(node);
  }
  throw std::invalid_argument(
      fmt::format("\"{}\" is no place for an object; legal: local, first_touch, interleaved, node N", text));
}

}  // namespace linebounce::workloads
