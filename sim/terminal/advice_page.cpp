#include "sim/terminal/advice_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/results/numbers.hpp"
#include "trace/summary.hpp"

namespace linebounce::sim {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostChanges = 3;

// Of one machine: what proved itself there, by a name that is the same on all machines.
struct Candidate {
  std::string name;
  AdvisedChange change;
};

// Of proposals that were tried together: those.
std::string layout_change(const SharingReport& sharing, const std::string& proposal) {
  std::vector<std::string> names;
  for (const TriedProposal& tried : sharing.tried) {
    if (proposal == kAllProposals || tried.proposal.name == proposal) names.push_back(tried.proposal.name);
  }
  std::sort(names.begin(), names.end());
  return fmt::format("layout {}", fmt::join(names, " "));
}

bool is_word(const std::vector<trace::WordLock>& words, const std::string& lock) {
  return std::any_of(words.begin(), words.end(), [&lock](const auto& word) { return word.lock.counted_as() == lock; });
}

std::vector<Candidate> candidates_of(const MachineAdvice& machine, const std::vector<trace::WordLock>& words) {
  std::vector<Candidate> found;
  const SharingReport& sharing = machine.sharing;
  if (sharing.again && sharing.again->change.is_gain()) {
    const bool all = sharing.again->name == kAllProposals;
    AdvisedChange change;
    for (const TriedProposal& tried : sharing.tried) {
      if (!all && tried.proposal.name != sharing.again->name) continue;
      change.what += (change.what.empty() ? "" : "; ") + tried.proposal.sentence;
      change.edit += tried.proposal.drawing;
    }
    if (sharing.heap_shift > 0)
      change.what += fmt::format(" (shared only where malloc puts the block {} bytes further on)", sharing.heap_shift);
    found.push_back({layout_change(sharing, sharing.again->name), std::move(change)});
  }
  if (machine.locks && machine.locks->again && machine.locks->again->change.is_gain()) {
    const LockReplacement& replacement = machine.locks->again->replacement;
    found.push_back(
        {fmt::format("lock {} {}", replacement.lock, replacement.algorithm),
         {.what = fmt::format("replace the lock {}{} by {}", replacement.lock,
                              is_word(words, replacement.lock) ? " (a word that behaves like one)" : "", replacement.algorithm),
          .edit = advice(*machine.locks) + "\n",
          .gains = {}}});
  }
  return found;
}

// None: it was not tried there, or its replays did not finish.
std::optional<PredictedGain> gain_on(const MachineAdvice& machine, const std::string& name) {
  const SharingReport& sharing = machine.sharing;
  if (sharing.again && layout_change(sharing, sharing.again->name) == name)
    return PredictedGain{sharing.machine, sharing.again->change, sharing.again->change.is_gain()};
  for (const TriedProposal& tried : sharing.tried) {
    if (layout_change(sharing, tried.proposal.name) == name) return PredictedGain{sharing.machine, tried.change, false};
  }
  if (sharing.all && layout_change(sharing, kAllProposals) == name) return PredictedGain{sharing.machine, *sharing.all, false};
  if (!machine.locks) return std::nullopt;
  const auto is_it = [&name](const std::string& lock, const std::string& algorithm) {
    return name == fmt::format("lock {} {}", lock, algorithm);
  };
  if (const auto& again = machine.locks->again; again && is_it(again->replacement.lock, again->replacement.algorithm))
    return PredictedGain{sharing.machine, again->change, again->change.is_gain()};
  for (const LockRanking& lock : machine.locks->locks) {
    for (const LockTrial& trial : lock.trials) {
      if (!trial.recorded && is_it(trial.lock, trial.algorithm)) return PredictedGain{sharing.machine, trial.change, false};
    }
  }
  return std::nullopt;
}

double largest_gain(const AdvisedChange& change) {
  double largest = change.gains.front().change.median_pct;
  for (const PredictedGain& gain : change.gains) largest = std::max(largest, gain.change.median_pct);
  return largest;
}

// Why there may be changes that nobody has tried.
std::vector<std::string> not_tried_on(const std::vector<MachineAdvice>& machines) {
  std::vector<std::string> reasons;
  const auto add = [&reasons](const std::string& reason) {
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
  };
  for (const MachineAdvice& machine : machines) {
    if (machine.sharing.untried > 0)
      add(fmt::format("{} of the layouts, for cheaper lines", plural(machine.sharing.untried, "further change")));
    if (!machine.sharing.lines.empty() && machine.sharing.tried.empty())
      add("lines are shared falsely for which no change of a layout was found");
    if (machine.has_locks && !machine.locks) add("other locks, for no replay has finished");
  }
  return reasons;
}

std::string change_text(std::size_t number, const AdvisedChange& change, const Painter& paint) {
  std::string out = fmt::format("  {}. {}", number, wrapped_from(change.what, 5, Colour::bold, paint));
  for (const PredictedGain& gain : change.gains) {
    const Colour colour = gain.change.is_gain() ? Colour::green : gain.change.is_loss() ? Colour::red : Colour::none;
    const std::string text = text_of(gain.change);
    const std::string where =
        fmt::format("throughput on {}{}", gain.machine, gain.confirmed ? ", confirmed in other orders" : "");
    out += "       " + paint(colour, text) + " " + wrapped_from(where, 8 + width_of(text), Colour::none, paint);
  }
  for (const std::string& machine : change.not_tried_on) out += fmt::format("       not tried on {}\n", machine);
  std::string edit = change.edit;
  for (std::size_t at = 0; (at = edit.find('\n', at)) != std::string::npos && at + 1 < edit.size(); at += 6)
    edit.insert(at + 1, "     ");
  return out + "\n     " + edit + (edit.ends_with("\n") ? "" : "\n");
}

std::string verdict(const AdvicePage& page) {
  const std::size_t shown = std::min(kMostChanges, page.changes.size());
  if (shown > 0)
    return fmt::format("{} worth making, by replays of {}.", shown == 1 ? "One change is" : plural(shown, "change") + " are",
                       page.trace);
  if (!page.depends.empty()) return "Nothing is worth changing on all of these machines; what gains on one loses on another.";
  if (trace::has_unseen_atomics(page.missing))
    return "No verdict: of what was recorded nothing is worth changing, but atomic operations were not recorded.";
  return "Nothing that was tried is worth changing.";
}

ordered_json changes_json(const std::vector<AdvisedChange>& changes) {
  ordered_json list = ordered_json::array();
  for (const AdvisedChange& change : changes) {
    ordered_json gains = ordered_json::array();
    for (const PredictedGain& gain : change.gains) {
      gains.push_back({{"machine", gain.machine},
                       {"change_pct", rounded(gain.change.median_pct)},
                       {"change_low_pct", rounded(gain.change.low_pct)},
                       {"change_high_pct", rounded(gain.change.high_pct)},
                       {"confirmed", gain.confirmed}});
    }
    list.push_back(
        {{"what", change.what}, {"edit", change.edit}, {"gains", std::move(gains)}, {"not_tried_on", change.not_tried_on}});
  }
  return list;
}

}  // namespace

