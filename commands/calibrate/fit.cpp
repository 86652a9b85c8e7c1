#include "commands/calibrate/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace linebounce::sim {
namespace {

constexpr int kMostRounds = 8;         // limit on how often derivatives are computed from one start
constexpr int kMostSteps = 4;          // limit on steps that use one set of derivatives
constexpr std::size_t kMostTried = 3;  // of the candidates of one step, the most promising ones that are simulated
// Deviation, as a share of a block's mean, that needs no improvement, because measurements are not more precise.
constexpr double kGoodShare = 0.002;
constexpr double kLargestRest = 0.98;  // a step counts as better if at most this share of the sum of squares remains
// For polished(): at most this share of the deviations between blocks may remain after a step.
constexpr double kLastStep = 0.9;
constexpr double kNothing = 0.0005;   // as a share of the sum of squares; smaller deviations between blocks are ignored
constexpr double kProbeShare = 0.25;  // change of a value to measure a derivative, as a share of the value
constexpr double kProbeNs = 2;        // the smallest change of a value that measures a derivative, in ns
// In ns for each ns or clock. A knob with a smaller effect is treated as having none, because something slower hides it.
constexpr double kHidden = 0.02;
constexpr double kSame = 1e-9;
constexpr double kLeastMeanNs = 1;  // a kind with a smaller mean weighs as if it had this one

// A set of values, and the matrix that was simulated with it.
struct Place {
  Values values;
  LatencyMatrix simulated;
  double squares = 0;  // sum of squared deviations over all pairs, with each block's mean for its simulated pairs
};

bool better(const Place& one, const Place& other) {
  return one.squares < kLargestRest * other.squares;
}

// The place with the smallest sum of squares; none if it is not better() than `than`.
std::optional<Place> best_of(std::vector<Place> places, const Place& than) {
  const auto best = std::ranges::min_element(places, [](const Place& a, const Place& b) { return a.squares < b.squares; });
  if (best == places.end() || !better(*best, than)) return std::nullopt;
  return std::move(*best);
}

// Where a search from one start ended.
struct Ending {
  Place place;
  Slopes slopes;
  SearchEnd end = SearchEnd::cut_off;
};

class Fitter {
 public:
  Fitter(std::vector<Knob> knobs, const std::vector<Block>& blocks, const LatencyMatrix& measured,
         const SimulateMatrices& simulate)
      : knobs_(std::move(knobs)), blocks_(blocks), measured_(measured), simulate_(simulate) {
    // Each kind of pairs weighs as much as any other, by its share of the kind's own mean, however many pairs it has: the few
    // that show what a core costs on its own must not be given up for the thousands that cross the machine.
    std::map<Distance, double> pairs_of_kind;
    const auto count = [](const Block& block) {
      return static_cast<double>(block.stands_for ? block.stands_for->pairs : block.pairs.size());
    };
    double all_pairs = 0;
    double all_ns = 0;
    for (const Block& block : blocks) {
      pairs_of_kind[block.distance] += count(block);
      all_pairs += count(block);
      all_ns += count(block) * mean_of(block, measured);
    }
    const double usual = std::max(all_ns / all_pairs, kLeastMeanNs);
    for (const Block& block : blocks) {
      const double mean = mean_of(block, measured);
      const double scale = std::max(mean, kLeastMeanNs);
      const double of_pair = all_pairs / pairs_of_kind.at(block.distance) * (usual * usual) / (scale * scale);
      weights_.push_back(count(block) * of_pair);
      double squares = block.stands_for ? block.stands_for->squares : 0;
      if (!block.stands_for) {
        for (const auto& [a, b] : block.pairs) squares += (measured.at(a, b) - mean) * (measured.at(a, b) - mean);
      }
      within_ += squares * of_pair;
    }
  }

  [[nodiscard]] Place place_at(const Values& values) const { return places_at({values}).front(); }

  // Searches from one place until no change of a knob gains enough.
  [[nodiscard]] Ending settle(Place place) const {
    std::vector<std::size_t> all(knobs_.size());
    std::iota(all.begin(), all.end(), 0);
    return settle({std::move(place), Slopes(blocks_.size(), std::vector<double>(knobs_.size(), 0))}, all);
  }

