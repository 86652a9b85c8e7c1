// Reads another tool's trace line by line, once from start to end, so it may come from a pipe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forms/line_words.hpp"
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

// Parses the whole text: a non-negative number without an exponent. Returns nothing if it is not one or too large. Apart from
// the other words, because WebAssembly's library reads no fractions.
std::optional<double> real(std::string_view text);

}  // namespace linebounce::sim
