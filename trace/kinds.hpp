// What is known of every kind of operation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trace/operation.hpp"

namespace linebounce::trace {

// What an operation's `id` is (`structure`: none's; what objects name).
enum class Names : std::uint8_t {
  nothing,
  structure,
  object,
  function,
  lock,
  barrier,
  word,
  event,
  stream,
  cpu,
  vector,
  cpu_and_vector,
  tally
};

struct KindFacts {
  std::string_view name;
  Names names = Names::nothing;
  bool has_argument = false;
  std::uint16_t flags = 0;  // that it may have
  bool repeats = false;
};

constexpr std::array<KindFacts, kKinds> kKindFacts = {{
    {"", Names::nothing, false, 0, false},
    {"load", Names::object, true, kPaired, true},
    {"store", Names::object, true, kCounted | kRelease, true},
    {"exchange", Names::object, true, kCounted | kRelease, false},
    {"fetch_add", Names::object, true, kCounted | kRelease, false},
    {"compare_exchange", Names::object, true, kCounted | kRelease | kFailed, false},
    {"prefetch", Names::object, true, kForWrite, false},
    {"fence", Names::nothing, false, 0, false},
    {"execute", Names::nothing, true, 0, false},
    {"compute", Names::nothing, true, 0, false},
    {"clock", Names::nothing, false, 0, false},
    {"enter", Names::function, false, 0, false},
    {"leave", Names::nothing, false, 0, false},
    {"acquire", Names::lock, false, 0, false},
    {"try_acquire", Names::lock, false, kFailed, false},
    {"release", Names::lock, false, 0, false},
    {"acquire_shared", Names::lock, false, 0, false},
    {"try_acquire_shared", Names::lock, false, kFailed, false},
    {"release_shared", Names::lock, false, kFailed, false},
    {"barrier", Names::barrier, false, 0, false},
    {"await", Names::word, true, kCounted | kPaired, false},
    {"signal", Names::event, false, 0, false},
    {"wait", Names::event, true, 0, false},
    {"create", Names::stream, false, 0, false},
    {"join", Names::stream, false, 0, false},
    {"sleep", Names::nothing, true, kCounted, false},
    {"wake", Names::cpu, false, 0, false},
    {"timer", Names::vector, true, 0, false},
    {"interrupt", Names::cpu_and_vector, true, 0, false},
    {"interrupts_off", Names::nothing, false, 0, false},
    {"interrupts_on", Names::nothing, false, 0, false},
    {"handler", Names::nothing, false, 0, false},
    {"handler_end", Names::nothing, false, 0, false},
    {"tally", Names::tally, true, 0, false},
}};

constexpr const KindFacts& facts_of(Kind kind) {
  return kKindFacts[static_cast<std::size_t>(kind)];
}

// Names of the flags, from bit 0 on.
constexpr std::array<std::string_view, kRepeatShift> kFlagNames = {"counted", "paired", "release", "failed", "for_write"};

}  // namespace linebounce::trace
