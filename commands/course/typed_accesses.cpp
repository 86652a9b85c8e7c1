#include "commands/course/typed_accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iostream>
#include <map>
#include <optional>
#include <string_view>
#include <variant>

#include "commands/course/bus_options.hpp"
#include "forms/cpu_words.hpp"
#include "forms/line_words.hpp"
#include "forms/operation_words.hpp"
#include "models/text/text_lines.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr Address kWordBytes = 4;
constexpr const char* kOnlyLine = "x";  // where accesses without a place go

struct TypedOperation {
  bool writes = false;
  bool linked = false;  // load-linked or store-conditional
};

struct Typed {
  int cpu = 0;
  TypedOperation operation;
  std::string place;
};

using Words = std::vector<std::string_view>;

Words words_of_access(std::string_view text) {
  constexpr std::string_view kBetween = " \t\r,:()";
  Words words;
  for (std::size_t at = text.find_first_not_of(kBetween); at != text.npos; at = text.find_first_not_of(kBetween, at)) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<TypedOperation> operation_of(std::string_view word) {
  const std::string lower = lower_case(word);
  if (lower == "ll" || lower == "load-linked") return TypedOperation{.linked = true};
  if (lower == "sc" || lower == "store-conditional") return TypedOperation{.writes = true, .linked = true};
  const auto what = read_or_write(word);
  return what ? std::optional(TypedOperation{.writes = *what == AddressLine::What::store}) : std::nullopt;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_number(std::string_view word) {
  return std::ranges::all_of(word, is_digit);
}

// Takes the first word for which `is_it` holds; empty if there is none.
template <class Predicate>
std::string_view take(Words& words, Predicate is_it) {
  const auto found = std::ranges::find_if(words, [&is_it](std::string_view word) { return static_cast<bool>(is_it(word)); });
  if (found == words.end()) return {};
  const std::string_view word = *found;
  words.erase(found);
  return word;
}

// The number of letters in front of a joined operation and CPU, "r1" or "W2"; 0 for any other word.
std::size_t joined_letters(std::string_view word) {
  const std::size_t digits = std::min(word.find_first_of("0123456789"), word.size());
  const bool is_joined = digits < word.size() && is_number(word.substr(digits)) && operation_of(word.substr(0, digits));
  return is_joined ? digits : 0;
}

std::vector<std::string_view> split_accesses(std::string_view text) {
  std::vector<std::string_view> accesses;
  while (!text.empty()) {
    const std::size_t closed = text.find(")(");
    const std::size_t end = std::min({text.find_first_of(";\n"), closed == text.npos ? closed : closed + 1, text.size()});
    const Words words = words_of_access(text.substr(0, end));
    if (std::ranges::all_of(words, [](std::string_view word) { return joined_letters(word) > 0; })) {
      accesses.insert(accesses.end(), words.begin(), words.end());  // "r1 w2 r1"
    } else {
      accesses.push_back(text.substr(0, end));
    }
    const bool has_mark = end < text.size() && text[end] != '(';
    text.remove_prefix(end + (has_mark ? 1 : 0));
  }
  return accesses;
}

// A place is a name, perhaps with an index, or an address.
bool is_name(std::string_view place) {
  const auto is_part = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; };
  const std::size_t bracket = std::min(place.find('['), place.size());
  const std::string_view index = place.substr(bracket);
  constexpr std::uint64_t kMostIndex = 1 << 20;
  const auto number = index.ends_with(']') ? decimal(index.substr(1, index.size() - 2)) : std::nullopt;
  const bool is_indexed = number && *number <= kMostIndex;
  return !place.empty() && !is_digit(place.front()) && std::ranges::all_of(place.substr(0, bracket), is_part) &&
         (index.empty() || is_indexed);
}

bool is_address(std::string_view place) {
  return hexadecimal(place) && (is_number(place) || place.starts_with("0x") || place.starts_with("0X"));
}

// Says why an access can't be read.
struct NotUnderstood {
  std::string why;
};

std::variant<Typed, NotUnderstood> parse(std::string_view text) {
  const std::size_t value = std::min({text.find("<-"), text.find('='), text.size()});  // "P0: write 120 <-- 80", "x = 5"
  Words words = words_of_access(text.substr(0, value));
  std::erase_if(words, announces_cpu);  // "core 1"
  const std::string_view first = words.empty() ? "" : words.front();
  std::string_view operation = take(words, operation_of), cpu;
  if (operation.empty()) {
    const std::string_view joined = take(words, joined_letters);
    const bool has_other_cpu =
        joined != first && !is_number(first) && cpu_number(first);  // "P1: r2 = y", where r2 is a register
    if (!joined.empty() && has_other_cpu) return NotUnderstood{fmt::format("{} and {} may both be its CPU", first, joined)};
    operation = joined.substr(0, joined_letters(joined));
    cpu = joined.substr(operation.size());
  } else {
    // A number is the CPU unless another word names it: "P1 R 100".
    cpu = take(words, [](std::string_view word) { return !is_number(word) && cpu_number(word); });
    if (cpu.empty()) cpu = take(words, is_number);
  }
  const auto what = operation_of(operation);
  const auto number = cpu_number(cpu);
  if (!what) return NotUnderstood{"no word in it is an operation: R, read, load, W, write, store, LL or SC"};
  if (!number) return NotUnderstood{"no word in it is a CPU: P1, 1 or core 1"};
  if (words.size() > 1) return NotUnderstood{fmt::format("{} and {} are two places", words[0], words[1])};
  const std::string place(words.empty() ? kOnlyLine : words.front());
  if (is_name(place) || is_address(place)) return Typed{.cpu = *number, .operation = *what, .place = place};
  return NotUnderstood{hexadecimal(place)
                           ? fmt::format("{0} is no name; as an address it is 0x{0}", place)
                           : fmt::format("{} is no place: a name, a name with an index as in a[1], or an address", place)};
}

// True for a name that may have been meant as an address: hexadecimal digits, both letters and figures, "AC20".
bool looks_like_address(std::string_view place) {
  constexpr std::size_t kShortest = 3;
  return place.size() >= kShortest && hexadecimal(place) && place.find_first_of("0123456789") != place.npos && is_name(place);
}

void say_which_are_names(const std::vector<Typed>& accesses) {
  const auto found = std::ranges::find_if(accesses, [](const Typed& typed) { return looks_like_address(typed.place); });
  if (found == accesses.end()) return;
  std::cerr << fmt::format("linebounce: {} is a name here, of a line of its own; as an address it is 0x{}\n", found->place,
                           found->place);
}

// Gives each named place an address, on lines that no other name and no number uses.
class Places {
 public:
  Places(const std::vector<Typed>& accesses, int line_bytes) : line_bytes_(static_cast<Address>(line_bytes)) {
    Address bits = kWordBytes | line_bytes_;
    for (const Typed& typed : accesses) bits |= address_of(typed.place).value_or(0);
    word_bytes_ = Address{1} << std::countr_zero(bits);
    std::map<std::string, Address> bytes;
    std::vector<std::string> order;
    for (const Typed& typed : accesses) {
      if (const auto number = address_of(typed.place)) {
        next_ = std::max(next_, (*number / line_bytes_ + 1) * line_bytes_);
        continue;
      }
      const auto [name, offset] = parts_of(typed.place);
      if (!bytes.contains(name)) order.push_back(name);
      bytes[name] = std::max(bytes[name], offset + word_bytes_);
    }
    for (const std::string& name : order) {
      begins_[name] = next_;
      next_ += (bytes[name] + line_bytes_ - 1) / line_bytes_ * line_bytes_;
    }
  }

  // Fills in address, size, place and line.
  void place(const std::string& typed, NamedAccess& access) const {
    access.bytes = static_cast<int>(word_bytes_);
    if (const auto number = address_of(typed)) {
      access.address = *number;
      access.place = fmt::format("0x{:x}", *number);
      access.line = fmt::format("0x{:x}", *number / line_bytes_ * line_bytes_);
      return;
    }
    const auto [name, offset] = parts_of(typed);
    access.address = begins_.at(name) + offset;
    access.place = typed;
    access.line = line_bytes_ > word_bytes_ ? name : typed;
  }

 private:
  static std::optional<Address> address_of(const std::string& place) {
    return is_address(place) ? hexadecimal(place) : std::nullopt;
  }

  // The name and the offset in bytes of "a[3]".
  [[nodiscard]] std::pair<std::string, Address> parts_of(const std::string& place) const {
    const std::size_t bracket = std::min(place.find('['), place.size());
    const std::string_view index = std::string_view(place).substr(bracket);
    const Address number = index.empty() ? 0 : decimal(index.substr(1, index.size() - 2)).value_or(0);
    return {place.substr(0, bracket), number * word_bytes_};
  }

  Address line_bytes_;
  Address word_bytes_;  // the largest power of two up to kWordBytes that divides all addresses
  Address next_ = 0;
  std::map<std::string, Address> begins_;
};

// The text without comments.
std::string without_comments(const std::string& text) {
  std::string out;
  for (const std::string_view line : text_lines(text)) {
    const std::size_t comment = std::min({line.find('#'), line.find("//"), line.size()});
    out.append(line.substr(0, comment)) += '\n';
  }
  return out;
}

}  // namespace

