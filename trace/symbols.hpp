// Symbols that a trace's operations refer to. Symbols of each kind are numbered from 0 in the order of definition.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace linebounce::trace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

struct Field {
  std::string name;
  std::int64_t offset = 0, size = 0;  // bytes
  int alignment = 0;                  // in bytes, if it is more than that of a word of the field's size; 0: it is not
  friend bool operator==(const Field&, const Field&) = default;
};

struct Structure {
  std::string name;
  std::int64_t size = 0;  // bytes
  int alignment = 8;      // of the structure's objects, in bytes
  std::vector<Field> fields = {};
  // Bytes, as fields called "?", that may be of members which the layout's source did not tell. No result may rest on them.
  std::vector<Field> unexplained = {};
  std::optional<int> base_offset = {};  // where its objects begin within a line, in bytes; none: anywhere
  std::string subsystem = {};           // the subsystem that the structure belongs to; empty: none
  std::string source = {};              // where the structure is defined: "/src/queue.h:12"; empty: unknown
  friend bool operator==(const Structure&, const Structure&) = default;
};

struct Object {
  std::string name;
  std::uint32_t structure = kNone;  // kNone: bytes without fields
  std::int64_t size = 0;            // in bytes; must be the structure's if there is one
  int alignment = 0;                // in bytes; 0: the structure's alignment
  // Home node: "node N", "first_touch", "interleaved" or "local"; empty: the machine's policy decides.
  std::string home;
  // Address in the recorded program. A replay keeps all bits that index its caches.
  std::optional<std::uint64_t> address;
  std::uint32_t of_lock = kNone;  // the lock that uses this object for itself; a replacement of the lock needs no such object
  // True for a block from malloc or new, aligned to at most 16 bytes. In another run its position within a line may differ.
  bool movable = false;
  std::string source = {};  // where the variable is declared or the block allocated: "/src/queue.c:40"; empty: unknown
  // If the address is virtual: the size of its page, in bytes. The frame that held the page is unknown, so a replay draws one.
  // 0: the address is physical, or is to be used as if it were.
  int page_bytes = 0;
  friend bool operator==(const Object&, const Object&) = default;
  // Part of a thread's stack, as linebounce-record names it: "stack of worker[1]".
  [[nodiscard]] bool is_stack() const { return name.starts_with("stack of "); }
};

// Initial values of words are not stored, because a replay needs no values.

struct Function {
  std::string name;
  bool user = false;
  friend bool operator==(const Function&, const Function&) = default;
};

// Says in which function waiting for a lock is counted.
struct WaitsIn {
  std::uint32_t taker = kNone;  // the function that acquires the lock; kNone: all functions without an entry
  std::uint32_t function = 0;   // the function whose time the wait counts as
  friend bool operator==(const WaitsIn&, const WaitsIn&) = default;
};

struct Lock {
  std::string name;
  std::string algorithm;         // a name from `list locks`, or the kind of lock in the recorded program: "pthread_mutex"
  bool sleeps = false;           // waiters give up the CPU
  std::uint32_t object = kNone;  // the object that contains the lock's word; kNone: the lock has a line of its own
  std::int64_t offset = 0;       // offset of the word in `object`, in bytes
  int word_bytes = 8;
  std::string figures;            // locks with equal `figures` share their statistics; empty: the lock's name
  std::vector<WaitsIn> waits_in;  // functions without an entry count their own waits
  bool in_handlers = false;       // acquired in interrupt handlers, so a lock that sleeps can't replace it
  bool readers_write = false;     // readers write in their sections, so a lock whose readers retry can't replace it
  // Why readers can't run without the lock and retry: "its readers follow list.first, a pointer that writers change".
  // kFollowNothing: they can. Empty: unknown, or there are no readers.
  std::string readers_follow;

  [[nodiscard]] const std::string& counted_as() const { return figures.empty() ? name : figures; }
  friend bool operator==(const Lock&, const Lock&) = default;
};

// For Lock::readers_follow: readers follow no pointer, and use no memory that is freed meanwhile.
inline constexpr const char* kFollowNothing = "nothing";
// For Lock::readers_follow, before a pointer's name: readers follow pointers into heap memory, and no writer changed one or
// freed that memory meanwhile.
inline constexpr const char* kFollowUnchanged = "unchanged: ";

struct Barrier {
  std::string name;
  int parties = 0;
  friend bool operator==(const Barrier&, const Barrier&) = default;
};

// A condition variable, semaphore or message.
struct Event {
  std::string name;
  friend bool operator==(const Event&, const Event&) = default;
};

// A word of an object that some stream spins on.
struct Word {
  std::uint32_t object = kNone;
  std::int64_t offset = 0;
  int bytes = 8;
  friend bool operator==(const Word&, const Word&) = default;
};

// Operations of a thread, or of all handlers of one interrupt vector on one CPU.
struct Stream {
  std::string name;
  int cpu = -1;          // the CPU that it ran on; -1: unknown
  int vector = -1;       // for an interrupt stream
  bool created = false;  // true: begins with its `create`; false: begins with the trace
  friend bool operator==(const Stream&, const Stream&) = default;
};

using Symbol = std::variant<Structure, Object, Function, Lock, Barrier, Event, Word, Stream>;

class Symbols {
 public:
  std::vector<Structure> structures;
  std::vector<Object> objects;
  std::vector<Function> functions;
  std::vector<Lock> locks;
  std::vector<Barrier> barriers;
  std::vector<Event> events;
  std::vector<Word> words;
  std::vector<Stream> streams;
  std::set<std::uint32_t> cpus;  // CPUs that streams ran on

  // Symbols that take memory, in order: locks, barriers, and objects without of_lock.
  struct Placed {
    enum class What : std::uint8_t { object, lock, barrier } what;
    std::uint32_t id;
  };
  std::vector<Placed> placed;

  // Returns the symbol's number. REQUIRES: everything that it refers to is defined, except Object::of_lock.
  std::uint32_t define(const Symbol& symbol);

  // The first field that contains this byte of the object; nullptr if there is none, or if the object has no structure.
  [[nodiscard]] const Field* field_at(const Object& object, std::int64_t offset) const;

  // The name of a place, for messages and the text form: "rq[3].nr_running", "buffer+72".
  [[nodiscard]] std::string place_name(std::uint32_t object, std::int64_t offset) const;
};

// The error in a symbol that is to be defined next, with the legal values; empty if there is none. Does not check that
// Object::of_lock is a lock, because that may be defined later.
std::string complaint(const Symbols& before, const Symbol& symbol);

}  // namespace linebounce::trace