  // Continues where `other` ended, a search with some of these knobs. Reuses the derivatives that it has computed.
  [[nodiscard]] Ending settle_after(const Fitter& other, Ending its) const {
    Slopes slopes(blocks_.size());
    std::vector<std::size_t> unknown;
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      const auto same = std::ranges::find_if(other.knobs_, [&](const Knob& knob) { return knob.paths == knobs_[k].paths; });
      if (same == other.knobs_.end()) unknown.push_back(k);
      const std::size_t column = same - other.knobs_.begin();
      for (std::size_t block = 0; block < blocks_.size(); ++block) {
        slopes[block].push_back(same == other.knobs_.end() ? 0 : its.slopes[block][column]);
      }
    }
    return settle({std::move(its.place), std::move(slopes)}, unknown);
  }

  // Tries a few other starts. Each first uses the derivatives of `best`, which are about the same everywhere. Only a start
  // that gets farther than `best` is searched with derivatives of its own.
  [[nodiscard]] Ending settle_from_elsewhere(Ending best, const Values& start) const {
    for (const Values& other : other_starts(start)) {
      if (nothing_to_gain(best.place)) break;
      const Place reached = descend(place_at(other), best.slopes);
      if (better(reached, best.place)) best = settle(reached);
    }
    return best;
  }

  // Makes the last improvements: by single whole clocks, and by steps too small for settle().
  [[nodiscard]] Ending polished(Ending end) const {
    for (int step = 0; step < kMostSteps && between_blocks(end.place) > kNothing * end.place.squares; ++step) {
      if (good_enough(end.place)) break;
      std::vector<Place> places = places_at(last_steps(end.place, end.slopes));
      std::erase_if(places, [&](const Place& place) {
        return between_blocks(place) > kLastStep * between_blocks(end.place) || of_each_pair(place) >= of_each_pair(end.place);
      });
      if (places.empty()) break;
      end.place =
          std::move(*std::ranges::min_element(places, [](const Place& a, const Place& b) { return a.squares < b.squares; }));
    }
    return end;
  }

  [[nodiscard]] FitResult result(Ending end, const Values& start) const {
    FitResult result{{}, std::move(end.place.simulated), std::move(end.slopes), {}, end.end};
    result.separation = separate(result.slopes, weights_);
    for (const auto& [path, value] : end.place.values) {
      if (std::fabs(value - start.at(path)) > kSame) result.values.emplace(path, value);
    }
    return result;
  }

 private:
  // ---- simulated places ----

  [[nodiscard]] std::vector<Place> places_at(const std::vector<Values>& candidates) const {
    std::vector<Place> places;
    if (candidates.empty()) return places;
    std::vector<LatencyMatrix> matrices = simulate_(candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      Place& place = places.emplace_back(Place{candidates[i], std::move(matrices[i])});
      place.squares = within_ + between(residuals(place));
    }
    return places;
  }

  [[nodiscard]] std::vector<double> residuals(const Place& place) const {
    std::vector<double> off;
    for (const Block& block : blocks_) off.push_back(mean_of(block, measured_) - mean_of(block, place.simulated));
    return off;
  }

