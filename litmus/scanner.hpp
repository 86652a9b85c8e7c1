// Takes words and symbols from the front of a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "litmus/final_condition.hpp"
#include "models/text/trimmed.hpp"

namespace linebounce::sim::litmus {

class Scanner {
 public:
  explicit Scanner(std::string_view text, int line = 1) : rest_(text), line_(line) {}

  [[nodiscard]] int line() const { return line_; }  // of what comes next
  bool at_end();
  std::string_view rest();
  // Takes the symbol, if it comes next.
  bool taken(std::string_view symbol);
  // Takes the word, if it comes next and no letter or digit follows it.
  bool taken_word(std::string_view word);
  bool next_is(std::string_view symbol);
  // Letters, digits, underscores and dots, beginning with a letter or underscore; empty if something else comes next.
  std::string_view name();
  // A decimal or hexadecimal number, which may be negative. Errors: std::invalid_argument if it has more than 15 digits.
  std::optional<Word> number();
  // Errors: std::invalid_argument with what was expected, and what was found.
  void expect(std::string_view symbol);
  [[noreturn]] void wanted(std::string_view what);

 private:
  void skip_blanks();

  std::string_view rest_;
  int line_;
};

bool is_name_start(char c);
bool is_name_part(char c);
std::string upper_case(std::string_view text);
// Splits at a separator, but not inside brackets. Removes blanks at the ends of the parts.
std::vector<std::string> split_outside_brackets(std::string_view text, char separator);
// Errors: std::invalid_argument if it has more than 15 digits. Nothing if the text is no number.
std::optional<Word> whole_text_number(std::string_view text);

}  // namespace linebounce::sim::litmus
