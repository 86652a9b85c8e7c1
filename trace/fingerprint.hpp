// A number that changes with the content: for configuration hashes, and to notice damaged files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace linebounce::trace {

// 64 bits of FNV-1a, of bytes that come in parts. Any one byte that is changed changes it; a forger is not stopped.
class Fingerprint {
 public:
  void add(std::string_view bytes);
  // 16 hex digits.
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::string fingerprint_of(std::string_view bytes);

}  // namespace linebounce::trace
