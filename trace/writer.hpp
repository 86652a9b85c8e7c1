// Writes a trace while its operations arrive, in constant memory.
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
  // Binary, or text if the file's name ends in .txt. Replaces the file. Errors: WriteError, also from the other functions.
  explicit Writer(const std::filesystem::path& file);
  // If finish() was not called, a reader with the option `recover` can still read the operations written so far.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Returns its number. REQUIRES: called before the first operation that names it.
  std::uint32_t define(const Symbol& symbol);
  [[nodiscard]] const Symbols& symbols() const;
  // Replaces a lock's description with facts known only at the end; its number and place in the order stay.
  void redefine(std::uint32_t lock, const Lock& facts);

  // REQUIRES: the stream is defined.
  void append(std::uint32_t stream, std::span<const Operation> operations);
  void append(std::uint32_t stream, const Operation& operation) { append(stream, {&operation, 1}); }
  // Writes everything buffered to the file, for a recorder that may be killed.
  void flush();
  // Writes the index; nothing may follow.
  void finish(const Summary& summary);

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace linebounce::trace