AdvicePage advice_page(const std::string& trace, const std::vector<MachineAdvice>& machines,
                       const std::vector<trace::WordLock>& words, const std::vector<std::string>& missing) {
  AdvicePage page;
  page.trace = trace;
  page.missing = missing;
  for (const MachineAdvice& machine : machines) page.machines.push_back(machine.sharing.machine);
  // What is laid apart for the longest lines is apart on all machines.
  std::vector<const MachineAdvice*> by_line;
  for (const MachineAdvice& machine : machines) by_line.push_back(&machine);
  std::stable_sort(by_line.begin(), by_line.end(), [](const MachineAdvice* a, const MachineAdvice* b) {
    return a->sharing.line_bytes > b->sharing.line_bytes;
  });
  std::vector<std::string> known;
  for (const MachineAdvice* machine : by_line) {
    for (Candidate& candidate : candidates_of(*machine, words)) {
      if (std::find(known.begin(), known.end(), candidate.name) != known.end()) continue;
      known.push_back(candidate.name);
      for (const MachineAdvice& each : machines) {
        if (const auto gain = gain_on(each, candidate.name)) {
          candidate.change.gains.push_back(*gain);
        } else {
          candidate.change.not_tried_on.push_back(each.sharing.machine);
        }
      }
      const bool loses = std::any_of(candidate.change.gains.begin(), candidate.change.gains.end(),
                                     [](const PredictedGain& gain) { return gain.change.is_loss(); });
      (loses ? page.depends : page.changes).push_back(std::move(candidate.change));
    }
  }
  std::stable_sort(page.changes.begin(), page.changes.end(),
                   [](const AdvisedChange& a, const AdvisedChange& b) { return largest_gain(a) > largest_gain(b); });
  page.not_tried = not_tried_on(machines);
  return page;
}

std::string advice_page_text(const AdvicePage& page, const Painter& paint) {
  std::string out = "  " + paint(Colour::bold, verdict(page)) + "\n\n";
  for (std::size_t i = 0; i < std::min(kMostChanges, page.changes.size()); ++i)
    out += change_text(i + 1, page.changes[i], paint) + "\n";
  if (!page.depends.empty()) out += "  Only on some machines:\n\n";
  for (std::size_t i = 0; i < std::min(kMostChanges, page.depends.size()); ++i)
    out += change_text(i + 1, page.depends[i], paint) + "\n";
  if (!page.not_tried.empty()) out += fmt::format("  Not tried: {}.\n\n", fmt::join(page.not_tried, "; "));
  out += not_seen_text(page.missing, paint);
  const std::string note = fmt::format(
      "Each gain is the median of paired replays in several orders of the same operations, with the 95 % interval of their "
      "mean, on {}: of the recorded run with its input, not of another.",
      fmt::join(page.machines, " and "));
  return out + "\n  " + wrapped_from(note, 2, Colour::dim, paint);
}

ordered_json advice_page_json(const AdvicePage& page) {
  return {{"schema", "linebounce.advise/1"},
          {"trace", page.trace},
          {"machines", page.machines},
          {"verdict", verdict(page)},
          {"changes", changes_json(page.changes)},
          {"depends", changes_json(page.depends)},
          {"not_tried", page.not_tried},
          {"missing", page.missing}};
}

}  // namespace linebounce::sim
