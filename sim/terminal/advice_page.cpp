#include "sim/terminal/advice_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "sim/lines/rank_correlation.hpp"
#include "sim/results/numbers.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostChanges = 3;

// Of one machine: what proved itself there, by a name that is the same on all machines.
struct Candidate {
  std::string name;
  AdvisedChange change;
  std::set<std::string> layouts = {};  // empty: of a lock
};

// The layouts that a proposal changes: of those that were tried together, all.
std::set<std::string> layouts_of(const SharingReport& sharing, const std::string& proposal) {
  std::set<std::string> names;
  for (const TriedProposal& tried : sharing.tried) {
    if (proposal == kAllProposals || tried.proposal.name == proposal) names.insert(tried.proposal.name);
  }
  return names;
}

std::string layout_change(const SharingReport& sharing, const std::string& proposal) {
  return fmt::format("layout {}", fmt::join(layouts_of(sharing, proposal), " "));
}

bool is_word(const std::vector<trace::WordLock>& words, const std::string& lock) {
  return std::any_of(words.begin(), words.end(), [&lock](const auto& word) { return word.lock.counted_as() == lock; });
}

bool is_here(const std::filesystem::path& path) {
  const std::filesystem::path near = std::filesystem::proximate(path);
  return !near.empty() && near.is_relative() && *near.begin() != "..";
}

// Within the current folder the name is relative to it, as `git apply` and `patch -p1` want it; else to the root.
std::string name_in_diff(const std::filesystem::path& path, bool all_here) {
  return all_here ? std::filesystem::proximate(path).string() : path.relative_path().string();
}

void add_source_edit(AdvisedChange& change, const std::vector<LayoutEdit>& edits, int line_bytes, const trace::Reader& trace) {
  const SourceEdit edit = source_edit(edits, trace.symbols(), line_bytes, std::filesystem::last_write_time(trace.file()));
  const bool all_here =
      std::all_of(edit.files.begin(), edit.files.end(), [](const SourceText& file) { return is_here(file.path()); });
  change.patch = all_here ? "patch -p1" : "patch -d / -p1";
  for (const SourceText& file : edit.files) {
    change.diff += file.diff(name_in_diff(file.path(), all_here));
    change.edited.push_back({file.path(), file.text()});
  }
  change.place = edit.place;
  change.no_diff = edit.why_not;
  change.cautions = edit.cautions;
}

std::vector<Candidate> candidates_of(const MachineAdvice& machine, const std::vector<trace::WordLock>& words,
                                     const trace::Reader& trace) {
  std::vector<Candidate> found;
  const SharingReport& sharing = machine.sharing;
  if (sharing.again && sharing.again->change.is_gain()) {
    const bool all = sharing.again->name == kAllProposals;
    AdvisedChange change;
    std::vector<LayoutEdit> edits;
    for (const TriedProposal& tried : sharing.tried) {
      if (!all && tried.proposal.name != sharing.again->name) continue;
      edits.push_back(tried.proposal.edit);
      change.what += (change.what.empty() ? "" : "; ") + tried.proposal.sentence;
      change.edit += tried.proposal.drawing;
    }
    if (sharing.heap_shift > 0)
      change.what += fmt::format(" (shared only where malloc puts the block {} bytes further on)", sharing.heap_shift);
    add_source_edit(change, edits, sharing.line_bytes, trace);
    found.push_back({layout_change(sharing, sharing.again->name), std::move(change), layouts_of(sharing, sharing.again->name)});
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

// Shorter lines need less laid apart: what gains there is no change of its own, but the part of a larger one that was tried
// there.
bool is_part_of_another(const Candidate& candidate, const MachineAdvice& machine, std::vector<Candidate>& known) {
  if (candidate.layouts.empty()) return false;
  for (Candidate& larger : known) {
    std::vector<std::string>& missing = larger.change.not_tried_on;
    const auto place = std::find(missing.begin(), missing.end(), machine.sharing.machine);
    const bool has_it =
        std::includes(larger.layouts.begin(), larger.layouts.end(), candidate.layouts.begin(), candidate.layouts.end());
    auto gain = gain_on(machine, candidate.name);
    if (place == missing.end() || !has_it || !gain) continue;
    gain->part.assign(candidate.layouts.begin(), candidate.layouts.end());
    larger.change.gains.push_back(std::move(*gain));
    missing.erase(place);
    return true;
  }
  return false;
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
    if (!machine.sharing.lines.empty() && machine.sharing.tried.empty() && machine.sharing.cheap == 0)
      add("lines are shared falsely for which no change of a layout was found");
    if (machine.has_locks && !machine.locks) add("other locks, for no replay has finished");
  }
  return reasons;
}

std::string indented_block(std::string text) {
  constexpr std::size_t kIndent = 5;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos && at + 1 < text.size(); at += kIndent + 1)
    text.insert(at + 1, std::string(kIndent, ' '));
  return std::string(kIndent, ' ') + text + (text.ends_with("\n") ? "" : "\n");
}

