// Words of the text form.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace linebounce::trace {

constexpr std::string_view kTextHead = "linebounce trace 1";

// What a line can begin with besides a stream's name.
constexpr std::array<std::string_view, 16> kLineBeginnings = {
    "structure", "object",  "function", "lock",    "barrier", "event",   "word",          "stream",
    "redefine",  "program", "recorder", "machine", "misses",  "missing", "configuration", "end"};

// A name or value as it is written: as it is, or in quotes as JSON has them when it is empty, begins or ends with a mark, or
// has a character of `marks`, a space, a quote, "=" or anything that is not printable ASCII.
std::string quoted_if_needed(std::string_view text, std::string_view marks);

// What ends an unquoted name: of objects, behind which a field or an offset may stand, and of everything else.
constexpr std::string_view kObjectMarks = ".+#";
constexpr std::string_view kFieldMarks = "+#";
constexpr std::string_view kNameMarks = "#";

// One line, word by word. Errors: FormatError.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : rest_(line) {}

  // Whether only a comment is left, if anything. Skips spaces.
  bool at_end();
  [[nodiscard]] char next() const { return rest_.empty() ? ' ' : rest_.front(); }
  bool skip(char mark);
  // Up to a space, "=" or one of `marks`, or in quotes. `was_quoted`, where wanted, says which.
  std::string name(std::string_view marks, bool* was_quoted = nullptr);
  std::uint64_t number(std::string_view what);
  // One that T can hold.
  template <class T>
  T number_of(std::string_view what) {
    const std::uint64_t value = number(what);
    if (!std::in_range<T>(value)) too_large(what, value, static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
    return static_cast<T>(value);
  }
  // What is left of the word, for messages.
  [[nodiscard]] std::string_view rest_of_word() const;

 private:
  [[noreturn]] static void too_large(std::string_view what, std::uint64_t value, std::uint64_t most);

  std::string_view rest_;
};

}  // namespace linebounce::trace
