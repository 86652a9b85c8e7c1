// The names that a trace's operations refer to. Each kind is numbered from 0 in the order of definition.
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
  friend bool operator==(const Field&, const Field&) = default;
};

struct Structure {
  std::string name;
  std::int64_t size = 0;  // bytes
  int alignment = 8;      // alignment of its objects, in bytes
  std::vector<Field> fields;
  std::optional<int> base_offset;  // offset within a line at which its objects begin, in bytes
  std::string subsystem;           // the structure's subsystem; empty: none
  std::string source = {};         // where it is defined: "/src/queue.h:12"; empty if unknown
  friend bool operator==(const Structure&, const Structure&) = default;
};

struct Object {
  std::string name;
  std::uint32_t structure = kNone;  // kNone: an array of bytes without fields
  std::int64_t size = 0;            // bytes; for an object of a structure, the structure's size
  int alignment = 0;                // in bytes; 0: the structure's
  // Its home: empty: chosen by the machine's policy; "node N"; "first_touch", "interleaved", "local".
  std::string home;
  // The address in the recorded program. When placed, objects with an address keep their distance to near ones, and follow
  // those without.
  std::optional<std::uint64_t> address;
  std::uint32_t of_lock = kNone;  // placed by this lock for itself: a lock that replaces it needs no such object
  // From malloc or new, which align it to at most 16 bytes: in another run its position in the line may differ.
  bool movable = false;
  std::string source = {};  // where the variable is declared or the block allocated: "/src/queue.c:40"; empty if unknown
  friend bool operator==(const Object&, const Object&) = default;
};

// Initial values of words are not recorded, because a replay needs no values.

struct Function {
  std::string name;
  bool user = false;
  friend bool operator==(const Function&, const Function&) = default;
};

// The function in which a lock's waiting is counted.
struct WaitsIn {
  std::uint32_t taker = kNone;  // the function that takes the lock; kNone: any other
  std::uint32_t function = 0;   // the function that the wait is counted in
  friend bool operator==(const WaitsIn&, const WaitsIn&) = default;
};

struct Lock {
  std::string name;
  std::string algorithm;         // a name from `list locks`, or the recorded program's: "pthread_mutex"
  bool sleeps = false;           // waiters give up the CPU
  std::uint32_t object = kNone;  // the object with its word; kNone: the lock has a line of its own
  std::int64_t offset = 0;       // offset of the word, in bytes
  int word_bytes = 8;
  std::string figures;            // locks with the same `figures` are counted together; empty: the lock's name
  std::vector<WaitsIn> waits_in;  // waits by any other function are counted in the function that takes the lock
  bool in_handlers = false;       // taken in interrupt handlers, so no sleeping lock can replace it
  bool readers_write = false;     // reader sections write, so no lock whose readers read again can replace it
  // kFollowNothing, or why readers can't run without the lock and read again: "its readers follow list.first, a pointer that
  // writers change". Empty: unknown, or no readers.
  std::string readers_follow;

  [[nodiscard]] const std::string& counted_as() const { return figures.empty() ? name : figures; }
  friend bool operator==(const Lock&, const Lock&) = default;
};

// A value of Lock::readers_follow: no pointer that a writer changes, and no memory that is freed in the meantime.
inline constexpr const char* kFollowNothing = "nothing";

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

// A word of an object that some stream awaits.
struct Word {
  std::uint32_t object = kNone;
  std::int64_t offset = 0;
  int bytes = 8;
  friend bool operator==(const Word&, const Word&) = default;
};

// The operations of a thread, or of one interrupt vector's handlers on one CPU.
struct Stream {
  std::string name;
  int cpu = -1;          // the CPU it ran on, if known
  int vector = -1;       // for an interrupt stream
  bool created = false;  // by a `create`; otherwise it begins with the trace
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
  std::set<std::uint32_t> cpus;  // the CPUs that streams ran on

  // The symbols that take memory, in order: objects (except those with of_lock), locks and barriers.
  struct Placed {
    enum class What : std::uint8_t { object, lock, barrier } what;
    std::uint32_t id;
  };
  std::vector<Placed> placed;

  // Returns its number. REQUIRES: everything that it refers to is defined, except Object::of_lock.
  std::uint32_t define(const Symbol& symbol);

  // The first field of the object that contains this byte; nullptr if there is none, or if the object has no structure.
  [[nodiscard]] const Field* field_at(const Object& object, std::int64_t offset) const;

  // "rq[3].nr_running", "buffer+72": for messages and the text form.
  [[nodiscard]] std::string place_name(std::uint32_t object, std::int64_t offset) const;
};

// The error in a symbol to be defined next, with the legal values; empty if there is none. Does not check whether
// Object::of_lock is a lock, which may come later.
std::string complaint(const Symbols& before, const Symbol& symbol);

}  // namespace linebounce::trace
