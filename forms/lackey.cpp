// Reads the output of Valgrind's tool Lackey with --trace-mem=yes: "I  ADDRESS,SIZE" for an instruction, then its loads " L",
// stores " S" and modifications " M". Valgrind's own lines ("==PID== ...") may stand between them, and with
// --trace-superblocks=yes the blocks' addresses, "SB ADDRESS". Traces of some course
// assignments have the same form.
#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"
#include "forms/lock_statistics.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

std::optional<What> lackey_kind(std::string_view word) {
  if (word == "I") return What::fetch;
  if (word == "L") return What::load;
  if (word == "S") return What::store;
  if (word == "M") return What::modify;
  return std::nullopt;
}

// True for Valgrind's own lines: "==4711== Lackey, an example Valgrind tool", "--4711-- ...", or with --time-stamp=yes
// "==00:00:00:00.012 4711== ...".
bool is_of_valgrind(std::string_view text) {
  if (!text.starts_with("==") && !text.starts_with("--")) return false;
  const std::size_t end = text.find(text.substr(0, 2), 2);
  if (end == std::string_view::npos) return false;
  std::string_view inside = text.substr(2, end - 2);
  const std::string_view number = take_last_word(inside);
  return decimal(number).has_value() && inside.find_first_not_of("0123456789:.") == inside.npos;
}

std::optional<AddressLine> lackey_line(std::string_view text) {
  if (is_of_valgrind(text)) return AddressLine{};
  const std::string_view kind = take_word(text);
  if (kind == "SB" && hexadecimal(text)) return AddressLine{};
  const auto what = lackey_kind(kind);
  const std::size_t comma = text.find(',');
  if (!what || comma == std::string_view::npos) return std::nullopt;
  const auto address = hexadecimal(stripped(text.substr(0, comma)));
  const auto bytes = decimal(stripped(text.substr(comma + 1)));
  if (!address || !bytes || *bytes == 0) return std::nullopt;
  return AddressLine{.what = *what, .address = *address, .bytes = *bytes};
}

constexpr AddressGrammar kLackey{.source = "Lackey",
                                 .expected = "I, L, S or M, a hexadecimal address, a comma and a size",
                                 .parse = lackey_line,
                                 .has_sizes = true,
                                 .is_virtual = true};

Likeness lackey_likeness(const Excerpt& excerpt) {
  Likeness likeness = likeness_of(kLackey)(excerpt);
  if (likeness.fits() || excerpt.lines.empty() || !is_of_valgrind(excerpt.lines.front().text)) return likeness;
  // Valgrind prints its name before the first access, but possibly after output of the program.
  if (excerpt.has("== Lackey,")) return {Likeness::Sure::certain, "Valgrind's Lackey names itself in it"};
  return likeness;
}

}  // namespace

Form lackey_form() {
  return {.name = "lackey",
          .what = "valgrind --tool=lackey --trace-mem=yes",
          .marks = "L ADDRESS,SIZE; S ADDRESS,SIZE; M; I; Valgrind's ==PID== lines",
          .likeness = lackey_likeness,
          .convert = convert_lines_of(kLackey),
          .joins_files = true};
}

}  // namespace linebounce::sim
