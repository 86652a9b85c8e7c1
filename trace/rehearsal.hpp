// All streams of a trace together, as a replay has them, but without time and without locks: who waits for what never comes?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/reader.hpp"
#include "trace/stream_rules.hpp"
#include "trace/supplies.hpp"

namespace linebounce::trace {

// Whoever can go on does; the order in which they are asked matters only at barriers to which now these, now those come. Holds
// a frame of each stream in memory.
class Rehearsal {
 public:
  // `all`: of the whole trace. REQUIRES: every stream keeps the rules of its own, and every `created` one has its `create`.
  Rehearsal(const Reader& reader, Supplies& all);

  // Until nobody can go on; after end_stuck() from there. Streams that are not `created` any more begin. Errors: TraceError.
  void run();

  struct Stuck {
    std::uint32_t stream;
    std::uint64_t operation;         // that waits for ever
    std::vector<Operation> endings;  // of what it has begun
    std::string why;                 // with its place
  };
  // Ends some before that operation, so that the rest has a chance: who waits for more than the whole trace has; else who waits
  // for what comes only behind somebody that waits, too; else who waits for the end of one that waits; else who is created only
  // by what it creates itself. What they would have
  // brought is taken from `all`. Errors: TraceError.
  std::vector<Stuck> end_stuck();

 private:
  struct Actor {
    std::uint32_t stream;
    Reader::Cursor cursor;
    Unended unended;
    std::span<const Operation> frame;
    std::size_t in_frame = 0;
    std::uint64_t at = 0;
    bool created = false, ended = false;
    std::uint64_t handlers = 0;               // that have begun
    std::optional<std::uint64_t> opens_at{};  // of the barrier to which it has come: so many arrivals
    std::vector<Operation> awaited{};         // a group, until it is whole

    const Operation* next();
  };
  enum class Reason { never_comes, comes_behind, other_ends };

  [[nodiscard]] bool is_on_its_way(const Actor& actor) const;
  bool go_on(Actor& actor);
  std::vector<Stuck> never_begun();
  void end(Actor& actor);
  bool may_pass(Actor& actor, const Operation& it);
  void pass(Actor& actor, const Operation& it);
  bool may_pass_awaits(const Actor& actor) const;
  [[nodiscard]] static std::uint64_t wanted(const Actor& actor, const Operation& it);
  [[nodiscard]] const Operation& waits_at(const Actor& actor) const;
  [[nodiscard]] Reason reason_of(const Actor& actor) const;
  [[nodiscard]] std::string why(const Actor& actor) const;

  const Symbols& symbols_;
  Supplies& all_;
  Supplies so_far_;
  std::vector<Actor> actors_;
};

}  // namespace linebounce::trace
