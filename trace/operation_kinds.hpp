// What is known of every kind of operation.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
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

// The largest arguments of what takes time: 18 minutes at 1 GHz, so that a replay can add them up. A recorded program that
// does nothing else for longer is none that anybody replays.
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostPicoseconds = std::uint64_t{1} << 50;

struct KindFacts {
  std::string_view name;
  Names names = Names::nothing;
  bool has_argument = false;
  std::uint16_t flags = 0;  // that it may have
  bool repeats = false;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // legal argument
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
    {"execute", Names::nothing, true, 0, false, kMostCount},
    {"compute", Names::nothing, true, 0, false, kMostCount},
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
    {"sleep", Names::nothing, true, kCounted, false, kMostCount},
    {"wake", Names::cpu, false, 0, false},
    {"timer", Names::vector, true, 0, false, kMostPicoseconds},
    {"interrupt", Names::cpu_and_vector, true, 0, false, kMostPicoseconds},
    {"interrupts_off", Names::nothing, false, 0, false},
    {"interrupts_on", Names::nothing, false, 0, false},
    {"handler", Names::nothing, false, 0, false},
    {"handler_end", Names::nothing, false, 0, false},
    {"tally", Names::tally, true, 0, false, kMostCount},
}};

constexpr const KindFacts& facts_of(Kind kind) {
  return kKindFacts[static_cast<std::size_t>(kind)];
}

// Names of the flags, from bit 0 on.
constexpr std::array<std::string_view, kRepeatShift> kFlagNames = {"counted", "paired", "release", "failed", "for_write"};

}  // namespace linebounce::trace