// The diff, or the change as a sketch and why there is no diff.
std::string edit_text(const AdvisedChange& change, const Painter& paint) {
  if (change.diff.empty()) {
    std::string out = indented_block(change.edit);
    if (!change.place.empty()) out += paragraph("at " + change.place, 5, Colour::none, paint);
    if (!change.no_diff.empty()) out += paragraph("No diff: " + change.no_diff, 5, Colour::dim, paint);
    return out;
  }
  std::string out = indented_block(change.diff);
  for (const std::string& caution : change.cautions) out += paragraph("Check: " + caution + ".", 5, Colour::yellow, paint);
  if (!change.diff_file.empty())
    out += paragraph(fmt::format("Apply: {} < {}", change.patch, change.diff_file.string()), 5, Colour::cyan, paint);
  return out;
}

std::string change_text(std::size_t number, const AdvisedChange& change, std::size_t recordings, const Painter& paint) {
  std::string out = fmt::format("  {}. {}", number, wrapped_from(change.what, 5, Colour::bold, paint));
  for (const PredictedGain& gain : change.gains) {
    const Colour colour = gain.change.is_gain() ? Colour::green : gain.change.is_loss() ? Colour::red : Colour::none;
    const std::string text = throughput_text(gain.change);
    const std::string part = gain.part.empty() ? "" : fmt::format(", with {} alone", fmt::join(gain.part, " and "));
    const std::string where =
        fmt::format("on {}{}{}", gain.machine, gain.confirmed ? ", confirmed in other interleavings" : "", part);
    out += "       " + paint(colour, text) + " " + wrapped_from(where, 8 + width_of(text), Colour::none, paint);
  }
  if (recordings > 1) out += fmt::format("       advised by {} of {} recordings\n", change.recordings, recordings);
  for (const std::string& machine : change.not_tried_on) out += fmt::format("       not tried on {}\n", machine);
  return out + "\n" + edit_text(change, paint);
}

std::string rechecked_text(const AdvicePage& page, const Painter& paint) {
  std::string out;
  for (const Rechecked& it : page.rechecked) {
    const std::string verdict = !it.comparable() ? fmt::format("not comparable, for it has {} operations in place of {}",
                                                               grouped(it.operations), grouped(it.operations_before))
                                : it.is_within() ? "the prediction held"
                                : it.held()      ? "the prediction held within a factor of two"
                                                 : "the prediction did not hold";
    const std::string text = fmt::format("{}: with change {} compiled in and recorded again {}, predicted {}: {}", it.machine,
                                         it.change, throughput_text(it.gain_pct), text_of(it.predicted), verdict);
    out += paragraph(text, 2, it.comparable() && it.held() ? Colour::green : Colour::red, paint);
  }
  return out.empty() ? out : out + "\n";
}

ordered_json rechecked_json(const AdvicePage& page) {
  ordered_json list = ordered_json::array();
  for (const Rechecked& it : page.rechecked) {
    list.push_back({{"machine", it.machine},
                    {"change", it.change},
                    {"operations_before", it.operations_before},
                    {"operations", it.operations},
                    {"comparable", it.comparable()},
                    {"change_pct", rounded(it.gain_pct)},
                    {"predicted_pct", rounded(it.predicted.median_pct)},
                    {"predicted_low_pct", rounded(it.predicted.low_pct)},
                    {"predicted_high_pct", rounded(it.predicted.high_pct)},
                    {"held", it.held()}});
  }
  return list;
}

