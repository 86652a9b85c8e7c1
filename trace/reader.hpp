// Reads a trace: its symbols at once, and each stream's operations on demand, in constant memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/error.hpp"
#include "trace/operation.hpp"
#include "trace/summary.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

struct ReadOptions {
  // Reads each stream up to its first damage instead of refusing the file.
  bool recover = false;
};

class Reader {
 public:
  // Binary or text, distinguished by the first bytes. Errors: TraceError, also from cursors.
  explicit Reader(const std::filesystem::path& file, ReadOptions options = {});
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const Symbols& symbols() const;
  [[nodiscard]] const Summary& summary() const;
  [[nodiscard]] const std::filesystem::path& file() const;
  [[nodiscard]] std::uint64_t operations(std::uint32_t stream) const;
  [[nodiscard]] std::uint64_t operations() const;  // over all streams
  // 16 hex digits that change with the content: for configuration hashes.
  [[nodiscard]] std::string fingerprint() const;
  // Makes cursors opened later end this stream before operation number `operation`, followed by `last`. Adds `why` to damage().
  // For parts that `recover` leaves out.
  void end_stream(std::uint32_t stream, std::uint64_t operation, std::vector<Operation> last, const std::string& why);
  // Makes a created stream begin with the trace instead. `why`: as above.
  void begin_stream(std::uint32_t stream, const std::string& why);
  // A description of the damage that `recover` met; empty if there is none.
  [[nodiscard]] std::string damage() const;

  // One stream's operations in order. Must not outlive its reader; several may be open. Not thread-safe.
  class Cursor {
   public:
    Cursor(Cursor&&) noexcept;
    ~Cursor();
    // The operations of the next frame; empty at the end. Valid until the next call.
    std::span<const Operation> frame();
    // The number of the current frame's first operation.
    [[nodiscard]] std::uint64_t first() const;
    // Such as "FILE: byte 81920: stream 3 (worker[2]), operation 12345", for operation number `at` in the current frame: for
    // messages.
    [[nodiscard]] std::string place(std::uint64_t at) const;

   private:
    friend class Reader;
    struct State;
    explicit Cursor(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  [[nodiscard]] Cursor open(std::uint32_t stream) const;

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace linebounce::trace
