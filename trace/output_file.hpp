// A file that is written from its beginning to its end.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace linebounce::trace {

class OutputFile {
 public:
  // Replaces the file. Errors: WriteError, here and later.
  explicit OutputFile(const std::filesystem::path& file);

  void write(std::string_view bytes);
  void flush();
  // Nothing may be written later.
  void close();
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t size_ = 0;
};

}  // namespace linebounce::trace
