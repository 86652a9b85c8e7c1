#include "trace/fingerprint.hpp"

#include <fmt/format.h>

namespace linebounce::trace {

void Fingerprint::add(std::string_view bytes) {
  for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
}

std::string Fingerprint::text() const {
  return fmt::format("{:016x}", value_);
}

std::string fingerprint_of(std::string_view bytes) {
  Fingerprint fingerprint;
  fingerprint.add(bytes);
  return fingerprint.text();
}

}  // namespace linebounce::trace
