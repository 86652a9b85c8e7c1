// A hash of content, for configuration hashes and to detect damaged files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace linebounce::trace {

// 64-bit FNV-1a over bytes that may arrive in parts. It detects accidental changes, not forgery.
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
