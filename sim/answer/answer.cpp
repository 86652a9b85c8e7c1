#include "sim/answer/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "sim/answer/doubts.hpp"
#include "sim/answer/quantity.hpp"
#include "sim/answer/reason.hpp"
#include "sim/answer/what_varies.hpp"
#include "sim/results/metrics.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/paired_change.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kNoLock = "none";  // the lock that excludes nobody: shown as a baseline, never ranked
constexpr double kTwice = 100;           // in percent more
constexpr const char* kStarved = "fairness.starved_cpus";
constexpr std::size_t kMostLeaders = 2;  // most other leaders that a sentence names
constexpr std::size_t kMostFeatured = 3;
constexpr std::size_t kMostNamed = 4;  // most alternatives or places that one sentence names

struct Standing {
  int number = 0;           // number of the point
  ConfigValue alternative;  // alternatives are told apart by their values; names are for sentences
  std::string name;
  double value = 0;
  std::optional<double> interval;
  bool starves = false;
};

// The alternatives at one place of the sweep, the best first.
using Ranking = std::vector<Standing>;

// The values of one point on the axes on which compared points must agree (Roles::cells).
using Cell = std::vector<ConfigValue>;

class Decision {
 public:
  Decision(const AnswerInput& input, HeadlineMetric metric)
      : input_(input), metric_(std::move(metric)), roles_(roles_of(input.points, input.question.compare)) {}

  Answer answer() {
    answer_.metric = metric_.name;
    if (roles_.compared) answer_.compared = roles_.compared->path;
    if (roles_.over) answer_.over = roles_.over->path;
    if (roles_.compared && metric_.better != Better::neither) {
      compare();
    } else if (roles_.over && !roles_.compared) {
      follow();
    }
    if (answer_.text.empty()) tell();
    unfinished();
    answer_.doubts = doubts_of(input_.points, roles_);
    return std::move(answer_);
  }

 private:
  // ---- alternatives ----

  void compare() {
    std::map<Cell, std::vector<int>> cells;  // keys: values of the axes on which compared points must agree
    for (const int number : finished()) {
      Cell cell;
      for (const VariedAxis& axis : roles_.cells) cell.push_back(*value_at(point(number), axis.path));
      cells[cell].push_back(number);
    }
    std::vector<std::pair<Cell, Ranking>> decided;
    for (const auto& [cell, numbers] : cells) {
      if (Ranking ranking = last_ranking(numbers); ranking.size() > 1 && has_results(ranking))
        decided.emplace_back(cell, std::move(ranking));
    }
    if (decided.empty()) return;
    if (cells.size() == 1) {
      one_place(decided.front().second, cells.begin()->second);
    } else {
      many_places(decided);
    }
  }

  // A run without operations in the measured time cannot be ranked by throughput.
  bool has_results(const Ranking& ranking) const { return metric_.better != Better::higher || ranking.front().value > 0; }

  // Ranks the alternatives at the last place of the sweep (the most CPUs), where they usually differ most.
  Ranking last_ranking(const std::vector<int>& numbers) const {
    if (!roles_.over) return ranked(numbers);
    const std::vector<ConfigValue>& values = roles_.over->values;
    for (auto value = values.rbegin(); value != values.rend(); ++value) {
      if (Ranking ranking = ranked(at(numbers, *value)); ranking.size() > 1) return ranking;
    }
    return {};
  }

  std::vector<int> at(const std::vector<int>& numbers, const ConfigValue& value) const {
    std::vector<int> there;
    for (const int number : numbers) {
      if (*value_at(point(number), roles_.over->path) == value) there.push_back(number);
    }
    return there;
  }

  Ranking ranked(const std::vector<int>& numbers) const {
    Ranking ranking;
    for (const int number : numbers) {
      const ConfigValue& value = *value_at(point(number), roles_.compared->path);
      const bool baseline = roles_.compared->path == kLockPath && value == ConfigValue(std::string(kNoLock));
      const auto metric = figure_at(number, metric_.name);
      if (baseline || !metric) continue;
      const auto starved = figure_at(number, kStarved);
      ranking.push_back({number, value, alternative_name(*roles_.compared, value), metric->value, metric->interval,
                         starved && starved->value > 0});
    }
    std::ranges::stable_sort(ranking, [this](const Standing& a, const Standing& b) {
      return metric_.better == Better::higher ? a.value > b.value : a.value < b.value;
    });
    return ranking;
  }