  [[nodiscard]] double between(const std::vector<double>& residuals) const {
    double sum = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) sum += weights_[i] * residuals[i] * residuals[i];
    return sum;
  }

  [[nodiscard]] double between_blocks(const Place& place) const { return place.squares - within_; }

  // The sum of squares over all simulated pairs, each with its own latency. A step by whole clocks may spread the pairs of a
  // block, and so lose more than the blocks' means gain.
  [[nodiscard]] double of_each_pair(const Place& place) const {
    double sum = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      double squares = 0;
      for (const auto& [a, b] : blocks_[i].pairs) {
        const double off = measured_.at(a, b) - place.simulated.at(a, b);
        squares += off * off;
      }
      sum += weights_[i] * squares / static_cast<double>(blocks_[i].pairs.size());
    }
    return sum;
  }

  // ---- when to stop ----

  [[nodiscard]] bool good_enough(const Place& place) const {
    return std::ranges::all_of(blocks_, [&](const Block& block) {
      const double measured = mean_of(block, measured_);
      return std::fabs(measured - mean_of(block, place.simulated)) <= kGoodShare * measured;
    });
  }

  // True if the place is good enough, or if nearly all of its deviation is within blocks, which no machine of this structure
  // can reduce.
  [[nodiscard]] bool nothing_to_gain(const Place& place) const {
    return good_enough(place) || within_ > kLargestRest * place.squares;
  }

  // ---- knobs and their values ----

  static bool is_fine(const Knob& knob) { return knob.step < 1; }
  static double value_of(const Knob& knob, const Values& values) { return values.at(knob.paths.front()); }

  // Changes a knob's values by `by`, and rounds them to its step. If `by` is 0, they stay even if they are not multiples of
  // the step.
  static void turn(Values& values, const Knob& knob, double by) {
    if (std::fabs(by) <= kSame) return;
    const double same = on_grid(knob, value_of(knob, values) + by);
    for (const std::string& path : knob.paths) {
      values.at(path) = knob.to_same_value ? same : on_grid(knob, values.at(path) + by);
    }
  }

  static double on_grid(const Knob& knob, double value) {
    const double steps = std::round(std::max(value, knob.minimum) / knob.step);
    // Divides two whole numbers, because 0.1 is not exact. The quotient is the double nearest to the decimal number.
    return knob.step < 1 ? steps / std::round(1 / knob.step) : steps * knob.step;
  }

  static double probe_of(const Knob& knob, double value) {
    return std::max({value * kProbeShare, knob.step, knob.step < 1 ? kProbeNs : 0.0});
  }

  // For each of these knobs, `values` with this knob turned up (`direction` 1) or down (-1). Leaves out knobs that are at
  // their bounds.
  [[nodiscard]] std::vector<Values> probes(const Values& values, const std::vector<std::size_t>& knobs, int direction) const {
    std::vector<Values> probes;
    for (const std::size_t k : knobs) {
      Values probe = values;
      turn(probe, knobs_[k], direction * probe_of(knobs_[k], value_of(knobs_[k], values)));
      if (probe != values) probes.push_back(std::move(probe));
    }
    return probes;
  }

  // Computes the slopes of the knobs `probed` from `up`, the simulated results of their probes. Those of knobs that depended
  // on others so far follow from the slopes of the others.
  void update(Slopes& slopes, const Place& from, const std::vector<Place>& up, const std::vector<std::size_t>& probed) const {
    const std::vector<Dependence> dependent = separate(slopes, weights_).dependent;
    slopes.resize(blocks_.size(), std::vector<double>(knobs_.size(), 0));
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      const double before = mean_of(blocks_[block], from.simulated);
      for (std::size_t i = 0; i < probed.size(); ++i) {
        const Knob& knob = knobs_[probed[i]];
        const double by = value_of(knob, up[i].values) - value_of(knob, from.values);
        slopes[block][probed[i]] = (mean_of(blocks_[block], up[i].simulated) - before) / by;
      }
      for (const Dependence& dependence : dependent) {
        double sum = 0;
        for (std::size_t j = 0; j < dependence.on.size(); ++j) sum += dependence.parts[j] * slopes[block][dependence.on[j]];
        slopes[block][dependence.unknown] = sum;
      }
    }
    for (const std::size_t k : probed) forget_if_hidden(slopes, k);
  }

  // Sets the slopes of a knob with almost no effect to 0. Otherwise a step would turn it by hundreds of nanoseconds.
  void forget_if_hidden(Slopes& slopes, std::size_t k) const {
    const bool hidden = std::ranges::all_of(slopes, [k](const auto& of_block) { return std::fabs(of_block[k]) < kHidden; });
    for (auto& of_block : slopes) {
      if (hidden) of_block[k] = 0;
    }
  }

  // ---- the next step ----

  // `probed`: knobs whose derivatives are not known yet.
  [[nodiscard]] Ending settle(Ending end, std::vector<std::size_t> probed) const {
    for (int round = 0; round < kMostRounds && end.end == SearchEnd::cut_off; ++round) {
      std::vector<Place> up = places_at(probes(end.place.values, probed, 1));
      update(end.slopes, end.place, up, probed);
      probed = separate(end.slopes, weights_).apart;
      if (nothing_to_gain(end.place)) {
        end.end = SearchEnd::nothing_left;
        break;
      }
      Place reached = descend(end.place, end.slopes);
      if (reached.values != end.place.values) {
        end.place = std::move(reached);
      } else if (auto found = best_of(std::move(up), end.place)) {
        end.place = std::move(*found);
      } else if (auto lower = best_of(places_at(probes(end.place.values, probed, -1)), end.place)) {
        end.place = std::move(*lower);
      } else {
        end.end = SearchEnd::no_step_gains;
      }
    }
    return end;
  }

  [[nodiscard]] Place descend(Place place, const Slopes& slopes) const {
    bool all_at_once = true;
    for (int step = 0; step < kMostSteps && !nothing_to_gain(place); ++step) {
      std::optional<Place> next;
      if (all_at_once) next = together(place, slopes);
      all_at_once = next.has_value();
      if (!next) next = one_by_one(place, slopes);
      if (!next) break;
      place = std::move(*next);
    }
    return place;
  }

  // Turns all knobs to where the derivatives promise the best fit or, if that is no better, half as far. None if neither is
  // better.
  [[nodiscard]] std::optional<Place> together(const Place& place, const Slopes& slopes) const {
    const std::vector<double> change = best_change(place, slopes);
    for (const double part : {1.0, 0.5}) {
      const Values next = changed(place, change, part);
      if (!promises(next, place, slopes)) return std::nullopt;
      if (auto found = best_of({place_at(next)}, place)) return found;
    }
    return std::nullopt;
  }

  [[nodiscard]] Values changed(const Place& place, const std::vector<double>& change, double part = 1) const {
    Values next = place.values;
    for (std::size_t k = 0; k < knobs_.size(); ++k) turn(next, knobs_[k], part * change[k]);
    return next;
  }

  [[nodiscard]] double expected(const Values& next, const Place& place, const Slopes& slopes) const {
    std::vector<double> off = residuals(place);
    for (std::size_t block = 0; block < off.size(); ++block) {
      for (std::size_t k = 0; k < knobs_.size(); ++k) {
        off[block] -= slopes[block][k] * (value_of(knobs_[k], next) - value_of(knobs_[k], place.values));
      }
    }
    return within_ + between(off);
  }
  [[nodiscard]] bool promises(const Values& next, const Place& place, const Slopes& slopes) const {
    return expected(next, place, slopes) < kLargestRest * place.squares;
  }

  [[nodiscard]] std::vector<double> best_change(const Place& place, const Slopes& slopes) const {
    std::vector<double> least;
    for (const Knob& knob : knobs_) least.push_back(std::min(0.0, knob.minimum - value_of(knob, place.values)));
    return with_finer_ones(place, slopes, least_squares(slopes, residuals(place), weights_, least));
  }

  // Rounds the changes of knobs that count whole clocks. Then solves again for the knobs with finer steps, which compensate
  // for the rounding.
  [[nodiscard]] std::vector<double> with_finer_ones(const Place& place, const Slopes& slopes,
                                                    std::vector<double> change) const {
    Slopes fine = slopes;
    std::vector<double> left = residuals(place);
    std::vector<double> least;
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      const double value = value_of(knobs_[k], place.values);
      least.push_back(std::min(0.0, knobs_[k].minimum - value));
      if (is_fine(knobs_[k])) continue;
      if (std::fabs(change[k]) > kSame) change[k] = on_grid(knobs_[k], value + change[k]) - value;
      for (std::size_t block = 0; block < left.size(); ++block) {
        left[block] -= slopes[block][k] * change[k];
        fine[block][k] = 0;
      }
    }
    const std::vector<double> finer = least_squares(fine, left, weights_, least);
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      if (is_fine(knobs_[k])) change[k] = finer[k];
    }
    return change;
  }

  [[nodiscard]] std::optional<Place> one_by_one(const Place& place, const Slopes& slopes) const {
    std::vector<Values> turned;
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      std::vector<double> change(knobs_.size(), 0);
      change[k] = alone(place, slopes, k);
      turned.push_back(changed(place, change));
    }
    auto found = best_of(places_at(most_promising(std::move(turned), place, slopes)), place);
    return found ? std::move(found) : a_clock_more_or_less(place, slopes);
  }

  // Turns one knob by a whole clock, while knobs with finer steps compensate. So a clock of the core may replace part of a
  // bus clock.
  [[nodiscard]] std::optional<Place> a_clock_more_or_less(const Place& place, const Slopes& slopes) const {
    std::vector<Values> turned;
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      if (is_fine(knobs_[k])) continue;
      for (const double by : {knobs_[k].step, -knobs_[k].step}) {
        std::vector<double> change(knobs_.size(), 0);
        change[k] = by;
        turned.push_back(changed(place, with_finer_ones(place, slopes, std::move(change))));
      }
    }
    return best_of(places_at(most_promising(std::move(turned), place, slopes)), place);
  }

  [[nodiscard]] std::vector<Values> most_promising(std::vector<Values> candidates, const Place& place,
                                                   const Slopes& slopes) const {
    std::erase_if(candidates, [&](const Values& values) { return !promises(values, place, slopes); });
    std::ranges::stable_sort(candidates, {}, [&](const Values& values) { return expected(values, place, slopes); });
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    candidates.resize(std::min(candidates.size(), kMostTried));
    return candidates;
  }

  // The most promising candidates: the best change by the derivatives; and, for each knob that counts whole clocks, this knob
  // as it is or turned by one clock, while all others compensate.
  [[nodiscard]] std::vector<Values> last_steps(const Place& place, const Slopes& slopes) const {
    std::vector<Values> turned = {changed(place, best_change(place, slopes))};
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      if (is_fine(knobs_[k])) continue;
      for (const double by : {0.0, knobs_[k].step, -knobs_[k].step}) turned.push_back(with_one_turned(place, slopes, k, by));
    }
    const auto off = [&](const Values& values) { return expected(values, place, slopes) - within_; };
    std::erase_if(turned, [&](const Values& values) { return off(values) > kLastStep * between_blocks(place); });
    std::ranges::stable_sort(turned, [&](const Values& a, const Values& b) { return off(a) < off(b); });
    turned.erase(std::unique(turned.begin(), turned.end()), turned.end());
    turned.resize(std::min(turned.size(), kMostTried));
    return turned;
  }

  [[nodiscard]] Values with_one_turned(const Place& place, const Slopes& slopes, std::size_t k, double by) const {
    Slopes others = slopes;
    std::vector<double> left = residuals(place);
    std::vector<double> least;
    for (const Knob& knob : knobs_) least.push_back(std::min(0.0, knob.minimum - value_of(knob, place.values)));
    for (std::size_t block = 0; block < left.size(); ++block) {
      left[block] -= slopes[block][k] * by;
      others[block][k] = 0;
    }
    std::vector<double> change = least_squares(others, left, weights_, least);
    change[k] = std::max(by, least[k]);
    return changed(place, with_finer_ones(place, slopes, std::move(change)));
  }

  // The change of knob `k` that fits best if all others stay.
  [[nodiscard]] double alone(const Place& place, const Slopes& slopes, std::size_t k) const {
    const std::vector<double> off = residuals(place);
    double moved = 0;
    double wanted = 0;
    for (std::size_t block = 0; block < off.size(); ++block) {
      moved += weights_[block] * slopes[block][k] * slopes[block][k];
      wanted += weights_[block] * slopes[block][k] * off[block];
    }
    return moved <= kSame ? 0 : wanted / moved;
  }

  // Other places to start from: one part of the machine (network, node or bus) at its minimum, so that the others take over
  // its latency; and all values doubled. They help in networks of links, because messages change their route when another one
  // becomes shorter.
  [[nodiscard]] std::vector<Values> other_starts(const Values& start) const {
    std::vector<Values> starts;
    for (const char* part : {"machine.network.", "machine.node.", "machine.bus."}) {
      Values other = start;
      for (const Knob& knob : knobs_) {
        if (knob.paths.front().starts_with(part)) turn(other, knob, knob.minimum - value_of(knob, start));
      }
      if (other != start) starts.push_back(std::move(other));
    }
    Values doubled = start;
    for (const Knob& knob : knobs_) turn(doubled, knob, value_of(knob, start));
    starts.push_back(std::move(doubled));
    return starts;
  }

  const std::vector<Knob> knobs_;
  const std::vector<Block>& blocks_;
  const LatencyMatrix& measured_;
  const SimulateMatrices& simulate_;
  std::vector<double> weights_;  // by block
  double within_ = 0;            // sum of the squared deviations of pairs from their blocks' means
};

}  // namespace

FitResult fit(const std::vector<Knob>& knobs, const std::vector<Block>& blocks, const LatencyMatrix& measured,
              const Values& start, const SimulateMatrices& simulate) {
  const Fitter common(with_links_as_one(knobs), blocks, measured, simulate);
  Ending end = common.settle_from_elsewhere(common.settle(common.place_at(start)), start);
  const Fitter each(knobs, blocks, measured, simulate);
  if (with_links_as_one(knobs).size() < knobs.size()) end = each.settle_after(common, std::move(end));
  return each.result(each.polished(std::move(end)), start);
}

}  // namespace linebounce::sim
