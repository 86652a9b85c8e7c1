// Reads a trace in constant memory: symbols at once, operations of each stream on demand.
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
  // If a stream is damaged, reads it up to there. Otherwise a damaged file is refused.
  bool recover = false;
};

class Reader {
 public:
  // Reads binary and text, which it tells apart by the first bytes. Errors: TraceError, also from cursors.
  explicit Reader(const std::filesystem::path& file, ReadOptions options = {});
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const Symbols& symbols() const;
  [[nodiscard]] const Summary& summary() const;
  [[nodiscard]] const std::filesystem::path& file() const;
  [[nodiscard]] std::uint64_t operations(std::uint32_t stream) const;
  [[nodiscard]] std::uint64_t operations() const;  // over all streams
  // 16 hexadecimal digits that change with the content, for configuration hashes.
  [[nodiscard]] std::string fingerprint() const;
  // Cursors that are opened later end this stream before operation number `operation`, and then deliver `last`. Adds `why` to
  // damage(). For parts of a trace that `recover` leaves out.
  void end_stream(std::uint32_t stream, std::uint64_t operation, std::vector<Operation> last, const std::string& why);
  // Makes a created stream begin with the trace. Adds `why` to damage().
  void begin_stream(std::uint32_t stream, const std::string& why);
  // Describes the damage that `recover` found; empty if there was none.
  [[nodiscard]] std::string damage() const;

  // Delivers one stream's operations in order. Must not outlive its reader. Several may be open. Not thread-safe.
  class Cursor {
   public:
    Cursor(Cursor&&) noexcept;
    ~Cursor();
    // The operations of the next frame; empty at the end. Valid until the next call.
    std::span<const Operation> frame();
    // The number of the current frame's first operation.
    [[nodiscard]] std::uint64_t first() const;
    // The place of operation number `at` in the current frame, for messages: "FILE: byte 81920: stream 3 (worker[2]), operation
    // 12345".
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

// The size of the page in which the object's address is virtual; 0: the address is physical, or there is none.
int page_bytes_of(const Reader& trace, const Object& object);

}  // namespace linebounce::trace
