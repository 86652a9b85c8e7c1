// Splits the text form into words.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace linebounce::trace {

constexpr std::string_view kTextHead = "linebounce trace 1";

// Words with which a line may begin, besides a stream's name.
constexpr std::array<std::string_view, 16> kLineBeginnings = {
    "structure", "object",  "function", "lock",    "barrier", "event",   "word",          "stream",
    "redefine",  "program", "recorder", "machine", "misses",  "missing", "configuration", "end"};

// Returns a name or value as it is written. Quotes it as in JSON if it is empty, begins or ends with a mark, or contains a
// character of `marks`, a space, a quote, "=" or anything but printable ASCII.
std::string quoted_if_needed(std::string_view text, std::string_view marks);

// Characters that end an unquoted name. kObjectMarks: of an object, which a field or offset may follow.
constexpr std::string_view kObjectMarks = ".+#";
constexpr std::string_view kFieldMarks = "+#";
constexpr std::string_view kNameMarks = "#";

// Reads a line word by word. Errors: FormatError.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : rest_(line) {}

  // Skips spaces; true if only a comment or nothing is left.
  bool at_end();
  [[nodiscard]] char next() const { return rest_.empty() ? ' ' : rest_.front(); }
  bool skip(char mark);
  // Reads a quoted name, or up to a space, "=" or one of `marks`. Sets `*was_quoted` unless it is null.
  std::string name(std::string_view marks, bool* was_quoted = nullptr);
  std::uint64_t number(std::string_view what);
  // Reads a number that T can hold.
  template <class T>
  T number_of(std::string_view what) {
    const std::uint64_t value = number(what);
    if (!std::in_range<T>(value)) too_large(what, value, static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
    return static_cast<T>(value);
  }
  // The rest of the current word, for messages.
  [[nodiscard]] std::string_view rest_of_word() const;

 private:
  [[noreturn]] static void too_large(std::string_view what, std::uint64_t value, std::uint64_t most);

  std::string_view rest_;
};

}  // namespace linebounce::trace
