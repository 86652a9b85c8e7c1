// Judges a change of a program by several replays. A new lock or layout also changes the order in which all other operations
// meet, and that alone changes throughput. Therefore each trial runs in several orders of the same operations, and each run
// is compared with an unchanged one in the same order.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/replay/replay_study.hpp"
#include "sim/results/reported_point.hpp"

namespace linebounce::sim {

// The gain where instructions take the machine's least cycles, and its most (PaceRange::ends()).
struct GainOverPace {
  double fast_pct = 0, slow_pct = 0;
};

// By how many percent a change alters the throughput of replays. The interval is computed for the factor, so that it contains
// no losses if every order gains, however much the gains differ.
struct OrdersChange {
  double median_pct = 0;
  // 95 % confidence interval of the geometric mean over orders (Student, of logarithms); with up to six orders it contains
  // the median
  double low_pct = 0, high_pct = 0;
  double least_pct = {}, most_pct = {};  // over all orders
  std::size_t orders = {};
  // kTriesOtherwise: the maximum over all runs. Above kMostTriesOtherwise, nothing counts as a gain.
  double tries_otherwise_pct = {};
  bool has_size = true;  // false: replays of the program take another time than the program, and tell no more than an order
  std::optional<GainOverPace> over_pace = {};  // of a confirmed gain in a recording whose instructions are known
  // True if the gain is large enough to be worth a change of the program, and beyond chance.
  [[nodiscard]] bool is_gain() const;
  // True if the loss is as large as a gain has to be for is_gain(), and beyond chance.
  [[nodiscard]] bool is_loss() const;
  // True if every order gains enough, but the gains differ too much to exclude chance with so few orders.
  [[nodiscard]] bool is_undecided() const;
  // The gain by which changes are ranked: the median if it is a gain, the smallest gain of any order if it is undecided, else
  // 0.
  [[nodiscard]] double promise_pct() const;
};

// REQUIRES: value i of both sides is from the same order; equally many values, at least two; all above 0.
OrdersChange orders_change(const std::vector<double>& base, const std::vector<double>& changed);

// A reason why a replay with this kTriesOtherwise supports no verdict; empty if it supports one.
std::string why_no_verdict(double tries_otherwise_pct);
// "2.1 % of the program's tries of locks went another way than recorded", to be added to a verdict after the text `before`;
// empty if no try did.
std::string tries_text(double tries_otherwise_pct, const char* before);

// "+12.0 % (11.2 to 12.8)"; with OrdersChange::over_pace "+12.0 % (11.2 to 12.8; +30.1 % if the program computes fast, +5.2 %
// if slowly)"; above +200 % as a factor: "3.2 times as fast (2.9 to 3.6)".
std::string text_of(const OrdersChange& change);
// As text_of(), with the word "throughput" unless it is a factor. "on p3_xeon_8way" may follow.
std::string throughput_text(const OrdersChange& change);
std::string throughput_text(double change_pct);
// "11.2 to 12.8"; "the same in all 3" (orders) if the gains of all orders have the same digits.
std::string interval_text(const OrdersChange& change, bool as_factor = false);
// "gains +12.0 % (11.2 to 12.8)", "makes it 3.2 times as fast (2.9 to 3.6)".
std::string gains_text(const OrdersChange& change);

// Order numbers `first` to `first` + `count` - 1.
struct OrderRange {
  int first = 0, count = 0;
};

// The ranges of orders in which a change that orders 1 to `orders` have chosen runs again, one after the other until one
// decides. Each range is judged alone. A change that is undecided from the beginning gets the longer range at once.
//
// A change without an effect passes the first range in 2.5 % of cases. It reaches the second only if every order of the first
// gains. With three orders, both together stay below 3 %.
std::vector<OrderRange> confirming_orders(const OrdersChange& chosen, int orders);

// Repeats the points of the study's sweep, its trials, in `count` orders. `first` is the number of the first order; 0 is the
// recorded one.
void repeat_in_orders(ReplayStudy& study, int first, int count);

// The results of a study that repeat_in_orders() has made. Trial 0 changes nothing. Leaves out orders in which trial 0 did
// not finish.
class TrialsInOrders {
 public:
  TrialsInOrders(const std::vector<ReportedPoint>& points, int count);

  // True if there are at least two orders, which an interval needs. With two it is wide: Student's factor is 12.7, with three
  // 4.3.
  [[nodiscard]] bool are_enough() const { return orders_.size() >= 2; }
  [[nodiscard]] std::size_t count() const { return orders_.size(); }
  [[nodiscard]] bool finished(std::size_t trial) const;  // true if the trial finished in every order and has a throughput
  [[nodiscard]] std::vector<double> figures(std::size_t trial, const std::function<double(const ReportedPoint&)>& figure) const;
  [[nodiscard]] std::vector<double> throughputs(std::size_t trial) const;
  [[nodiscard]] double tries_otherwise_pct(std::size_t trial) const;  // the maximum over all orders
  // REQUIRES: are_enough(), finished(trial).
  [[nodiscard]] OrdersChange change(std::size_t trial) const;

 private:
  std::vector<std::vector<ReportedPoint>> orders_;  // by trial
};

}  // namespace linebounce::sim