// "table.lbt", "5 recordings, table.lbt and others".
std::string recordings_text(const AdvicePage& page) {
  return page.recordings == 1 ? page.trace : fmt::format("{} recordings, {} and others", page.recordings, page.trace);
}

std::string seldom_text(const AdvicePage& page, const Painter& paint) {
  std::string out;
  for (const AdvisedChange& change : page.seldom) {
    const std::string text =
        fmt::format("Only in {} of {} recordings, so by how threads happened to meet there: {}, {} on {}", change.recordings,
                    page.recordings, change.what, text_of(change.gains.front().change), change.gains.front().machine);
    out += paragraph(text, 2, Colour::none, paint);
  }
  return out.empty() ? out : out + "\n";
}

std::string verdict(const AdvicePage& page) {
  const std::size_t shown = std::min(kMostChanges, page.changes.size());
  const bool unseen = trace::has_unseen_atomics(page.missing);
  if (shown > 0)
    return fmt::format("{} worth making, by replays of {}{}.", shown == 1 ? "One change is" : plural(shown, "change") + " are",
                       recordings_text(page), unseen ? ", which lacks atomic operations of the program" : "");
  if (!page.depends.empty())
    return fmt::format("{} is worth changing on all of these machines; what gains on one loses on another.",
                       unseen ? "No verdict, as atomic operations were not recorded: of what was, nothing" : "Nothing");
  if (unseen) return "No verdict: of what was recorded nothing is worth changing, but atomic operations were not recorded.";
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
                       {"confirmed", gain.confirmed},
                       {"part", gain.part}});
    }
    list.push_back({{"what", change.what},
                    {"edit", change.edit},
                    {"source", change.place},
                    {"diff", change.diff},
                    {"no_diff", change.no_diff},
                    {"cautions", change.cautions},
                    {"gains", std::move(gains)},
                    {"recordings", change.recordings},
                    {"not_tried_on", change.not_tried_on}});
  }
  return list;
}

}  // namespace

AdvicePage advice_page(const trace::Reader& trace, const std::vector<MachineAdvice>& machines,
                       const std::vector<trace::WordLock>& words, const std::vector<std::string>& missing) {
  AdvicePage page;
  page.trace = trace.file().string();
  page.missing = missing;
  for (const MachineAdvice& machine : machines) page.machines.push_back(machine.sharing.machine);
  // What is laid apart for the longest lines is apart on all machines.
  std::vector<const MachineAdvice*> by_line;
  for (const MachineAdvice& machine : machines) by_line.push_back(&machine);
  std::stable_sort(by_line.begin(), by_line.end(), [](const MachineAdvice* a, const MachineAdvice* b) {
    return a->sharing.line_bytes > b->sharing.line_bytes;
  });
  std::vector<Candidate> known;
  for (const MachineAdvice* machine : by_line) {
    for (Candidate& candidate : candidates_of(*machine, words, trace)) {
      const auto same = [&](const Candidate& it) { return it.name == candidate.name; };
      if (std::any_of(known.begin(), known.end(), same) || is_part_of_another(candidate, *machine, known)) continue;
      for (const MachineAdvice& each : machines) {
        if (const auto gain = gain_on(each, candidate.name)) {
          candidate.change.gains.push_back(*gain);
        } else {
          candidate.change.not_tried_on.push_back(each.sharing.machine);
        }
      }
      known.push_back(std::move(candidate));
    }
  }
  for (Candidate& candidate : known) {
    const bool loses = std::any_of(candidate.change.gains.begin(), candidate.change.gains.end(),
                                   [](const PredictedGain& gain) { return gain.change.is_loss(); });
    (loses ? page.depends : page.changes).push_back(std::move(candidate.change));
  }
  std::stable_sort(page.changes.begin(), page.changes.end(),
                   [](const AdvisedChange& a, const AdvisedChange& b) { return largest_gain(a) > largest_gain(b); });
  page.not_tried = not_tried_on(machines);
  return page;
}