bool are_typed_accesses(const std::string& text) {
  const std::string plain = without_comments(text);
  const std::vector<std::string_view> accesses = split_accesses(plain);
  return !accesses.empty() &&
         std::ranges::all_of(accesses, [](std::string_view access) { return std::holds_alternative<Typed>(parse(access)); });
}

std::vector<NamedAccess> typed_accesses(const std::string& text, int line_bytes) {
  std::vector<Typed> parsed;
  const std::string plain = without_comments(text);
  for (const std::string_view access : split_accesses(plain)) {
    std::variant<Typed, NotUnderstood> understood = parse(access);
    if (const auto* refused = std::get_if<NotUnderstood>(&understood))
      throw ConfigError(fmt::format("access {}, '{}': {}; legal is for example \"P1 R x\"", parsed.size() + 1, stripped(access),
                                    refused->why));
    Typed& typed = std::get<Typed>(understood);
    if (typed.cpu >= kMostAtomicCaches)
      throw ConfigError(fmt::format("access {}: CPU {}; an atomic bus has the CPUs 0 to {}", parsed.size() + 1, typed.cpu,
                                    kMostAtomicCaches - 1));
    parsed.push_back(std::move(typed));
  }
  if (parsed.empty()) throw ConfigError("no access is typed; legal: \"P1 R x; P2 W x\"");
  say_which_are_names(parsed);
  const Places places(parsed, line_bytes);
  std::vector<NamedAccess> accesses;
  for (const Typed& typed : parsed) {
    NamedAccess& access = accesses.emplace_back();
    access.cpu = typed.cpu;
    access.writes = typed.operation.writes;
    access.linked = typed.operation.linked;
    places.place(typed.place, access);
  }
  return accesses;
}

}  // namespace linebounce::sim
