#include "commands/advise/advised_changes.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "models/text/template_arguments.hpp"
#include "sim/lines/rank_correlation.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::sim {
namespace {

// A change that gained on at least one machine. Changes are matched across machines by name.
struct Candidate {
  std::string name;
  AdvisedChange change;
  std::set<std::string> layouts = {};  // empty for a lock
};

// The layouts that one trial changes: a proposal changes one layout, and the trial of all proposals changes theirs.
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

// " (runs as ttas, because nobody waited)" for a lock that was recognised from a word; else empty.
std::string classification_of(const std::vector<trace::WordLock>& words, const std::string& lock) {
  const auto word = std::ranges::find_if(words, [&lock](const auto& it) { return it.lock.counted_as() == lock; });
  return word == words.end() ? "" : fmt::format(" ({})", trace::classification(*word));
}

bool is_here(const std::filesystem::path& path) {
  const std::filesystem::path near = std::filesystem::proximate(path);
  return !near.empty() && near.is_relative() && *near.begin() != "..";
}

// A path for a diff. `all_here`: all files of the diff are below the current folder, and paths are relative to it, as `git
// apply` and `patch -p1` expect. Otherwise, paths are relative to the root.
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

// What the programmer must check before another lock may take the place of the recorded one. The program must meet it in every
// run, and a recording shows only one.
std::vector<std::string> cautions_of(const std::string& recorded, const std::string& algorithm) {
  using namespace workloads;
  const LockTraits &was = find_lock(recorded).traits, &is = find_lock(algorithm).traits;
  std::vector<std::string> cautions;
  if (!keep_writers_out(is.readers))
    cautions.emplace_back(
        "a reader then runs beside a writer. What it uses may not be freed or moved meanwhile, as a hash table, a vector or a "
        "tree does when it grows or loses an element, even if none did in this recording");
  if (is.readers == Readers::never_wait)
    cautions.emplace_back(
        "no writer was recorded. A writer has to build a new version beside the old one, publish it with one store, and free "
        "the old one after a grace period");
  if (was.readers != Readers::one_by_one && (is.readers == Readers::one_by_one || !is.readers_nest))
    cautions.emplace_back("no thread takes the lock as a reader while it has it as one: it would wait for itself");
  if (was.sleeps && !is.sleeps)
    cautions.emplace_back("no thread sleeps or waits for a device while it has the lock, for all others spin meanwhile");
  if (!is.fifo && is.readers == Readers::one_by_one)
    cautions.emplace_back("it does no harm if others pass a waiting thread many times: the order of waiting is not kept");
  cautions.push_back(fmt::format(
      "what else the program does with the lock, such as a condition variable or a try with a time limit, works with {}",
      algorithm));
  return cautions;
}

// The algorithm that the lock had in replays as recorded.
const std::string& replayed_algorithm(const LockComparison& comparison, const std::string& lock) {
  const auto ranking = std::ranges::find(comparison.locks, lock, &LockRanking::lock);
  return std::ranges::find_if(ranking->trials, &LockTrial::recorded)->algorithm;
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
    const auto tried = std::ranges::find_if(
        sharing.tried, [&](const TriedProposal& it) { return all || it.proposal.name == sharing.again->name; });
    if (tried == sharing.tried.end()) return found;  // the runs of all together have finished, but of none alone
    change.remains =
        remains_text(tried->misses_before, all ? sharing.all_misses_after : tried->misses_after, machine, change.what);
    if (sharing.heap_shift > 0)
      change.what += fmt::format(" (shared only where malloc puts the block {} bytes further on)", sharing.heap_shift);
    for (const std::string& layout : layouts_of(sharing, sharing.again->name)) change.parts.push_back("layout " + layout);
    add_source_edit(change, edits, sharing.line_bytes, trace);
    found.push_back({layout_change(sharing, sharing.again->name), std::move(change), layouts_of(sharing, sharing.again->name)});
  }
  if (machine.locks && machine.locks->again && machine.locks->again->change.is_gain()) {
    const LockReplacement& replacement = machine.locks->again->replacement;
    found.push_back(
        {fmt::format("lock {} {}", replacement.lock, replacement.algorithm),
         {.what = fmt::format("replace the lock {}{} by {}", replacement.lock,
                              classification_of(words, replacement.lock).empty() ? "" : " (a word that behaves like one)",
                              replacement.algorithm),
          .edit = without_template_arguments(advice(*machine.locks)) + "\n",
          .cautions = cautions_of(replayed_algorithm(*machine.locks, replacement.lock), replacement.algorithm),
          .parts = {"lock " + replacement.lock},
          .gains = {}}});
  }
  return found;
}

