#include "sim/native/lock_chains.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "sim/native/lock_assembly.hpp"

namespace linebounce::sim {
namespace {

std::optional<std::uint64_t> parsed_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Of "/home/me/lock.c:12 (discriminator 3)".
struct SourceLine {
  std::string_view file;
  std::uint64_t line = 0;
};

std::optional<SourceLine> source_line(std::string_view text) {
  text = text.substr(0, text.find(" (discriminator"));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto line = parsed_number(text.substr(colon + 1), 10);
  return line ? std::optional(SourceLine{text.substr(0, colon), *line}) : std::nullopt;
}

}  // namespace

// A site's address follows its call. One byte less is inside the call, and so inside the same inline function.
std::map<std::uint64_t, int> site_addresses(const std::string& symbols) {
  std::map<std::uint64_t, int> found;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t label = line.rfind(kSiteLabel);
    if (label == std::string::npos) continue;
    const auto address = parsed_number(std::string_view(line).substr(0, line.find(' ')), 16);
    const auto site = parsed_number(std::string_view(line).substr(label + kSiteLabel.size()), 10);
    if (address && site) found[*address - 1] = static_cast<int>(*site);
  }
  return found;
}

std::string chain_lines(const std::string& addr2line, const std::map<std::uint64_t, int>& sites) {
  std::string out;
  const int* site = nullptr;
  std::istringstream lines(addr2line);
  for (std::string function, place; std::getline(lines, function);) {
    if (function.starts_with("0x")) {
      const auto address = parsed_number(std::string_view(function).substr(2), 16);
      const auto found = address ? sites.find(*address) : sites.end();
      site = found == sites.end() ? nullptr : &found->second;
      continue;
    }
    if (!std::getline(lines, place) || site == nullptr) continue;
    if (const auto at = source_line(place); at && at->line > 0)
      out += fmt::format("call {} {} {} {}\n", *site, at->line, function.substr(0, function.find_first_of(" (<")), at->file);
  }
  return out;
}

}  // namespace linebounce::sim
