// An operation of a trace: what a program did, without times. Stored as it is in memory, little endian (docs/trace-files.md).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace linebounce::trace {

// Kinds of operations, and what `id` and `argument` mean for each. The numbers are part of the file format: add new kinds at
// the end.
enum class Kind : std::uint8_t {
  // Memory. `id`: an object; `argument`: offset of the first byte in it; `bytes`: 1, 2, 4 or 8, naturally aligned.
  load = 1,
  store = 2,
  exchange = 3,
  fetch_add = 4,
  compare_exchange = 5,
  prefetch = 6,
  fence = 7,  // ends when all earlier stores have reached the cache

  // Time. `argument`: number of instructions or cycles.
  execute = 8,  // instructions without memory accesses
  compute = 9,  // cycles without instructions
  clock = 10,   // reads the clock: ordered like other operations, but takes no time

  // Functions. enter: `id` is the function; leave: leaves the innermost one.
  enter = 11,
  leave = 12,

  // Locks. `id`: a lock.
  acquire = 13,
  try_acquire = 14,  // kFailed: did not get the lock
  release = 15,
  acquire_shared = 16,
  try_acquire_shared = 17,
  release_shared = 18,  // kFailed: a writer came in between, so the reader repeats its section

  // Order between streams.
  barrier = 19,  // `id`: a barrier
  // `id`: a word. Spins until `argument` counted writes (kCounted) of the word have been made since the trace began; 0: only
  // reads the word. kPaired: this await and the next one are a group: the thread reads the group's words in turn until one of
  // the conditions holds. kCounted: the thread saw its own store before others could; `bytes` is then the number of its own
  // writes of the word, by interrupt handlers, in the meantime.
  await = 20,
  signal = 21,  // `id`: an event
  wait = 22,    // `id`: an event; sleeps until the event has been signalled `argument` times since the trace began
  create = 23,  // `id`: the stream, which begins
  join = 24,    // `id`: a stream; sleeps until that stream has ended

  // Processor events, in recorded kernels. sleep: until the CPU has been woken `argument` times since the trace began.
  // kCounted: this thread holds a mutex, and a waiter for that mutex can see that this thread sleeps.
  sleep = 25,
  wake = 26,   // `id`: a CPU
  timer = 27,  // `id`: an interrupt vector; `argument`: picoseconds until the timer interrupts this CPU
  // `id`: CPU * 2^16 + vector. `argument`: picoseconds until a device interrupts; 0: an interprocessor interrupt.
  interrupt = 28,
  interrupts_off = 29,
  interrupts_on = 30,
  handler = 31,  // only in the stream of an interrupt vector: one of its handlers begins
  handler_end = 32,

  // An event that the workload counts. `id`: which one; `argument`: how many.
  tally = 33,

  // Nanoseconds in which the thread waited for something outside the program, such as a device or the time. No machine's clock
  // changes them.
  blocked = 34,
};
constexpr int kKinds = 35;

// Bits of `flags`.
constexpr std::uint16_t kCounted = 1;    // a write of a word that other threads await; see await, sleep
constexpr std::uint16_t kPaired = 2;     // a load that is issued together with the next load; see await
constexpr std::uint16_t kRelease = 4;    // a store that becomes visible after all earlier operations
constexpr std::uint16_t kFailed = 8;     // see try_acquire and release_shared; for a compare_exchange: it wrote nothing
constexpr std::uint16_t kForWrite = 16;  // a prefetch that also requests write permission
constexpr std::uint16_t kPart = 16;      // a load or store of the same access as the operation before it, with all its repeats
// For most operations: how many further ones of the same kind and size follow, each at the next address.
constexpr int kRepeatShift = 5;
constexpr std::uint16_t kMostRepeats = 0xFFFF >> kRepeatShift;
// For a fetch_add or compare_exchange, in the bits of repeats: its effect on the word, as far as the recorder knows. No flag:
// unknown.
constexpr std::uint16_t kAdds = 32;           // adds a positive number; for a compare_exchange: adds 1
constexpr std::uint16_t kSubtracts = 64;      // subtracts one
constexpr std::uint16_t kNoSum = 128;         // sets, clears or flips bits
constexpr std::uint16_t kResultUsed = 256;    // the program uses, or may use, the value that fetch_add returns
constexpr std::uint16_t kResultUnused = 512;  // the program does not use that value
constexpr std::uint16_t kChangeOfSum = kAdds | kSubtracts;
constexpr std::uint16_t kChange = kChangeOfSum | kNoSum | kResultUsed | kResultUnused;

struct Operation {
  Kind kind{};
  std::uint8_t bytes = 0;
  std::uint16_t flags = 0;
  std::uint32_t id = 0;
  std::uint64_t argument = 0;

  [[nodiscard]] int repeats() const { return may_repeat() ? flags >> kRepeatShift : 0; }
  [[nodiscard]] bool may_repeat() const { return kind != Kind::fetch_add && kind != Kind::compare_exchange; }
  [[nodiscard]] bool is_memory() const { return kind >= Kind::load && kind <= Kind::prefetch; }
  friend bool operator==(const Operation&, const Operation&) = default;
};
static_assert(sizeof(Operation) == 16);

// ---- facts about every kind of operation ----

// The kind of symbol that `id` refers to. `structure`: used only by objects, not by operations.
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

// Limits on durations, so that a replay can add them up: 18 minutes at 1 GHz. No useful recording does nothing else for longer.
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostPicoseconds = std::uint64_t{1} << 50;

struct KindFacts {
  std::string_view name;
  Names names = Names::nothing;
  bool has_argument = false;
  std::uint16_t flags = 0;  // legal flags
  bool repeats = false;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // largest legal argument
};

constexpr std::array<KindFacts, kKinds> kKindFacts = {{
    {"", Names::nothing, false, 0, false},
    {"load", Names::object, true, kPaired | kPart, true},
    {"store", Names::object, true, kCounted | kRelease | kPart, true},
    {"exchange", Names::object, true, kCounted | kRelease, false},
    {"fetch_add", Names::object, true, kCounted | kRelease | kChange, false},
    {"compare_exchange", Names::object, true, kCounted | kRelease | kFailed | kChangeOfSum, false},
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
    {"blocked", Names::nothing, true, 0, false, kMostCount},
}};

constexpr const KindFacts& facts_of(Kind kind) {
  return kKindFacts[static_cast<std::size_t>(kind)];
}

// Names of the flags, from bit 0: those of most operations, and those of loads and stores.
constexpr std::array<std::string_view, 10> kFlagNames = {"counted", "paired",    "release", "failed", "for_write",
                                                         "adds",    "subtracts", "no_sum",  "used",   "unused"};
constexpr std::array<std::string_view, kRepeatShift> kAccessFlagNames = {"counted", "paired", "release", "failed", "part"};
// Names of the flags that an operation of this kind may have, from bit 0.
constexpr std::span<const std::string_view> flag_names(Kind kind) {
  if (kind == Kind::load || kind == Kind::store) return kAccessFlagNames;
  const bool changes = kind == Kind::fetch_add || kind == Kind::compare_exchange;
  return std::span(kFlagNames).first(changes ? kFlagNames.size() : kRepeatShift);
}

}  // namespace linebounce::trace