// The change's gain on a machine. None if it was not tried there, or its replays did not finish.
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

// A machine with shorter lines may need only part of a change. If `candidate` is part of a known change that was not tried on
// this machine, its gain is added to that change as a partial one. Returns true if so; the candidate is then not listed
// separately.
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

double largest_gain_pct(const AdvisedChange& change) {
  return largest_gain(change).change.median_pct;
}

// Says why further changes may exist that were not tried.
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

// Names replacements of important locks that would break the program: "for table_lock seqlock, because ...".
std::vector<std::string> not_offered_on(const std::vector<MachineAdvice>& machines) {
  std::vector<std::string> sentences;
  for (const MachineAdvice& machine : machines) {
    if (!machine.locks) continue;
    for (const LockRanking& lock : machine.locks->locks) {
      for (const std::string& why : lock.not_offered) {
        const std::string sentence = fmt::format("for {} {}", lock.lock, why);
        if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
      }
    }
  }
  return sentences;
}

// Lists changes that were replayed but not recommended: layouts, counters, and for each lock the best other algorithm.
class NotAdvised {
 public:
  NotAdvised(const AdvicePage& page, const std::vector<trace::WordLock>& words) : page_(page), words_(words) {}

  void add(const MachineAdvice& machine) {
    const std::string& name = machine.sharing.machine;
    for (const TriedProposal& tried : machine.sharing.tried) add(tried.proposal.sentence, tried.change, name);
    if (machine.sharing.cheap > 0)
      add(no_help_, "changes of layouts that are not worth a replay",
          fmt::format("{}, whose lines' misses take {:.2f} % of the run", machine.sharing.cheap, machine.sharing.cheap_pct),
          name);
    for (const TriedCount& tried : machine.counts) add(tried.cure.what, tried.change, name);
    if (!machine.locks) return;
    for (const LockRanking& lock : machine.locks->locks) {
      const LockTrial* best = nullptr;
      for (const LockTrial& trial : lock.trials) {
        if (!trial.recorded && (best == nullptr || trial.change.median_pct > best->change.median_pct)) best = &trial;
      }
      if (best != nullptr && !is_advised("replace the lock " + best->lock))
        add(best->change.is_gain() ? also_gains_ : no_help_,
            fmt::format("other locks for {}{}", best->lock, classification_of(words_, best->lock)),
            fmt::format("the best, {}{}, {}", best->algorithm,
                        can_be_had(best->algorithm, machine.locks->of_user_program, machine.locks->from_files)
                            ? ""
                            : ", which no library has",
                        text_of(best->change)),
            name);
    }
  }

  [[nodiscard]] std::vector<std::string> also_gains() const { return sentences(also_gains_); }
  [[nodiscard]] std::vector<std::string> no_help() const { return sentences(no_help_); }

 private:
  using Tried = std::vector<std::pair<std::string, std::vector<std::string>>>;  // a change; its results by machine

  static std::vector<std::string> sentences(const Tried& tried) {
    std::vector<std::string> all;
    for (const auto& [what, results] : tried) all.push_back(fmt::format("{}: {}", what, fmt::join(results, ", ")));
    return all;
  }

