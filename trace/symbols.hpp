// The names that a trace's operations speak of. Each kind is numbered from 0 in the order of definition.
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
  int alignment = 8;      // of its objects
  std::vector<Field> fields;
  std::optional<int> base_offset;  // bytes from the start of a line to where its objects begin
  std::string subsystem;           // whose structure it is; empty: nobody's
  std::string source = {};         // where it is defined: "/src/queue.h:12"; empty: not known
  friend bool operator==(const Structure&, const Structure&) = default;
};

struct Object {
  std::string name;
  std::uint32_t structure = kNone;  // kNone: an array of bytes without fields
  std::int64_t size = 0;            // bytes; of a structure's object, its size
  int alignment = 0;                // 0: the structure's
  // Where it is to be: empty: where the machine's policy puts it; "node N"; "first_touch", "interleaved", "local".
  std::string home;
  // Where it was in the recorded program. Objects with an address keep their distance from near ones when they are placed, and
  // come behind those without.
  std::optional<std::uint64_t> address;
  std::uint32_t of_lock = kNone;  // placed by this lock for itself: another lock in its place does without
  // From malloc or new, which align it to no more than 16 bytes: in another run it may lie elsewhere in its line.
  bool movable = false;
  std::string source = {};  // where a variable is declared, and a block asked for: "/src/queue.c:40"; empty: not known
  friend bool operator==(const Object&, const Object&) = default;
};

// What a word holds before the program starts is not recorded: replay needs no values.

struct Function {
  std::string name;
  bool user = false;
  friend bool operator==(const Function&, const Function&) = default;
};

// Where a lock's waiting is counted.
struct WaitsIn {
  std::uint32_t taker = kNone;  // the function that takes it; kNone: any other
  std::uint32_t function = 0;   // in which it waits then
  friend bool operator==(const WaitsIn&, const WaitsIn&) = default;
};

struct Lock {
  std::string name;
  std::string algorithm;         // a name of `list locks`, or what the recorded program had: "pthread_mutex"
  bool sleeps = false;           // who waits for it gives the CPU away
  std::uint32_t object = kNone;  // whose word it is; kNone: it has a line of its own
  std::int64_t offset = 0;       // of the word
  int word_bytes = 8;
  std::string figures;            // locks with the same are counted together; empty: its name
  std::vector<WaitsIn> waits_in;  // who is in none of them waits in the function that takes it
  bool in_handlers = false;       // taken in interrupt handlers: no lock that sleeps can take its place
  bool readers_write = false;     // a reader's section writes: no lock whose readers read again
  // kFollowNothing, or why readers can't do without the lock and read again: "its readers follow list.first, a pointer that
  // writers change". Empty: not known, or no readers.
  std::string readers_follow;

  [[nodiscard]] const std::string& counted_as() const { return figures.empty() ? name : figures; }
  friend bool operator==(const Lock&, const Lock&) = default;
};

// Of Lock::readers_follow: no pointer that a writer changes, and no memory that is freed meanwhile.
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

// Of an object, awaited by somebody.
struct Word {
  std::uint32_t object = kNone;
  std::int64_t offset = 0;
  int bytes = 8;
  friend bool operator==(const Word&, const Word&) = default;
};

// A thread's operations, or the handlers of one interrupt vector on one CPU.
struct Stream {
  std::string name;
  int cpu = -1;          // where it ran, if that is known
  int vector = -1;       // of an interrupt stream
  bool created = false;  // by a `create`; else it begins with the trace
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
  std::set<std::uint32_t> cpus;  // on which streams ran

  // What takes memory, in the order in which it does: objects (but of_lock), locks and barriers.
  struct Placed {
    enum class What : std::uint8_t { object, lock, barrier } what;
    std::uint32_t id;
  };
  std::vector<Placed> placed;

  // Its number. REQUIRES: what it refers to is defined, but for Object::of_lock.
  std::uint32_t define(const Symbol& symbol);

  // The first field of an object that has this byte; nullptr: none has, or the object is no structure's.
  [[nodiscard]] const Field* field_at(const Object& object, std::int64_t offset) const;

  // "rq[3].nr_running", "buffer+72": for messages and the text form.
  [[nodiscard]] std::string place_name(std::uint32_t object, std::int64_t offset) const;
};

// What is wrong with a symbol that would be defined next, with the legal values; empty: nothing. Not seen here: whether
// Object::of_lock is a lock, which may come later.
std::string complaint(const Symbols& before, const Symbol& symbol);

}  // namespace linebounce::trace
