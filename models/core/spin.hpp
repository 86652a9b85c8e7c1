// A spin: a loop that loads a list of words one after the other until a condition holds. While nothing changes the words' lines
// the spin is parked: its loads are not simulated, because their times and values are known. When something accesses such a
// line, Spin counts the loads before that time, and the thread continues with the next load.
#pragma once

#include <cstdint>
#include <span>

#include "models/core/cache_unit.hpp"
#include "models/core/cpu.hpp"

namespace linebounce {

class Spin {
 public:
  static constexpr std::int64_t kPauseInstructions = 2;  // the loop's compare and branch

  Spin(CacheUnit& unit, Tick load_latency) : unit_(&unit), load_latency_(load_latency) {}

  // Starts the loop. `pause`: time from the end of an iteration's last load to the next iteration's first load.
  void begin(std::span<const Address> words, Cpu::Loop loop, Tick pause) {
    words_ = words;
    loop_ = loop;
    pause_ = pause;
    next_word_ = 0;
    active_ = true;
  }
  void end() { active_ = false; }
  // True between begin() and end(), whether the spin is parked or not.
  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] Cpu::Loop loop() const { return loop_; }
  [[nodiscard]] Tick pause() const { return pause_; }
  [[nodiscard]] std::span<const Address> words() const { return words_; }

  // Returns the index of the word that the loop loads next, and advances to the following word.
  std::size_t take_word() { return next_word_++; }
  [[nodiscard]] bool all_loaded() const { return next_word_ == words_.size(); }
  [[nodiscard]] bool at_first_word() const { return next_word_ == 0; }
  void restart_loop() { next_word_ = 0; }

  // Parks the spin and watches its words' lines. The next load is due at `at`. Returns false if the nearest cache lacks a word
  // or holds a value that differs from `values`, which the loop loaded; the caller must then call set_watched(false).
  [[nodiscard]] bool park(std::span<const Value> values, int bytes, Tick at);
  void set_watched(bool watched);

  // Number of loads that a parked spin has made, and of the instructions that its loop executed for them.
  struct Loads {
    std::int64_t loads = 0;
    std::int64_t instructions = 0;
  };
  // Counts the uncounted loads due before `limit`, and updates the lines' ages and last uses as if these loads had run.
  Loads count_until(Tick limit);
  // Returns the time of the first load that was not counted. The loop continues with that load.
  Tick resume();

  [[nodiscard]] bool watches(LineAddr line) const;
  // True if the nearest cache holds every word.
  [[nodiscard]] bool in_nearest_level() const;

 private:
  [[nodiscard]] std::int64_t words_count() const { return static_cast<std::int64_t>(words_.size()); }
  // Duration of one iteration of the loop.
  [[nodiscard]] Tick period() const { return words_count() * load_latency_ + pause_; }
  [[nodiscard]] Tick time_of(std::int64_t load) const {
    return parked_at_ + load / words_count() * period() + load % words_count() * load_latency_;
  }
  // Index of the parked spin's first load at or after `at`.
  [[nodiscard]] std::int64_t first_load_from(Tick at) const;
  void use_word(std::int64_t load);

  CacheUnit* unit_;
  Tick load_latency_;
  Tick pause_ = 0;
  Cpu::Loop loop_ = Cpu::Loop::pauses;
  std::span<const Address> words_;
  std::size_t next_word_ = 0;
  bool active_ = false;
  Tick parked_at_ = 0;        // time of the parked spin's load 0
  std::int64_t counted_ = 0;  // number of the parked spin's loads counted so far
};

}  // namespace linebounce
