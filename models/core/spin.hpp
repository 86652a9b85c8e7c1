// A spin: the words that its loop loads, one after the other, and the loads of a parked one. A thread that loads words which
// nobody changes is not simulated load by load. Load number m of the parked spin falls on a known time; when something touches
// a line, the loads before that are counted, and the thread goes on with the next.
#pragma once

#include <cstdint>
#include <span>

#include "models/core/cache_unit.hpp"
#include "models/core/cpu.hpp"

namespace linebounce {

class Spin {
 public:
  static constexpr std::int64_t kPauseInstructions = 2;  // compare and branch

  Spin(CacheUnit& unit, Tick load_latency) : unit_(&unit), load_latency_(load_latency) {}

  // The loop that is simulated load by load, with this time between one look at its words and the next.
  void begin(std::span<const Address> words, Cpu::Loop loop, Tick pause) {
    words_ = words;
    loop_ = loop;
    pause_ = pause;
    next_word_ = 0;
    active_ = true;
  }
  void end() { active_ = false; }
  // From begin() to end(), parked or not.
  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] Cpu::Loop loop() const { return loop_; }
  [[nodiscard]] Tick pause() const { return pause_; }
  [[nodiscard]] std::span<const Address> words() const { return words_; }
  [[nodiscard]] bool all_loaded() const { return next_word_ == words_.size(); }
  std::size_t take_next_word() { return next_word_++; }
  void begin_again() { next_word_ = 0; }
  [[nodiscard]] bool at_first_word() const { return next_word_ == 0; }

  // Parks it, with its next load at `at`, if every word is in the nearest cache with the value that it had when it was loaded.
  // Their lines are watched then. If it returns false, some are, and unwatch() must be called.
  [[nodiscard]] bool park(std::span<const Value> values, int bytes, Tick at);
  void unwatch();
  void rewatch();

  // What has run of a parked spin.
  struct Loads {
    std::int64_t loads = 0;
    std::int64_t instructions = 0;
  };
  // Loads before `limit` have happened: counts those that were not counted yet, and leaves ages and last uses as they would be.
  Loads count_until(Tick limit);
  // It goes on load by load with the first load that is not counted: its time.
  Tick resume();

  [[nodiscard]] bool watches(LineAddr line) const;
  [[nodiscard]] bool is_on_nearest() const;

 private:
  [[nodiscard]] std::int64_t words_count() const { return static_cast<std::int64_t>(words_.size()); }
  [[nodiscard]] Tick period() const { return words_count() * load_latency_ + pause_; }
  [[nodiscard]] Tick time_of(std::int64_t load) const {
    return parked_at_ + load / words_count() * period() + load % words_count() * load_latency_;
  }
  [[nodiscard]] std::int64_t first_load_from(Tick at) const;
  void use_word(std::int64_t load);

  CacheUnit* unit_;
  Tick load_latency_;
  Tick pause_ = 0;
  Cpu::Loop loop_ = Cpu::Loop::pauses;
  std::span<const Address> words_;
  std::size_t next_word_ = 0;
  bool active_ = false;
  Tick parked_at_ = 0;        // when the next load of words_[0] would be
  std::int64_t counted_ = 0;  // loads of the parked spin, from parked_at_ on
};

}  // namespace linebounce
