#include "sim/answer/family_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "sim/answer/quantity.hpp"
#include "sim/answer/what_varies.hpp"

namespace linebounce::sim {
namespace {

constexpr double kLeastDifference = 0.01;  // of the smaller value
constexpr std::size_t kMostPasses = 3;     // most pairs that a sentence names
constexpr std::size_t kMostReasons = 3;    // most changes that a sentence names for a pair

class OrderTeller {
 public:
  explicit OrderTeller(const FamilyOrder& order) : order_(order) {
    for (std::size_t i = 0; i < order.alternatives.size(); ++i) {
      if (order.assumed[i]) ranking_.push_back(i);
    }
    std::ranges::stable_sort(ranking_,
                             [&](std::size_t a, std::size_t b) { return is_ahead(*order.assumed[a], *order.assumed[b]); });
  }

  std::string text() {
    if (ranking_.size() < 2) return "";
    for (std::size_t i = 0; i < order_.changes.size(); ++i) look_at(order_.changes[i], order_.changed[i]);
    if (tried_ == 0) return "";
    if (passes_.empty()) return fmt::format("The order survives {}{}.", all_of(), lead_range());
    std::vector<std::string> parts;
    for (const Pass& pass : passes_) {
      if (parts.size() == kMostPasses) break;
      parts.push_back(fmt::format("{} passes {} with {}", pass.winner, pass.loser, reasons_text(pass.reasons)));
    }
    const std::string more =
        passes_.size() > kMostPasses ? fmt::format(", and {} more pairs change places", passes_.size() - kMostPasses) : "";
    return fmt::format("The order does not survive {}: {}{}.{}", all_of(), enumeration(parts), more, rest_text());
  }

 private:
  struct Pass {
    std::string winner, loser;
    std::vector<std::string> reasons;
  };

  bool is_ahead(const RangeValue& a, const RangeValue& b) const {
    return order_.better == Better::lower ? a.value < b.value : a.value > b.value;
  }

  // True if a is better than b by more than chance.
  bool beats(const RangeValue& a, const RangeValue& b) const {
    const double least = kLeastDifference * std::min(std::abs(a.value), std::abs(b.value));
    return is_ahead(a, b) && std::abs(a.value - b.value) > std::max(least, a.interval + b.interval);
  }

  void look_at(const FamilyChange& change, const RangeRow& row) {
    if (!std::ranges::all_of(ranking_, [&row](std::size_t i) { return row[i].has_value(); })) return;
    ++tried_;
    bool holds = true;
    for (std::size_t first = 0; first < ranking_.size(); ++first) {
      for (std::size_t second = first + 1; second < ranking_.size(); ++second) {
        const std::size_t ahead = ranking_[first], behind = ranking_[second];
        if (!beats(*row[behind], *row[ahead])) continue;
        note(order_.alternatives[behind], order_.alternatives[ahead], change);
        holds = false;
      }
    }
    held_ += holds ? 1 : 0;
    note_lead(row);
  }

  void note(const std::string& winner, const std::string& loser, const FamilyChange& change) {
    const std::string name = change.path.substr(change.path.find('.') + 1);
    const std::string reason = fmt::format("{} = {} (assumed: {})", name, value_name(change.other), value_name(change.assumed));
    const auto known = std::ranges::find_if(
        passes_, [&](const Pass& pass) { return std::pair(pass.winner, pass.loser) == std::pair(winner, loser); });
    if (known == passes_.end()) {
      passes_.push_back({winner, loser, {reason}});
    } else {
      known->reasons.push_back(reason);
    }
  }

  // Records the first alternative's lead over the best other one under this change.
  void note_lead(const RangeRow& row) {
    const RangeValue& leader = *row[ranking_.front()];
    RangeValue next = *row[ranking_[1]];
    for (std::size_t i = 2; i < ranking_.size(); ++i) {
      if (is_ahead(*row[ranking_[i]], next)) next = *row[ranking_[i]];
    }
    if (!beats(leader, next)) ++ties_;
    if (leader.value <= 0 || next.value <= 0) return;
    const double lead = order_.better == Better::lower ? next.value / leader.value : leader.value / next.value;
    least_ = tried_ == 1 ? lead : std::min(least_, lead);
    most_ = std::max(most_, lead);
  }

  std::string all_of() const {
    return fmt::format("{} in what is taken from {} (one value at a time, over the family's range)",
                       tried_ == 1 ? "the only change" : fmt::format("{}{} changes", passes_.empty() ? "all " : "the ", tried_),
                       order_.family);
  }

  std::string lead_range() const {
    const std::string& leader = order_.alternatives[ranking_.front()];
    if (ties_ > 0) return fmt::format("; with {} of them {} can't be told apart from the runner-up", ties_, leader);
    return most_ <= 0 ? "" : fmt::format("; {} leads by {} to {}", leader, lead_text(least_), lead_text(most_));
  }

  static std::string reasons_text(const std::vector<std::string>& reasons) {
    std::vector<std::string> named = reasons;
    if (named.size() > kMostReasons) {
      const std::size_t more = named.size() - kMostReasons;
      named.resize(kMostReasons);
      named.push_back(fmt::format("{} more", more));
    }
    return enumeration(named);
  }

  std::string rest_text() const { return held_ == 0 ? "" : fmt::format(" It survives the other {}.", held_); }

  const FamilyOrder& order_;
  std::vector<std::size_t> ranking_;  // alternatives ordered under the family's own values, the best first
  std::vector<Pass> passes_;
  int tried_ = 0, held_ = 0;
  int ties_ = 0;  // number of changes under which the first alternative's lead is within chance
  double least_ = 0, most_ = 0;
};

}  // namespace

std::string family_order_text(const FamilyOrder& order) {
  return OrderTeller(order).text();
}

}  // namespace linebounce::sim
