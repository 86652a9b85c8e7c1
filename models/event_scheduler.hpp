// The event scheduler of a machine. Parts that act on their own (buses, cores, the network) ask it for turns. A turn is one
// call of Part::turn() at a given simulated time. The scheduler makes these calls in order of time; at equal times, in the
// order in which the parts were added.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

class EventScheduler {
 public:
  // A turn's key is its time, with its part's rank (in the order of add() calls) in the low bits. The smallest key comes first.
  static constexpr int kRankBits = 10;
  static constexpr std::size_t kMostParts = std::size_t{1} << kRankBits;
  static constexpr Tick kLatest = kNever >> kRankBits;

  // How many turns a part takes, compared with other kinds of parts. Parts with more turns are placed so that their turns
  // cost less.
  enum class Turns : std::uint8_t { most, many, few };

  class Part {
   public:
    virtual ~Part() = default;
    // Called when a turn of this part is due. The part gets no further turn unless it asks for one with act_at().
    virtual void turn() = 0;

   protected:
    // The scheduler's time. REQUIRES: called during the turn of some part.
    [[nodiscard]] Tick now() const { return scheduler_->now_; }
    // The time of the next turn of any part, or the time from which something outside may act, if that is earlier. kNever if
    // there is neither.
    [[nodiscard]] Tick next_turn() {
      scheduler_->settle();
      return std::min(scheduler_->next(), scheduler_->outside_);
    }
    // Continues the running turn at `at`, as this part's next turn, if no other turn comes first. Returns true if it does;
    // otherwise does nothing. REQUIRES: called during a turn of this part; `at` is later than now().
    bool go_on_at(Tick at) {
      EventScheduler& scheduler = *scheduler_;
      if (at >= scheduler.until_) return false;
      const Tick key = at << kRankBits | rank_;
      for (std::size_t node = leaf_; node > kRoot; node /= 2) {
        if (scheduler.keys_[node ^ 1] < key) return false;
      }
      scheduler.now_ = at;
      scheduler.keys_[leaf_] = kNever;
      scheduler.unsettled_ = leaf_;
      return true;
    }
    // Schedules this part's next turn for `at`, unless an earlier turn is already scheduled. REQUIRES: now() <= at <= kLatest.
    // Only a core may need a later time, for a timer or a long computation; it calls require_in_range() first.
    void act_at(Tick at) {
      const Tick key = at << kRankBits | rank_;
      if (key < scheduler_->keys_[leaf_]) scheduler_->set(leaf_, key);
    }

    // The end of the measured time. kNever if the measured time ends with the last program and programs still run; cores
    // report the end of each program to program_ended().
    [[nodiscard]] Tick measured_end() const { return scheduler_->measured_end_; }
    void program_ended(Tick at) { scheduler_->program_ended(at); }

    // Errors: ModelFailure if `at` is after kLatest.
    static void require_in_range(Tick at) {
      if (at > kLatest) [[unlikely]]
        refuse(at);
    }

   private:
    friend class EventScheduler;
    [[noreturn]] static void refuse(Tick at);

    EventScheduler* scheduler_ = nullptr;
    std::size_t leaf_ = 0;
    Tick rank_ = 0;
    Turns turns_ = Turns::few;
  };

  // REQUIRES: the simulation has not started. Errors: std::length_error for more than kMostParts parts.
  void add(Part& part, Turns turns = Turns::few);
  // `measured_end`: kNever if the measured time ends with the last program. REQUIRES: the simulation has not started.
  void set_programs(int count, Tick measured_end) {
    programs_ = count;
    measured_end_ = measured_end;
  }
  // From now on, code outside the machine may make parts act, at any time that run_until() has not yet reached.
  void expect_outside() { outside_ = now_; }
  // Runs all turns that are due before `until`, and sets the time to `until`. REQUIRES: until >= now(). An exception of a part
  // passes through; nothing may run after it.
  void run_until(Tick until);

  [[nodiscard]] Tick now() const { return now_; }
  // The time of the next turn; kNever if no part has requested one.
  [[nodiscard]] Tick next() const { return keys_[kRoot] == kNever ? kNever : keys_[kRoot] >> kRankBits; }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  void program_ended(Tick at) {
    last_ended_ = std::max(last_ended_, at);
    if (--programs_ == 0 && measured_end_ == kNever) measured_end_ = last_ended_;
  }
  void set(std::size_t leaf, Tick key) {
    keys_[leaf] = key;
    if (unsettled_ == leaf) unsettled_ = kNobody;
    for (std::size_t node = leaf; node > kRoot; node /= 2) {
      key = std::min(key, keys_[node ^ 1]);
      keys_[node / 2] = key;
    }
  }
  // Removes the running turn's key from the tree's inner nodes. Delayed until a part calls next_turn() or the turn ends,
  // because a part that schedules its next turn before then overwrites the key anyway.
  void settle() {
    if (unsettled_ != kNobody) set(unsettled_, kNever);
  }

  std::vector<Part*> parts_;  // indexed by rank
  // A tournament tree: each inner node holds the smallest key below it; the children of node n are 2n and 2n + 1. Parts of each
  // kind have a subtree of their own, nearer to the root the more turns they take.
  static constexpr std::size_t kRoot = 1;
  std::vector<Tick> keys_ = {kNever, kNever};  // indexed by tree node; kNever: no turn is requested
  std::size_t unsettled_ = kNobody;
  Tick now_ = 0;
  Tick until_ = 0;
  Tick outside_ = kNever;  // the earliest time at which outside code may act; kNever without outside code
  int programs_ = 0;       // that have not ended
  Tick last_ended_ = 0;    // the latest end of a program so far
  Tick measured_end_ = kNever;
};

}  // namespace linebounce
