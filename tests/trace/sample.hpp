// Sample traces to write and read: one with every kind of symbol and operation; files disappear with the test.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {

struct Sample {
  std::vector<Symbol> definitions;
  Symbols symbols;  // the same symbols, as defined
  Summary summary;
  std::vector<std::vector<Operation>> streams;
};

// Has every kind of symbol with every member set, and every kind of operation. No reader has doubts about it.
Sample small_sample();
// The same with streams of several frames.
Sample large_sample();

// Writes streams in turns of 1,000 operations, as programs do.
void write(const Sample& sample, const std::filesystem::path& file);
std::vector<std::vector<Operation>> operations_of(const Reader& reader);

// A path in a temporary directory, deleted by the destructor.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string bytes() const;
  void write(std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

}  // namespace linebounce::trace
