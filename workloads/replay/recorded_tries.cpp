#include "workloads/replay/recorded_tries.hpp"

#include <algorithm>

#include "trace/waiting.hpp"

namespace linebounce::workloads {
namespace {

using trace::Kind;

// A loop of tries may also load a flag or a counter. A thread with more shared loads is not waiting.
constexpr std::size_t kMostSharedLoads = 2;

bool tries(const trace::Operation& operation) {
  return operation.kind == Kind::try_acquire || operation.kind == Kind::try_acquire_shared;
}

bool acquires(const trace::Operation& operation) {
  return operation.kind == Kind::acquire || operation.kind == Kind::acquire_shared;
}

}  // namespace

RecordedTries::RecordedTries(const trace::Reader& reader) : waits_(reader.symbols().streams.size()) {
  for (const trace::Lock& lock : reader.symbols().locks) habits_.try_emplace(lock.counted_as());
  for (std::uint32_t stream = 0; stream < waits_.size(); ++stream) add_stream(reader, stream);
}

void RecordedTries::add_stream(const trace::Reader& reader, std::uint32_t stream) {
  const trace::Symbols& symbols = reader.symbols();
  const bool is_timed = !reader.summary().machine.empty();
  const bool is_assumed = trace::has_assumed_instructions(reader.summary().missing);
  const bool is_thread = symbols.streams[stream].vector < 0;
  // true if the thread may be in a wait, which began with a failed try
  bool waits = false;
  std::uint32_t awaited = 0;
  std::uint64_t first = 0;
  trace::TurnOfWait turn(symbols, trace::has_measured_instructions(reader.summary().missing));
  const auto goes_another_way = [&] {
    if (waits) ++habits_.at(symbols.locks[awaited].counted_as()).other_ways;
    waits = false;
  };
  trace::Reader::Cursor cursor = reader.open(stream);
  for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
    for (std::size_t i = 0; i < frame.size(); ++i) {
      const trace::Operation& operation = frame[i];
      if (!tries(operation) && !(waits && acquires(operation))) {
        if (waits && (!turn.may_have(operation) || turn.shared_loads() > kMostSharedLoads)) goes_another_way();
        continue;
      }
      TryHabit& habit = habits_.at(symbols.locks[operation.id].counted_as());
      const bool gets_it = acquires(operation) || (operation.flags & trace::kFailed) == 0;
      if (waits && (operation.id != awaited || !turn.ends_where_it_began() || (gets_it && !turn.is_mostly_short())))
        goes_another_way();
      if (waits && tries(operation) && habit.gap_instructions + habit.gap_cycles == 0) {
        habit.gap_instructions = turn.instructions();
        habit.gap_cycles = turn.cycles();
        habit.gap_known = !is_assumed && (is_timed || habit.gap_instructions + habit.gap_cycles > 0);
      }
      if (tries(operation) && (operation.flags & trace::kFailed) != 0) {
        if (!waits) {
          awaited = operation.id;
          first = cursor.first() + i;
          turn.begin_wait();
        } else {
          turn.begin();
        }
        waits = true;
        if (!is_thread) goes_another_way();
      } else if (waits) {
        habit.waits_in_the_end = habit.waits_in_the_end || acquires(operation);
        ++habit.waits;
        waits_[stream].emplace_back(first, cursor.first() + i);
        waits = false;
      }
    }
  }
  goes_another_way();
}

std::optional<std::uint64_t> RecordedTries::end_of_wait(std::uint32_t stream, std::uint64_t operation) const {
  const auto& waits = waits_[stream];
  const auto found = std::ranges::lower_bound(waits, operation, {}, [](const auto& wait) { return wait.first; });
  if (found == waits.end() || found->first != operation) return std::nullopt;
  return found->second;
}

}  // namespace linebounce::workloads
