// Reads another tool's trace line by line, once from start to end, so it may come from a pipe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/quote_marks.hpp"

namespace linebounce::sim {

// Opens the file. Errors: trace::TraceError if that fails, or if the file is compressed; the message then names the command
// that decompresses it.
std::ifstream open_input(const std::filesystem::path& file);
// Errors: TraceError if the stream had a read error.
void refuse_unreadable(const std::ifstream& stream, const std::string& name);

class LineFile {
 public:
  explicit LineFile(const std::filesystem::path& file) : name_(file.string()), stream_(open_input(file)) {}

  // The next line, without its end and e-mail quote marks, or nothing after the last line. Valid until the next call.
  std::optional<std::string_view> next();
  // Throws trace::TraceError with the current line: "FILE: line 17: TEXT: "the line"".
  [[noreturn]] void refuse(const std::string& text) const;
  [[nodiscard]] std::int64_t quoted() const { return quoted_; }  // number of lines with quote marks

 private:
  std::string name_;
  std::ifstream stream_;
  std::string line_;
  std::int64_t number_ = 0;
  std::int64_t quoted_ = 0;
};

// Returns the text without blanks at its ends.
std::string_view stripped(std::string_view text);
// Removes the first word and the blanks around it from the text, and returns it.
std::string_view take_word(std::string_view& text);
std::vector<std::string_view> words_of(std::string_view text);
// Of ASCII's letters alone.
std::string lower_case(std::string_view text);
bool is_letter(char letter);
// Parses a list of numbers such as "0-3,8". Returns nothing if the text is not such a list, or if a number is above `most`.
std::optional<std::vector<int>> listed_numbers(std::string_view text, int most);
// These parse the whole text: hexadecimal (with or without 0x), decimal, or a non-negative number without an exponent. They
// return nothing if it is not a number or too large.
std::optional<std::uint64_t> hexadecimal(std::string_view text);
std::optional<std::uint64_t> decimal(std::string_view text);
std::optional<double> real(std::string_view text);

}  // namespace linebounce::sim