  void add(const std::string& what, const OrdersChange& change, const std::string& machine) {
    add(change.is_gain() ? also_gains_ : no_help_, what, text_of(change), machine);
  }
  void add(Tried& tried, const std::string& what, const std::string& result, const std::string& machine) {
    if (is_advised(what)) return;
    auto known = std::ranges::find_if(tried, [&what](const auto& it) { return it.first == what; });
    if (known == tried.end()) known = tried.insert(tried.end(), {what, {}});
    known->second.push_back(fmt::format("{} on {}", result, machine));
  }
  // True if the layout or lock is recommended, alone or as part of a change.
  [[nodiscard]] bool is_advised(const std::string& what) const {
    const auto has_it = [&what](const AdvisedChange& change) { return change.what.find(what) != std::string::npos; };
    const auto is_it = [&what](const AdvisedChange& change) { return change.what == what; };
    return std::ranges::any_of(page_.changes, has_it) || std::ranges::any_of(page_.conditional, is_it) ||
           std::ranges::any_of(page_.depends, [&](const auto& it) { return it.only_if.empty() ? has_it(it) : is_it(it); });
  }

  const AdvicePage& page_;
  const std::vector<trace::WordLock>& words_;
  Tried also_gains_, no_help_;  // both ordered as on the first machine
};

std::vector<std::string> parts_of(const CountCure& cure) {
  std::vector<std::string> parts;
  for (const workloads::CountChoice& choice : cure.choices)
    parts.push_back(fmt::format("count {}+{}", choice.layout, choice.offset));
  return parts;
}

// Sets `alternative_to` of each change to numbers as shown on the page, which lists unconditional changes first.
void find_alternatives(AdvicePage& page) {
  std::vector<AdvisedChange*> numbered;
  for (std::vector<AdvisedChange>* changes : {&page.changes, &page.conditional}) {
    for (AdvisedChange& change : *changes) numbered.push_back(&change);
  }
  for (std::size_t i = 1; i < numbered.size(); ++i) {
    const auto overlaps = [&](const AdvisedChange* other) {
      return std::ranges::any_of(numbered[i]->parts, [other](const std::string& part) {
        return std::ranges::find(other->parts, part) != other->parts.end();
      });
    };
    const auto first = std::find_if(numbered.begin(), numbered.begin() + static_cast<std::ptrdiff_t>(i), overlaps);
    const std::size_t number = first - numbered.begin();
    numbered[i]->alternative_to = number == i ? 0 : number + 1;
  }
}

// Counters of another kind that gain on at least one machine.
std::vector<AdvisedChange> conditional_changes(const std::vector<MachineAdvice>& machines) {
  std::vector<AdvisedChange> changes;
  for (const MachineAdvice& machine : machines) {
    for (const TriedCount& tried : machine.counts) {
      auto change = std::ranges::find_if(changes, [&](const AdvisedChange& it) { return it.what == tried.cure.what; });
      if (change == changes.end()) {
        change = changes.insert(changes.end(), AdvisedChange{.what = tried.cure.what,
                                                             .edit = tried.cure.sketch,
                                                             .place = tried.cure.source,
                                                             .seen = tried.cure.seen,
                                                             .only_if = tried.cure.only_if,
                                                             .parts = parts_of(tried.cure),
                                                             .remains = remains_text(tried.misses_before, tried.misses_after,
                                                                                     machine, tried.cure.what),
                                                             .gains = {}});
      }
      change->gains.push_back({machine.sharing.machine, tried.change, tried.confirmed});
    }
  }
  std::erase_if(changes,
                [](const AdvisedChange& change) { return std::ranges::none_of(change.gains, &PredictedGain::confirmed); });
  std::ranges::stable_sort(changes, std::ranges::greater{}, largest_gain_pct);
  return changes;
}

}  // namespace

