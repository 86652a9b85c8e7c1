// A change of a program judged by several replays. A change of a lock or layout also changes the order in which everything else
// meets, which alone changes the throughput. So each trial runs in several orders of the same operations, paired with a run
// that changes nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/studies/replay/replay_study.hpp"

namespace linebounce::sim {

// By how many percent a change alters the replays' throughput. The interval is that of the factor, so gains that differ widely,
// but are all gains, have an interval without losses.
struct OrdersChange {
  double median_pct = 0;
  // 95 % interval (Student, of logarithms) of the geometric mean over orders; with up to six orders it contains the median
  double low_pct = 0, high_pct = 0;
  double least_pct = {}, most_pct = {};  // over all orders
  std::size_t orders = {};
  // kTriesOtherwise, the largest over all runs; above kMostTriesOtherwise nothing counts as a gain
  double tries_otherwise_pct = {};
  // Whether it gains enough for a change of the program, and by more than chance.
  [[nodiscard]] bool is_gain() const;
  // Whether the change loses at least as much as is_gain() requires it to gain, and by more than chance.
  [[nodiscard]] bool is_loss() const;
  // Whether each order gains enough, but they differ too much for their number.
  [[nodiscard]] bool is_undecided() const;
  // The criterion for choosing a change: the median for a gain, the smallest order for an undecided change, else 0.
  [[nodiscard]] double promise_pct() const;
};

// Value i of both sides has the same order. REQUIRES: equally many values, at least two; all above 0.
OrdersChange orders_change(const std::vector<double>& base, const std::vector<double>& changed);

// Why a replay with this kTriesOtherwise supports no verdict; empty if it does.
std::string why_no_verdict(double tries_otherwise_pct);
// "2.1 % of the program's tries of locks went another way than recorded", as an addition to a verdict; empty if none did.
// `before` precedes it.
std::string tries_text(double tries_otherwise_pct, const char* before);

// "+12.0 % (11.2 to 12.8)"; above +200 % as a factor: "3.2 times as fast (2.9 to 3.6)".
std::string text_of(const OrdersChange& change);
// The same with the word "throughput", which a factor doesn't need; may be followed by "on p3_xeon_8way".
std::string throughput_text(const OrdersChange& change);
std::string throughput_text(double change_pct);
// "11.2 to 12.8"; "the same in all 3" orders if all digits agree.
std::string interval_text(const OrdersChange& change, bool as_factor = false);
// "gains +12.0 % (11.2 to 12.8)", "makes it 3.2 times as fast (2.9 to 3.6)".
std::string gains_text(const OrdersChange& change);

// A range of order numbers.
struct OrderRange {
  int first = 0, count = 0;
};

// The ranges in which a change chosen by orders 1 to `orders` runs again, until it is decided; each range is judged alone. A
// change that is undecided from the beginning gets the longer range at once. A change without effect passes the first range in
// 2.5 % of all cases, and reaches the second only if each order of the first gains; with three orders, both together stay below
// 3 %.
std::vector<OrderRange> confirming_orders(const OrdersChange& chosen, int orders);

// Runs each point of the study's sweep, its trials, in `count` orders, beginning with number `first`; 0 is the recorded order.
void repeat_in_orders(ReplayStudy& study, int first, int count);

// The points of such a study, in which trial 0 changes nothing. Orders in which trial 0 has not finished are left out.
class TrialsInOrders {
 public:
  TrialsInOrders(const std::vector<ReportedPoint>& points, int count);

  // An interval needs two orders, and two give a wide one: Student's factor is 12.7 for two, 4.3 for three.
  [[nodiscard]] bool are_enough() const { return orders_.size() >= 2; }
  [[nodiscard]] std::size_t count() const { return orders_.size(); }
  [[nodiscard]] bool finished(std::size_t trial) const;  // whether it finished in every order, with a throughput
  [[nodiscard]] std::vector<double> figures(std::size_t trial, const std::function<double(const ReportedPoint&)>& figure) const;
  [[nodiscard]] std::vector<double> throughputs(std::size_t trial) const;
  [[nodiscard]] double tries_otherwise_pct(std::size_t trial) const;  // the largest over all orders
  // REQUIRES: are_enough(), finished(trial).
  [[nodiscard]] OrdersChange change(std::size_t trial) const;

 private:
  std::vector<std::vector<ReportedPoint>> orders_;  // by trial
};

}  // namespace linebounce::sim