  void one_place(const Ranking& ranking, const std::vector<int>& numbers) {
    speak_of(ranking);
    const std::string where = roles_.over ? "At " + place_of(ranking.front()) + " " : all_cpus(ranking.front());
    answer_.text = where + verdict(ranking) + unfairness(ranking) + ".";
    for (std::size_t i = 0; i < std::min(kMostFeatured, ranking.size()); ++i) feature(ranking[i]);
    if (roles_.over) answer_.text += other_leaders(ranking.front(), numbers);
    if (leads_alone(ranking)) {
      answer_.why = reason_of(contender(ranking[0]), contender(ranking[1]), metric_.name);
    }
  }

  Contender contender(const Standing& standing) const {
    const std::string& path = roles_.compared->path;
    const char* preposition = path == kLockPath ? "Under " : path == "machine" ? "On " : "With ";
    return {point(standing.number), standing.name, preposition + standing.name, cpus_of(standing.number)};
  }

  // "At 32 CPUs ", so that the sentence can be quoted alone. Empty if the alternatives are numbers of CPUs or machines.
  std::string all_cpus(const Standing& best) const {
    const double cpus = cpus_of(best.number);
    if (cpus <= 0 || roles_.compared->path == kCpusPath || roles_.compared->path == "machine") return "";
    return fmt::format("At {:.0f} CPU{} ", cpus, cpus == 1 ? "" : "s");
  }

  // "mcs is fastest: 2.73 M operations/s, 32 % more than cohort, the runner-up".
  std::string verdict(const Ranking& ranking) const {
    const Standing &best = ranking[0], &next = ranking[1];
    if (const std::size_t leaders = leaders_of(ranking); leaders > 1) {
      return fmt::format("{} {} ({}), but {} can't be told apart from it{}", best.name, wins(), amount(best),
                         others_of(ranking, leaders), best.interval ? ": their differences are within the 95 % intervals" : "");
    }
    const std::string lead = best.value > 0 && next.value > 0
                                 ? fmt::format(", {} {}, the runner-up", distance(best, next), next.name)
                                 : fmt::format("; {}, the runner-up, {}", next.name, amount(next));
    return fmt::format("{} {}: {}{}{}", best.name, wins(), amount(best), lead, best.interval ? "" : " (one seed, no interval)");
  }

