// A change of a program judged by several replays. Whatever changes a lock or a layout also changes the order in which all else
// meets, and that alone changes the throughput; so each trial runs in several orders of the same operations, in each of them
// beside one that changes nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/studies/replay/replay_study.hpp"

namespace linebounce::sim {

// By how many percent of the throughput a change alters the replays. The interval is of the factor: gains that differ widely,
// but are all gains, have none that begins with a loss.
struct OrdersChange {
  double median_pct = 0;
  double low_pct = 0, high_pct = 0;  // 95 % interval (Student, of logarithms) of the geometric mean over orders; with up to six
                                     // orders the median lies in it
  double least_pct = {}, most_pct = {};  // of all orders
  std::size_t orders = {};
  double tries_otherwise_pct = {};  // kTriesOtherwise, the largest of all runs; above kMostTriesOtherwise nothing is a gain
  // Gains enough for a change of the program, and by more than chance.
  [[nodiscard]] bool is_gain() const;
  // Likewise.
  [[nodiscard]] bool is_loss() const;
  // Each order gains enough, but they are too few for how much they differ.
  [[nodiscard]] bool is_undecided() const;
  // What a choice between changes goes by: the median of a gain, the least order of what is undecided, else 0.
  [[nodiscard]] double promise_pct() const;
};

// Value i of both sides is of one order. REQUIRES: as many of one as of the other, two at least; all are above 0.
OrdersChange orders_change(const std::vector<double>& base, const std::vector<double>& changed);

// Why a replay with this kTriesOtherwise is the base of no verdict; empty: it may be one.
std::string why_no_verdict(double tries_otherwise_pct);
// "2.1 % of the program's tries of locks went another way than recorded", to stand beside a verdict; empty: none did.
// `before` comes first.
std::string tries_text(double tries_otherwise_pct, const char* before);

// "+12.0 % (11.2 to 12.8)"; above +200 % as a factor: "3.2 times as fast (2.9 to 3.6)".
std::string text_of(const OrdersChange& change);
// The same with the word "throughput", which a factor doesn't need; after that one can go on with "on p3_xeon_8way".
std::string throughput_text(const OrdersChange& change);
std::string throughput_text(double change_pct);
// "11.2 to 12.8"; "the same in all 3", orders that is, where they differ in no digit of it.
std::string interval_text(const OrdersChange& change, bool as_factor = false);
// "gains +12.0 % (11.2 to 12.8)", "makes it 3.2 times as fast (2.9 to 3.6)".
std::string gains_text(const OrdersChange& change);

// Orders by their numbers.
struct OrderRange {
  int first = 0, count = 0;
};

// In which the change that orders 1 to `orders` have chosen runs again, until it is no more undecided; each range is judged
// alone. What is undecided from the beginning goes to the longer range at once. A change that does nothing passes the first
// range in 2.5 % of all cases, and comes to the second one only if each order of the first gains: both together stay below 3 %
// with three orders.
std::vector<OrderRange> confirming_orders(const OrdersChange& chosen, int orders);

// Runs each point of the study's sweep, its trials, in `count` orders. The first order has number `first`; 0 is the recorded
// one.
void repeat_in_orders(ReplayStudy& study, int first, int count);

// The points of such a study, of which trial 0 changes nothing. Orders in which that one has not finished are left out.
class TrialsInOrders {
 public:
  TrialsInOrders(const std::vector<ReportedPoint>& points, int count);

  // An interval needs two, whose spread is little to go by: Student's factor is 12.7 for two, 4.3 for three.
  [[nodiscard]] bool are_enough() const { return orders_.size() >= 2; }
  [[nodiscard]] std::size_t count() const { return orders_.size(); }
  [[nodiscard]] bool finished(std::size_t trial) const;  // in every order, with a throughput
  [[nodiscard]] std::vector<double> figures(std::size_t trial, const std::function<double(const ReportedPoint&)>& figure) const;
  [[nodiscard]] std::vector<double> throughputs(std::size_t trial) const;
  [[nodiscard]] double tries_otherwise_pct(std::size_t trial) const;  // the largest of all orders
  // REQUIRES: are_enough(), finished(trial).
  [[nodiscard]] OrdersChange change(std::size_t trial) const;

 private:
  std::vector<std::vector<ReportedPoint>> orders_;  // by trial
};

}  // namespace linebounce::sim
