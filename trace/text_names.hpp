// Resolves names in the text form. A name stands for the first symbol of its kind that has it; other symbols are written with
// their number.
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
  // Adds the symbol that was defined last.
  void add(const Symbols& symbols, const Symbol& symbol);

  // How `id` is written: NAME; NAME#3 if an earlier symbol has the same name; #3 if it is undefined.
  [[nodiscard]] std::string shown(const Symbols& symbols, Names kind, std::uint32_t id) const;
  // How a place in an object is written: rq[3].nr_running, rq[3].nr_running+2, buffer+72.
  [[nodiscard]] std::string shown_place(const Symbols& symbols, std::uint32_t object, std::uint64_t offset) const;

  // Reads what shown() and shown_place() write. Errors: FormatError for an undefined name.
  [[nodiscard]] std::uint32_t read(const Symbols& symbols, Scanner& line, Names kind) const;
  [[nodiscard]] std::pair<std::uint32_t, std::uint64_t> read_place(const Symbols& symbols, Scanner& line) const;

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;
  [[nodiscard]] std::uint32_t read_word(const Symbols& symbols, Scanner& line) const;

  std::map<Names, std::map<std::string, std::uint32_t, std::less<>>> first_;
  std::map<Place, std::uint32_t> words_;
};

// Reads NAME member=value ... of a symbol. REQUIRES: `kind` is one of kSymbolKinds. Errors: FormatError, also if the symbol
// breaks the rules of symbols.hpp.
Symbol read_symbol(std::string_view kind, const Symbols& symbols, const TextNames& names, Scanner& line);

// Reads an operation: its kind and what follows. Errors: FormatError.
Operation read_operation(const Symbols& symbols, const TextNames& names, Scanner& line);

}  // namespace linebounce::trace