  std::string others_of(const Ranking& ranking, std::size_t leaders) const {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < std::min(leaders, kMostNamed + 1); ++i) names.push_back(ranking[i].name);
    if (leaders > kMostNamed + 1) names.push_back(fmt::format("{} more", leaders - kMostNamed - 1));
    return enumeration(names);
  }

  std::string wins() const {
    if (metric_.unit == "1/s") return "is fastest";
    return (metric_.better == Better::higher ? "has the highest " : "has the lowest ") + metric_.label;
  }

  // "32 ±4 % more than", with the interval of the paired difference between runs with the same seeds. Without such runs, or
  // from a factor of two on: "2.4 times as much as".
  std::string distance(const Standing& best, const Standing& next) const {
    const bool more = metric_.better == Better::higher;
    const auto change = paired(next, best);
    if (change && std::abs(change->change_pct) < kTwice && change->ci95_pct > 0) {
      const int decimals = change->ci95_pct < 1 ? 1 : 0;
      return fmt::format("{0:.{2}f} ±{1:.{2}f} % {3} than", std::abs(change->change_pct), change->ci95_pct, decimals,
                         more ? "more" : "less");
    }
    return more ? factor_text(best.value, next.value) : fraction_text(best.value, next.value);
  }

  std::string unfairness(const Ranking& ranking) const {
    if (!ranking.front().starves) return "";
    std::string text = "; but some of its CPUs get less than a tenth of an equal share";
    const auto fair = std::ranges::find_if(ranking, [](const Standing& standing) { return !standing.starves; });
    if (fair != ranking.end())
      text += fmt::format(". Of those that starve no CPU {} {}: {}", fair->name, wins(), amount(*fair));
    return text;
  }

  // Names the alternatives that lead elsewhere in the sweep: " cohort leads at 4 to 16 CPUs."
  std::string other_leaders(const Standing& best, const std::vector<int>& numbers) {
    struct Stretch {
      Standing leader;
      ConfigValue first, last;
      bool starves;
    };
    std::vector<Stretch> stretches;
    bool goes_on = false;  // whether the last stretch reaches the place before
    for (const ConfigValue& value : roles_.over->values) {
      const Ranking ranking = ranked(at(numbers, value));
      const bool alone = leads_alone(ranking);
      if (alone && goes_on && stretches.back().leader.alternative == ranking.front().alternative) {
        stretches.back().last = value;
        stretches.back().starves |= ranking.front().starves;
      } else if (alone) {
        stretches.push_back({ranking.front(), value, value, ranking.front().starves});
        feature(ranking.front());
      }
      goes_on = alone;
    }
    std::vector<std::string> sentences;
    for (const Stretch& stretch : stretches) {
      if (stretch.leader.alternative == best.alternative) continue;
      const std::string first = value_name(stretch.first);
      const bool one = stretch.first == stretch.last;
      const bool range = !one && roles_.over->path == kCpusPath;
      sentences.push_back(fmt::format("{} leads{} at {}{}", stretch.leader.name, stretch.starves ? ", but starves CPUs," : "",
                                      one || !range ? "" : first + " to ",
                                      range || one
                                          ? place_name(*roles_.over, stretch.last)
                                          : place_name(*roles_.over, stretch.first) + " to " + value_name(stretch.last)));
    }
    if (sentences.empty()) return "";
    if (sentences.size() > kMostLeaders) return fmt::format(" The order changes {} times on the way there.", sentences.size());
    return " " + enumeration(sentences) + ".";
  }

  // ---- alternatives at many places ----

  void many_places(const std::vector<std::pair<Cell, Ranking>>& decided) {
    // keys: the alternative that wins; none for a tie
    std::vector<std::pair<std::optional<ConfigValue>, std::vector<const std::pair<Cell, Ranking>*>>> groups;
    for (const auto& place : decided) {
      const std::optional<ConfigValue> winner =
          leads_alone(place.second) ? std::optional(place.second.front().alternative) : std::nullopt;
      const auto known = std::ranges::find(groups, winner, [](const auto& group) { return group.first; });
      if (known == groups.end()) {
        groups.push_back({winner, {&place}});
      } else {
        known->second.push_back(&place);
      }
    }
    std::ranges::stable_sort(groups, [](const auto& a, const auto& b) {
      return std::pair(!a.first, b.second.size()) < std::pair(!b.first, a.second.size());
    });
    std::vector<std::string> parts;
    for (const auto& [winner, places] : groups) {
      const std::string where = places_text(places, decided.size());
      const std::string verb = parts.empty() ? " " + wins() : "";
      const std::string& name = places.front()->second.front().name;
      parts.push_back(winner ? name + verb + " " + where + margin(places) : "there is no clear winner " + where);
    }
    speak_of(groups.front().second.front()->second);
    const bool all_at_end = roles_.over.has_value();
    answer_.text = (all_at_end ? "At " + end_of_sweep(decided) + " " : "") + fmt::format("{}", enumeration(parts)) + ".";
  }

  std::string end_of_sweep(const std::vector<std::pair<Cell, Ranking>>& decided) const {
    const std::string first = place_of(decided.front().second.front());
    const bool same = std::ranges::all_of(decided, [&](const auto& place) { return place_of(place.second.front()) == first; });
    return same ? first : roles_.over->path == kCpusPath ? "the most CPUs" : "the largest " + roles_.over->path;
  }

  std::string places_text(const std::vector<const std::pair<Cell, Ranking>*>& places, std::size_t all) const {
    if (places.size() == all && all > kMostNamed) return fmt::format("at all {} places", all);
    if (places.size() > kMostNamed) return fmt::format("at {} of {} places", places.size(), all);
    std::vector<std::string> names;
    for (const auto* place : places) {
      std::string name;
      for (std::size_t i = 0; i < roles_.cells.size(); ++i) {
        const ConfigValue& value = place->first[i];
        const bool word = roles_.cells.size() == 1 && std::holds_alternative<std::string>(value);
        name += (i == 0 ? "" : ", ") + (word ? alternative_name(roles_.cells[i], value) : place_name(roles_.cells[i], value));
      }
      names.push_back(std::move(name));
    }
    return (roles_.cells.size() > 1 ? "with (" : "with ") +
           (roles_.cells.size() > 1 ? fmt::format("{})", fmt::join(names, ") and (")) : enumeration(names));
  }

  // " (by 12 % to a factor of 3.1)".
  std::string margin(const std::vector<const std::pair<Cell, Ranking>*>& places) const {
    double least = 0, most = 0;
    for (const auto* place : places) {
      const double best = place->second[0].value, next = place->second[1].value;
      if (best <= 0 || next <= 0) return "";
      const double lead = std::max(best, next) / std::min(best, next);
      least = least == 0 ? lead : std::min(least, lead);
      most = std::max(most, lead);
    }
    return places.size() == 1 ? fmt::format(" (by {})", lead_text(most))
                              : fmt::format(" (by {} to {})", lead_text(least), lead_text(most));
  }

  // ---- one axis, no alternatives ----

  void follow() {
    std::vector<Standing> row;
    for (const ConfigValue& value : roles_.over->values) {
      for (const int number : at(finished(), value)) {
        if (const auto metric = figure_at(number, metric_.name))
          row.push_back({number, value, place_name(*roles_.over, value), metric->value, metric->interval});
      }
    }
    if (row.size() < 2) return;
    const Standing &first = row.front(), &last = row.back();
    const bool lower = metric_.better == Better::lower;
    const auto best =
        lower ? std::ranges::min_element(row, {}, &Standing::value) : std::ranges::max_element(row, {}, &Standing::value);
    std::string change;
    if (first.value > 0 && last.value >= 2 * first.value) {
      change = fmt::format(" ({:.2g} times as much)", last.value / first.value);
    } else if (first.value > 0) {
      change = fmt::format(" ({:+.2g} %)", 100 * (last.value / first.value - 1));
    }
    const std::string label = metric_.unit == "1/s" ? "" : metric_.label + " ";
    answer_.text = fmt::format("{}{} at {}, {} at {}{}", label, amount(first), first.name, amount(last), last.name, change);
    answer_.point = last.number;
    const bool turns =
        best->number != first.number && best->number != last.number && !as_good(last, *best) && !as_good(first, *best);
    if (turns && metric_.better != Better::neither)
      answer_.text += fmt::format("; the {} is {}, at {}", lower ? "lowest" : "highest", amount(*best), best->name);
    answer_.text += ".";
  }

  // ---- nothing to compare ----

  // Describes the last point that has a headline metric: these metrics, and where its time goes.
  void tell() {
    const std::vector<int> numbers = finished();
    if (!numbers.empty()) answer_.point = numbers.back();
    for (auto number = numbers.rbegin(); number != numbers.rend() && answer_.text.empty(); ++number) tell(*number);
  }

  void tell(int number) {
    std::vector<std::string> figures;
    for (const HeadlineMetric& headline : input_.headlines) {
      const auto metric = figure_at(number, headline.name);
      if (!metric) continue;
      const std::string amount_text = amount_of(headline, metric->value, metric->interval);
      if (headline.unit != "1/s") {
        figures.push_back(headline.label + " " + amount_text);
      } else {
        figures.push_back(metric->value > 0 ? amount_text : "no " + headline.label + " in the measured time");
      }
    }
    if (figures.empty()) return;
    answer_.point = number;
    const std::string place = point_words(point(number), roles_);
    answer_.text = (place.empty() ? "" : place + ": ") + fmt::format("{}.", fmt::join(figures, ", "));
    answer_.why = main_cost(point(number));
  }

  // ---- how sure ----

  // The change from `first` to `second`, from runs with the same seeds. None with fewer than two seeds.
  std::optional<PairedChange> paired(const Standing& first, const Standing& second) const {
    if (!input_.seeds || !first.interval || !second.interval) return std::nullopt;
    const auto before = input_.seeds(first.number, metric_.name), after = input_.seeds(second.number, metric_.name);
    std::vector<double> base, changed;
    for (const auto& [seed, value] : before) {
      const auto same = after.find(seed);
      if (same != after.end() && std::isfinite(value) && std::isfinite(same->second)) {
        base.push_back(value);
        changed.push_back(same->second);
      }
    }
    if (base.size() < 2 || std::accumulate(base.begin(), base.end(), 0.0) == 0) return std::nullopt;
    return paired_change(base, changed);
  }

  bool as_good(const Standing& other, const Standing& best) const {
    if (const auto change = paired(best, other)) return !change->significant();
    const double reach = other.interval.value_or(0) + best.interval.value_or(0);
    return metric_.better == Better::lower ? other.value - reach <= best.value : other.value + reach >= best.value;
  }

  // The number of leaders: the first of the ranking, and all whose distance from it may be chance.
  std::size_t leaders_of(const Ranking& ranking) const {
    const auto behind = std::ranges::find_if(ranking, [&](const Standing& other) { return !as_good(other, ranking.front()); });
    return behind == ranking.begin() ? 1 : static_cast<std::size_t>(behind - ranking.begin());
  }

  // False if others can't be told apart from the first, or if there is only one.
  bool leads_alone(const Ranking& ranking) const { return ranking.size() > 1 && leaders_of(ranking) == 1; }

  // ---- words and figures ----

  void unfinished() {
    const std::size_t done = finished().size();
    if (done == input_.points.size() || answer_.text.empty()) return;
    answer_.text += fmt::format(" ({} of {} points have results.)", done, input_.points.size());
  }

  void speak_of(const Ranking& ranking) {
    answer_.point = ranking[0].number;
    answer_.runner_up = ranking[1].number;
  }

  void feature(const Standing& standing) {
    const ConfigValue& value = *value_at(point(standing.number), roles_.compared->path);
    if (std::ranges::find(answer_.featured, value) == answer_.featured.end()) answer_.featured.push_back(value);
  }

  static std::string amount_of(const HeadlineMetric& metric, double value, std::optional<double> interval) {
    return quantity(value, interval, metric.unit, metric.unit == "1/s" ? metric.label + "/s" : "");
  }

  std::string amount(const Standing& standing) const { return amount_of(metric_, standing.value, standing.interval); }

  std::string place_of(const Standing& standing) const {
    return place_name(*roles_.over, *value_at(point(standing.number), roles_.over->path));
  }

  struct Figure {
    double value = 0;
    std::optional<double> interval;
  };
  // A metric of a point. None if the point lacks it, or if it is no number: neither can be ranked.
  std::optional<Figure> figure_at(int number, const std::string& name) const {
    const auto metric = point(number).metrics.find(name);
    if (metric == point(number).metrics.end()) return std::nullopt;
    const Figure figure{as_double(metric->second.value), metric->second.ci95};
    if (!std::isfinite(figure.value)) return std::nullopt;
    return figure.interval && !std::isfinite(*figure.interval) ? Figure{figure.value, std::nullopt} : figure;
  }

  const ReportedPoint& point(int number) const { return input_.points.at(static_cast<std::size_t>(number)); }

  double cpus_of(int number) const {
    const ConfigValue* swept = value_at(point(number), kCpusPath);
    const auto* cpus = swept == nullptr ? nullptr : std::get_if<std::int64_t>(swept);
    return static_cast<double>(cpus == nullptr ? input_.cpus : *cpus);
  }

  std::vector<int> finished() const {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < input_.points.size(); ++i) {
      if (!input_.points[i].metrics.empty()) numbers.push_back(static_cast<int>(i));
    }
    return numbers;
  }

  const AnswerInput& input_;
  HeadlineMetric metric_;
  Roles roles_;
  Answer answer_;
};

