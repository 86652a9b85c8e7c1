// A number that changes with the content, for configuration hashes and to detect damaged files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace linebounce::trace {

// 64 bits of FNV-1a over bytes that arrive in parts. Any changed byte changes it; it does not stop a forger.
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