std::string remains_text(double before, double after, const MachineAdvice& machine, const std::string& what) {
  const std::string was = grouped(std::llround(before)), is = grouped(std::llround(after));
  std::string text = after <= before ? fmt::format("On {} {} of {} transfers of lines remain", machine.sharing.machine, is, was)
                                     : fmt::format("On {} there are more transfers of lines, {} instead of {}",
                                                   machine.sharing.machine, is, was);
  if (machine.time) {
    const auto left = std::ranges::find_if(machine.time->shares, [&what](const TimeShare& share) {
      const bool moves = share.what == TimeClass::lock || share.what == TimeClass::false_sharing ||
                         share.what == TimeClass::true_sharing || share.what == TimeClass::communication;
      return moves && what.find(share.name.substr(0, share.name.find('.'))) == std::string::npos;
    });
    if (left != machine.time->shares.end()) text += fmt::format(", most on {}", left->name);
  }
  return text + ".";
}

AdvicePage advice_page(const trace::Reader& trace, const std::vector<MachineAdvice>& machines,
                       const std::vector<trace::WordLock>& words, const std::vector<std::string>& missing) {
  AdvicePage page;
  page.trace = trace.file().string();
  page.missing = missing;
  for (const MachineAdvice& machine : machines) {
    page.machines.push_back(machine.sharing.machine);
    const std::vector<std::string>& assumptions = machine.sharing.assumptions;
    page.assumptions.insert(page.assumptions.end(), assumptions.begin(), assumptions.end());
    const double of_locks = machine.locks ? machine.locks->tries_otherwise_pct : 0;
    page.tries_otherwise_pct = std::max({page.tries_otherwise_pct, machine.sharing.tries_otherwise_pct, of_locks});
    if (machine.time) page.time.push_back(*machine.time);
  }
  // Sorts machines by line size, the largest first: fields that are separated for long lines are also separated for shorter
  // ones.
  std::vector<const MachineAdvice*> by_line;
  for (const MachineAdvice& machine : machines) by_line.push_back(&machine);
  std::stable_sort(by_line.begin(), by_line.end(), [](const MachineAdvice* a, const MachineAdvice* b) {
    return a->sharing.line_bytes > b->sharing.line_bytes;
  });
  for (const trace::WordLock& word : words) {
    const std::string sentence = fmt::format("{} {}", word.lock.counted_as(), trace::classification(word));
    if (std::ranges::find(page.words, sentence) == page.words.end()) page.words.push_back(sentence);
  }
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
  const auto loses = [](const AdvisedChange& change) {
    return std::ranges::any_of(change.gains, [](const PredictedGain& gain) { return gain.change.is_loss(); });
  };
  for (Candidate& candidate : known)
    (loses(candidate.change) ? page.depends : page.changes).push_back(std::move(candidate.change));
  for (AdvisedChange& change : conditional_changes(machines))
    (loses(change) ? page.depends : page.conditional).push_back(std::move(change));
  std::stable_sort(page.changes.begin(), page.changes.end(),
                   [](const AdvisedChange& a, const AdvisedChange& b) { return largest_gain_pct(a) > largest_gain_pct(b); });
  find_alternatives(page);
  NotAdvised others(page, words);
  for (const MachineAdvice& machine : machines) others.add(machine);
  page.also_gains = others.also_gains();
  page.no_help = others.no_help();
  page.not_offered = not_offered_on(machines);
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
  for (const AdvicePage& other : others) page.limits.add(other.limits);
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
                     [](const AdvisedChange& a, const AdvisedChange& b) { return largest_gain_pct(a) > largest_gain_pct(b); });
  }
  find_alternatives(page);
  std::erase_if(page.depends, [&page](const AdvisedChange& it) {
    return std::any_of(page.changes.begin(), page.changes.end(),
                       [&it](const AdvisedChange& other) { return other.what == it.what; });
  });
  if (!page.limits.may_reverse()) return;
  for (auto* changes : {&page.changes, &page.depends, &page.conditional, &page.seldom}) changes->clear();
}

}  // namespace linebounce::sim