// The requested metric; else the first headline that may decide, for more or less of it is better; else the first headline. A
// mean over misses is shown but does not decide: a change that removes the cheap ones raises it.
std::optional<HeadlineMetric> metric_of(const AnswerInput& input) {
  if (!input.question.metric.empty()) {
    for (const ReportedPoint& point : input.points) {
      if (const auto found = point.metrics.find(input.question.metric); found != point.metrics.end())
        return headline_of(found->first, found->second.unit);
    }
  }
  if (input.headlines.empty()) return std::nullopt;
  const auto judged = std::ranges::find_if(
      input.headlines, [](const auto& it) { return it.better != Better::neither && !is_mean_over_misses(it.name); });
  if (judged != input.headlines.end()) return *judged;
  HeadlineMetric shown = input.headlines.front();
  shown.better = Better::neither;
  return shown;
}

}  // namespace

Answer answer_of(const AnswerInput& input) {
  const std::optional<HeadlineMetric> metric = metric_of(input);
  return metric ? Decision(input, *metric).answer() : Answer{};
}

nlohmann::ordered_json answer_to_json(const Answer& answer, const Question& question) {
  const auto number = [](const std::optional<int>& point) {
    return point ? nlohmann::ordered_json(*point) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json featured = nlohmann::ordered_json::array();
  for (const ConfigValue& value : answer.featured) featured.push_back(value_to_json(value));
  return {{"question", question.text},
          {"text", answer.text},
          {"why", answer.why},
          {"metric", answer.metric},
          {"compared", answer.compared},
          {"over", answer.over},
          {"point", number(answer.point)},
          {"runner_up", number(answer.runner_up)},
          {"featured", std::move(featured)},
          {"warnings", answer.doubts}};
}

}  // namespace linebounce::sim
