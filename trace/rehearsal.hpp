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

// Whoever can go on does, so the order in which they are asked does not matter. Holds a frame of each stream in memory.
class Rehearsal {
 public:
  // `all`: of the whole trace. REQUIRES: every stream keeps the rules of its own.
  Rehearsal(const Reader& reader, const Supplies& all);

  // Until nobody can go on. Errors: TraceError.
  void run();

  struct Stuck {
    std::uint32_t stream;
    std::uint64_t operation;            // that waits for ever
    std::vector<Operation> gives_back;  // what it holds there
    std::string why;                    // with its place
  };
  // Those to be ended before that operation, so that the rest has a chance: who waits for more than the whole trace has; else
  // who waits for what comes only behind somebody that waits, too; else who waits for the end of one that waits.
  [[nodiscard]] std::vector<Stuck> to_be_ended() const;

 private:
  struct Actor {
    std::uint32_t stream;
    Reader::Cursor cursor;
    HeldLocks held;
    std::span<const Operation> frame;
    std::size_t in_frame = 0;
    std::uint64_t at = 0;
    bool begun = false, ended = false;
    std::uint64_t handlers = 0;               // that have begun
    std::optional<std::uint64_t> opens_at{};  // of the barrier to which it has come: so many arrivals
    std::vector<Operation> awaited{};         // a group, until it is whole

    const Operation* next();
  };
  enum class Reason { never_comes, comes_behind, other_ends };

  bool go_on(Actor& actor);
  bool may_pass(Actor& actor, const Operation& it);
  void pass(Actor& actor, const Operation& it);
  bool may_pass_awaits(const Actor& actor) const;
  [[nodiscard]] static std::uint64_t wanted(const Actor& actor, const Operation& it);
  [[nodiscard]] const Operation& waits_at(const Actor& actor) const;
  [[nodiscard]] Reason reason_of(const Actor& actor) const;
  [[nodiscard]] std::string why(const Actor& actor) const;

  const Symbols& symbols_;
  const Supplies& all_;
  Supplies so_far_;
  std::vector<Actor> actors_;
};

}  // namespace linebounce::trace
