// Interface of a reader for one form of trace. Reader states the contracts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/operation.hpp"
#include "trace/reader.hpp"
#include "trace/summary.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// Delivers one stream's operations frame by frame, for a Cursor.
class Frames {
 public:
  virtual ~Frames() = default;
  virtual std::span<const Operation> next() = 0;
  [[nodiscard]] virtual std::uint64_t first() const = 0;
  // Where operation number `at` of the current frame is in the file: "byte 81920", "line 12".
  [[nodiscard]] virtual std::string position(std::uint64_t at) const = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::unique_ptr<Frames> open(std::uint32_t stream) const = 0;

  // Filled by the constructor.
  Symbols symbols;
  Summary summary;
  std::vector<std::uint64_t> operations;  // by stream
  std::string fingerprint;
  std::string damage;

  // Adds an error message. Every stream and frame may be damaged, so beyond a megabyte of text this only notes that there are
  // more.
  void add_damage(std::string_view what) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    constexpr std::string_view kMore = "\nand more";
    if (damage.size() < kMost) {
      damage.append(damage.empty() ? "" : "\n").append(what);
    } else if (!damage.ends_with(kMore)) {
      damage += kMore;
    }
  }
};

std::unique_ptr<Source> binary_source(const std::filesystem::path& file, ReadOptions options);
// Reads a text trace. Holds all of its operations in memory.
std::unique_ptr<Source> text_source(const std::filesystem::path& file, ReadOptions options);

// Resolves Object::of_lock, which may precede its lock. Errors: FormatError if the lock is never defined; under `recover`, such
// an object becomes an ordinary one.
void resolve_locks(Symbols& symbols, bool recover);

}  // namespace linebounce::trace
