// Reads a trace: its symbols at once, each stream's operations as they are wanted, in constant memory.
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
  // Reads what comes before the first damage of each stream instead of refusing the file.
  bool recover = false;
};

class Reader {
 public:
  // Binary or text, told apart by their first bytes. Errors: TraceError, here and from cursors.
  explicit Reader(const std::filesystem::path& file, ReadOptions options = {});
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const Symbols& symbols() const;
  [[nodiscard]] const Summary& summary() const;
  [[nodiscard]] const std::filesystem::path& file() const;
  [[nodiscard]] std::uint64_t operations(std::uint32_t stream) const;
  [[nodiscard]] std::uint64_t operations() const;  // of all streams
  // 16 hex digits that change with the content: for configuration hashes.
  [[nodiscard]] std::string fingerprint() const;
  // Cursors that are opened from now on end this stream before operation number `operation`, with `last` behind it. `why` is
  // added to damage(). For what `recover` leaves out.
  void end_stream(std::uint32_t stream, std::uint64_t operation, std::vector<Operation> last, const std::string& why);
  // A stream that is created begins with the trace instead. `why` as above.
  void begin_stream(std::uint32_t stream, const std::string& why);
  // What `recover` has met, for a warning; empty: nothing.
  [[nodiscard]] std::string damage() const;

  // One stream's operations in order. Lives no longer than its reader; several may be open. Not for use by several threads.
  class Cursor {
   public:
    Cursor(Cursor&&) noexcept;
    ~Cursor();
    // The operations of the next frame; empty: there are no more. Valid until the next call.
    std::span<const Operation> frame();
    // The number of the first operation of the latest frame.
    [[nodiscard]] std::uint64_t first() const;
    // "FILE: byte 81920: stream 3 (worker[2]), operation 12345", of the latest frame's operation number `at`: for messages.
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
