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
  // Writes binary, or text if the file's name ends in .txt. Replaces the file. Errors: WriteError, also from the other member
  // functions.
  explicit Writer(const std::filesystem::path& file);
  // Without finish(), a reader with the option `recover` can still read the operations written so far.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Returns the symbol's number. REQUIRES: called before the first operation that refers to it.
  std::uint32_t define(const Symbol& symbol);
  [[nodiscard]] const Symbols& symbols() const;
  // Replaces the facts of a lock, for what is known only at the end. Its number and its place in the order stay.
  void redefine(std::uint32_t lock, const Lock& facts);

  // REQUIRES: the stream is defined.
  void append(std::uint32_t stream, std::span<const Operation> operations);
  void append(std::uint32_t stream, const Operation& operation) { append(stream, {&operation, 1}); }
  // Writes all buffered data to the file, for a recorder that may be killed.
  void flush();
  // Completes the trace with its index; nothing may follow.
  void finish(const Summary& summary);

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace linebounce::trace
