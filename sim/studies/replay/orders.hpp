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

// By how many percent of the throughput a change alters the replays.
struct OrdersChange {
  double median_pct = 0;
  double low_pct = 0, high_pct = 0;  // 95 % interval (Student) of the mean over orders; with up to six the median lies in it
  // Gains enough for a change of the program, and by more than chance.
  [[nodiscard]] bool is_gain() const;
  // Likewise.
  [[nodiscard]] bool is_loss() const;
};

// Value i of both sides is of one order. REQUIRES: as many of one as of the other, two at least; none of `base` is 0.
OrdersChange orders_change(const std::vector<double>& base, const std::vector<double>& changed);

// "+12.0 % (11.2 to 12.8)".
std::string text_of(const OrdersChange& change);

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
  [[nodiscard]] bool finished(std::size_t trial) const;  // in every order
  [[nodiscard]] std::vector<double> figures(std::size_t trial, const std::function<double(const ReportedPoint&)>& figure) const;
  [[nodiscard]] std::vector<double> throughputs(std::size_t trial) const;
  // REQUIRES: are_enough(), finished(trial).
  [[nodiscard]] OrdersChange change(std::size_t trial) const;

 private:
  std::vector<std::vector<ReportedPoint>> orders_;  // by trial
};

}  // namespace linebounce::sim
