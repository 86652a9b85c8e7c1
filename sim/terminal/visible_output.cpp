#include "sim/terminal/visible_output.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>

#include "models/text/visible.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

const std::string_view kClearLine = "\r\x1b[K";

namespace {

// Limit on an error message in characters; our longest ones, which list all known names, stay below it.
constexpr std::size_t kLongestLine = 8000;

// Shortens the path at the start of the message to the form that the user typed, because commands pass absolute paths to
// configurations and other programs. A path stays whole if the command line contains it whole.
std::string_view with_typed_path(std::string_view message) {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string() + "/";
  if (error || !message.starts_with(folder)) return message;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string typed{std::istreambuf_iterator<char>(file), {}};
  return typed.find(folder) == std::string::npos ? message.substr(folder.size()) : message;
}

// The length of the sequence at the beginning of `text` if it is one of ours (a colour or kClearLine), else 0.
std::size_t own_sequence(std::string_view text) {
  if (text.starts_with(kClearLine)) return kClearLine.size();
  for (const std::string_view colour : colour_sequences()) {
    if (text.starts_with(colour)) return colour.size();
  }
  return 0;
}

std::size_t end_of_line(std::string_view text) {
  return std::min(text.find('\n'), text.size());
}

std::string error_line(std::string_view line, std::optional<std::size_t> columns) {
  const std::string text = shortened(line, kLongestLine);
  if (!columns || width_of(text) <= *columns) return text + "\n";
  constexpr std::size_t kIndent = 2;
  return fmt::format("{}\n", fmt::join(wrapped(text, *columns - kIndent), "\n" + std::string(kIndent, ' ')));
}

}  // namespace

// A stream buffer that stands between a stream and its destination, and makes text visible.
class VisibleOutput::Filter final : public std::streambuf {
 public:
  Filter(std::ostream& stream, int descriptor)
      : stream_(stream), target_(stream.rdbuf(this)), terminal_(::isatty(descriptor) != 0) {}
  ~Filter() override {
    sync();
    stream_.rdbuf(target_);
  }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

 protected:
  int_type overflow(int_type c) override {
    if (c == traits_type::eof()) return traits_type::not_eof(c);
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }

  // Holds text back until its line is complete, because escape sequences and characters may arrive in pieces.
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    waiting_.append(text, size);
    const std::size_t lines = waiting_.rfind('\n') + 1;  // 0 if there is no newline, because npos + 1 is 0
    return write(lines) ? size : 0;
  }

  int sync() override { return write(waiting_.size()) && target_->pubsync() == 0 ? 0 : -1; }

 private:
  bool write(std::size_t size) {
    if (size == 0) return true;
    const std::string shown = terminal_ ? with_own_sequences(std::string_view(waiting_).substr(0, size))
                                        : visible(std::string_view(waiting_).substr(0, size));
    waiting_.erase(0, size);
    const auto length = static_cast<std::streamsize>(shown.size());
    return target_->sputn(shown.data(), length) == length;
  }

  static std::string with_own_sequences(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
      const std::size_t next = std::min(text.find_first_of("\x1b\r"), text.size());
      shown += visible(text.substr(0, next));
      text.remove_prefix(next);
      const std::size_t own = text.empty() ? 0 : own_sequence(text);
      shown += own > 0 ? std::string(text.substr(0, own)) : visible(text.substr(0, 1));
      text.remove_prefix(std::min(std::max<std::size_t>(own, 1), text.size()));
    }
    return shown;
  }

  std::ostream& stream_;
  std::streambuf* target_;
  bool terminal_;
  std::string waiting_;  // an incomplete line
};

VisibleOutput::VisibleOutput()
    : out_(std::make_unique<Filter>(std::cout, STDOUT_FILENO)), err_(std::make_unique<Filter>(std::cerr, STDERR_FILENO)) {}

VisibleOutput::~VisibleOutput() = default;

void print_error(std::string_view message) {
  while (message.ends_with('\n')) message.remove_suffix(1);
  const std::string text = "linebounce: " + std::string(with_typed_path(message));
  const std::optional<std::size_t> columns = line_columns(STDERR_FILENO);
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(std::min(end_of_line(rest) + 1, rest.size())))
    std::cerr << error_line(rest.substr(0, end_of_line(rest)), columns);
  std::cerr << std::flush;
}

}  // namespace linebounce::sim
