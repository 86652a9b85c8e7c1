// Which symbol a name of the text form means: the first of its kind that was defined with it; the others go by number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"
#include "trace/text_token.hpp"

namespace linebounce::trace {

class TextNames {
 public:
  // The symbol that was defined last.
  void add(const Symbols& symbols, const Symbol& symbol);

  // `id` as it is written: NAME, NAME#3 where an earlier one has the name, #3 where nothing is defined.
  [[nodiscard]] std::string shown(const Symbols& symbols, Names kind, std::uint32_t id) const;
  // A place in an object: rq[3].nr_running, rq[3].nr_running+2, buffer+72.
  [[nodiscard]] std::string shown_place(const Symbols& symbols, std::uint32_t object, std::uint64_t offset) const;

  // The same backwards. Errors: FormatError, of names that are not defined.
  [[nodiscard]] std::uint32_t read(const Symbols& symbols, Scanner& line, Names kind) const;
  [[nodiscard]] std::pair<std::uint32_t, std::uint64_t> read_place(const Symbols& symbols, Scanner& line) const;

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;
  [[nodiscard]] std::uint32_t read_word(const Symbols& symbols, Scanner& line) const;

  std::map<Names, std::map<std::string, std::uint32_t, std::less<>>> first_;
  std::map<Place, std::uint32_t> words_;
};

// NAME member=value ... of a symbol, which obeys the rules of symbols.hpp. Errors: FormatError. REQUIRES: `kind` is one of
// kSymbolKinds.
Symbol read_symbol(std::string_view kind, const Symbols& symbols, const TextNames& names, Scanner& line);

// KIND and what follows it. Errors: FormatError.
Operation read_operation(const Symbols& symbols, const TextNames& names, Scanner& line);

}  // namespace linebounce::trace
