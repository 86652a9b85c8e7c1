// The least stack that the programs need.
#pragma once

#include <sys/resource.h>

#include <string>

namespace linebounce::trace {

inline constexpr rlim_t kLeastStack = 256 << 10;  // commands of linebounce need up to 128 KiB, linebounce-record 192

// The message if `ulimit -s` allows less; empty otherwise. Without this, the program would end by SIGSEGV.
inline std::string stack_problem() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastStack) return "";
  return "the stack is too small: ulimit -s limits it to " + std::to_string(limit.rlim_cur >> 10) + " KiB; at least " +
         std::to_string(kLeastStack >> 10) + " are needed";
}

}  // namespace linebounce::trace
