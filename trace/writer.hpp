// Writes a trace as its operations come, in constant memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "trace/error.hpp"
#include "trace/operation.hpp"
#include "trace/summary.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

class Writer {
 public:
  // Binary, or text if the file's name ends in .txt. Replaces the file. Errors: WriteError, here and later.
  explicit Writer(const std::filesystem::path& file);
  // Without finish(): what has come so far can be read with `recover`.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Its number. REQUIRES: before the first operation that names it.
  std::uint32_t define(const Symbol& symbol);
  [[nodiscard]] const Symbols& symbols() const;
  // Facts that are known only at the end: replaces a lock's description; its number and place in order stay.
  void redefine(std::uint32_t lock, const Lock& facts);

  // REQUIRES: the stream is defined.
  void append(std::uint32_t stream, std::span<const Operation> operations);
  void append(std::uint32_t stream, const Operation& operation) { append(stream, {&operation, 1}); }
  // Whatever is buffered goes to the file: for a recorder that may be killed.
  void flush();
  // The index; nothing may come behind it.
  void finish(const Summary& summary);

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace linebounce::trace
