// Converts events to operations.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "record/collector/background_writer.hpp"
#include "record/collector/event_order.hpp"
#include "record/collector/host_clock.hpp"
#include "record/collector/memory_map.hpp"
#include "record/collector/program_image.hpp"
#include "record/collector/reader_safety.hpp"
#include "record/collector/result_use.hpp"
#include "record/collector/sampled_ways.hpp"
#include "record/collector/signals.hpp"
#include "record/collector/trace_output.hpp"

namespace linebounce::record {

class Recording {
 public:
  Recording(BackgroundWriter& writer, ProgramImage& image, Window window, TraceOutput::Instructions instructions);

  // REQUIRES: events come in the order of EventOrder.
  void event(unsigned ring, const Event& event);
  // No more events come.
  void finish();
  // For each lock that readers share, notes in the trace which pointers they follow. REQUIRES: the program was compiled for
  // recording, which marks pointers.
  void describe_readers();

  [[nodiscard]] const TraceOutput& output() const { return output_; }
  [[nodiscard]] bool had_atomics() const { return had_atomics_; }
  // Whether a function of this name was entered.
  [[nodiscard]] bool has_run(const std::string& function) const { return functions_by_name_.contains(function); }
  [[nodiscard]] std::uint64_t foreign_releases() const { return foreign_releases_; }
  // Rounds of barriers in which threads took part that are not recorded, such as another process's.
  [[nodiscard]] std::uint64_t foreign_rounds() const { return foreign_rounds_; }
  [[nodiscard]] std::vector<std::string> shared_with_children() const { return memory_.shared_with_children(); }
  [[nodiscard]] std::string why_types_are_missing() const { return memory_.why_types_are_missing(); }
  // Of the time that was measured between accesses, what counts as the host's: "1.2 ms, 3 % of the time measured". Empty:
  // almost nothing.
  [[nodiscard]] std::string disturbances() const;
  [[nodiscard]] bool has_code_of_llvm() const { return memory_.has_code_of_llvm(); }

 private:
  struct Condition {
    std::uint32_t event = trace::kNone;
    std::uint64_t skipped = 0;  // signals before the window
    ConditionCounts counts;
  };
  struct Semaphore {
    std::uint32_t event = trace::kNone;
    std::uint64_t skipped = 0;
    SemaphoreCounts counts;
  };
  struct Barrier {
    std::uint32_t barrier = trace::kNone;
    std::uint64_t parties = 0;
    std::vector<Thread*> round =
        {};  // the threads of the round under way: waiting, or of a team's barrier, written to the trace
    // Of a team's barrier.
    std::uint64_t passed = 0;       // threads over all rounds
    std::uint64_t first_round = 0;  // the first of the barrier's rounds that lies in the window
  };

  // What a time in ticks of the time stamp counter is in a trace.
  double instructions_of(double ticks);
  void sampled(Thread& thread, std::uint64_t way, std::uint64_t ticks);
  void time_event(Thread& thread, const Event& event);
  void thread_event(unsigned ring, const Event& event);
  void memory_event(Thread& thread, const Event& event);
  void lock_event(Thread& thread, const Event& event);
  void condition_event(Thread& thread, const Event& event);
  void semaphore_event(Thread& thread, const Event& event);
  void barrier_event(Thread& thread, const Event& event);
  void come_to_barrier(Thread& thread, std::uint64_t address, Barrier& state);
  void pass_team_barrier(Thread& thread, std::uint64_t address, Barrier& state);
  void complete_round(Barrier& state);
  trace::Operation barrier_operation(std::uint64_t address, Barrier& state);

  void access(Thread& thread, trace::Kind kind, const Event& event);
  std::uint16_t change(const Event& event);
  void range(Thread& thread, trace::Kind kind, const Event& event);
  void read_at(const Thread& thread, const MemoryMap::Place& place, std::uint64_t address, unsigned detail);
  // The thread has written memory that other threads can see.
  void written(const Thread& thread);
  void written_at(const Thread& thread, std::uint64_t address, std::uint64_t bytes);
  void enter_function(Thread& thread, std::uint64_t address);
  void enter(Thread& thread, const Event& event);
  void enter_at(Thread& thread, const Event& event);
  void leave(Thread& thread);
  void acquire(Thread& thread, std::uint64_t address, unsigned type);
  void release(Thread& thread, std::uint64_t address, unsigned type);

  void library_loaded();

  std::uint32_t function(std::uint64_t address);
  std::uint32_t lock(std::uint64_t address, unsigned type);
  std::uint32_t stack_lock(std::uint64_t address, const MemoryMap::Place& place, unsigned type);
  std::uint32_t new_lock(std::uint64_t address, const MemoryMap::Place& place, unsigned type);
  void forget_locks(Thread& thread);
  std::uint32_t new_event(std::uint64_t address);
  std::string place_name(std::uint64_t address, const MemoryMap::Place& place);
  Thread* thread_with_stack(std::uint64_t address) const;
  std::string thread_name(std::uint64_t runs);

  BackgroundWriter* writer_;
  ProgramImage* image_;
  HostClock clock_;
  SampledWays ways_;
  double measured_ns_ = 0, disturbed_ns_ = 0;  // between accesses, in all threads
  ResultUse result_use_;
  MemoryMap memory_;
  TraceOutput output_;
  std::vector<Thread*> thread_of_ring_;
  std::unordered_map<std::uint64_t, std::uint32_t> functions_;
  std::map<std::string, std::uint32_t> functions_by_name_;
  struct HashPlace {
    std::size_t operator()(const std::pair<std::uint32_t, std::int64_t>& place) const {
      constexpr std::size_t kSpread = 0x9E3779B97F4A7C15;
      return (place.first * kSpread) ^ static_cast<std::size_t>(place.second);
    }
  };
  std::unordered_map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t, HashPlace> locks_;  // by object and offset
  std::map<std::tuple<std::uint32_t, std::int64_t, std::uint64_t>, std::uint32_t>
      locks_of_functions_;                         // locks in local variables, by object, offset and the function's code
  std::map<std::uint64_t, Condition> conditions_;  // by address
  std::map<std::uint64_t, Semaphore> semaphores_;
  std::map<std::uint64_t, Barrier> barriers_;
  std::map<std::string, int> threads_of_name_;
  ReaderSafety reader_safety_;
  bool had_atomics_ = false;
  std::uint64_t foreign_releases_ = 0;
  std::uint64_t foreign_rounds_ = 0;
};

}  // namespace linebounce::record