void join_recordings(AdvicePage& page, const std::vector<AdvicePage>& others) {
  std::vector<AdvisedChange> all = std::move(page.changes);
  std::map<std::pair<std::string, std::string>, std::vector<OrdersChange>> gains;  // by change and machine
  const auto add_gains = [&gains](const AdvisedChange& change) {
    for (const PredictedGain& gain : change.gains) gains[{change.what, gain.machine}].push_back(gain.change);
  };
  std::for_each(all.begin(), all.end(), add_gains);
  for (const AdvicePage& other : others) {
    for (const AdvisedChange& change : other.changes) {
      add_gains(change);
      const auto known = std::find_if(all.begin(), all.end(), [&](const AdvisedChange& it) { return it.what == change.what; });
      if (known == all.end()) {
        all.push_back(change);
      } else {
        ++known->recordings;
      }
    }
    for (const std::string& missing : other.missing) {
      if (std::find(page.missing.begin(), page.missing.end(), missing) == page.missing.end()) page.missing.push_back(missing);
    }
  }
  page.recordings = others.size() + 1;
  page.changes.clear();
  for (AdvisedChange& change : all) {
    for (PredictedGain& gain : change.gains) {
      const std::vector<OrdersChange>& found = gains.at({change.what, gain.machine});
      std::vector<double> medians;
      for (const OrdersChange& it : found) {
        medians.push_back(it.median_pct);
        gain.change.low_pct = std::min(gain.change.low_pct, it.low_pct);
        gain.change.high_pct = std::max(gain.change.high_pct, it.high_pct);
      }
      gain.change.median_pct = median(medians);
    }
    (2 * change.recordings > page.recordings ? page.changes : page.seldom).push_back(std::move(change));
  }
  for (std::vector<AdvisedChange>* changes : {&page.changes, &page.seldom}) {
    std::stable_sort(changes->begin(), changes->end(),
                     [](const AdvisedChange& a, const AdvisedChange& b) { return largest_gain(a) > largest_gain(b); });
  }
  std::erase_if(page.depends, [&page](const AdvisedChange& it) {
    return std::any_of(page.changes.begin(), page.changes.end(),
                       [&it](const AdvisedChange& other) { return other.what == it.what; });
  });
}

bool Rechecked::comparable() const {
  constexpr double kOther = 0.05;
  const auto before = static_cast<double>(operations_before);
  return std::abs(static_cast<double>(operations) - before) <= kOther * before;
}

bool Rechecked::is_within() const {
  return gain_pct >= predicted.low_pct && gain_pct <= predicted.high_pct;
}

bool Rechecked::held() const {
  return gain_pct > 0 && gain_pct >= predicted.low_pct / 2 && gain_pct <= 2 * std::max(predicted.high_pct, kWorthIt);
}

void write_diffs(AdvicePage& page, const std::filesystem::path& directory) {
  for (std::size_t old = 1; std::filesystem::remove(directory / fmt::format("change-{}.diff", old)); ++old) continue;
  for (std::size_t i = 1; i <= page.changes.size(); ++i) {
    AdvisedChange& change = page.changes[i - 1];
    if (change.diff.empty()) continue;
    change.diff_file = directory / fmt::format("change-{}.diff", i);
    write_file(change.diff_file, change.diff);
  }
}

std::string advice_page_text(const AdvicePage& page, const Painter& paint) {
  std::string out = "  " + paint(Colour::bold, verdict(page)) + "\n\n";
  for (std::size_t i = 0; i < std::min(kMostChanges, page.changes.size()); ++i)
    out += change_text(i + 1, page.changes[i], page.recordings, paint) + "\n";
  if (!page.depends.empty()) out += "  Only on some machines:\n\n";
  for (std::size_t i = 0; i < std::min(kMostChanges, page.depends.size()); ++i)
    out += change_text(i + 1, page.depends[i], 1, paint) + "\n";
  out += rechecked_text(page, paint);
  out += seldom_text(page, paint);
  if (!page.not_tried.empty()) out += fmt::format("  Not tried: {}.\n\n", fmt::join(page.not_tried, "; "));
  out += not_seen_text(page.missing, paint);
  const std::string note = fmt::format(
      "Each gain is the median of paired replays in several orders of the same operations; in brackets is the 95 % interval of "
      "their geometric mean{}. The gains are for {} and for this input only.",
      page.recordings > 1 ? ", from the lowest to the highest end in any recording; the median is that of the recordings" : "",
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
          {"recordings", page.recordings},
          {"seldom", changes_json(page.seldom)},
          {"recheck", rechecked_json(page)},
          {"not_tried", page.not_tried},
          {"missing", page.missing}};
}

}  // namespace linebounce::sim
