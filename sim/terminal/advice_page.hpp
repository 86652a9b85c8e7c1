// The answer of `linebounce advise`: the recommended changes, the best first, and the evidence for each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/studies/advice/source_edit.hpp"
#include "sim/studies/advice/time_account.hpp"
#include "sim/studies/replay/orders.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// The gain of a change on one machine.
struct PredictedGain {
  std::string machine;
  OrdersChange change;
  bool confirmed = false;              // true if it also gains in orders that were not used to choose it
  std::vector<std::string> part = {};  // the layouts that were tried, if only a part of the change was
};

struct AdvisedChange {
  std::string what;        // "give each element of counts a line of its own: 8 elements of 8 bytes"
  std::string edit;        // C, or a sentence
  std::string place = {};  // the definition to change: "/src/counters.c:12"; empty: unknown
  // A diff of the source, with a/ and b/ before file names; empty: no_diff has the reason.
  std::string diff = {};
  std::string no_diff = {};                // the reason, if a change of a layout has no diff
  std::vector<std::string> cautions = {};  // what the diff may break, and cannot check itself
  std::string patch = {};                  // the command that applies the diff
  std::filesystem::path diff_file = {};    // the diff's file
  std::vector<EditedSource> edited = {};   // the files with the diff applied
  std::string seen = {};     // "events is an event counter: 8000 additions, ..."; empty if the change is about no count
  std::string only_if = {};  // the condition that the program must meet; empty: the change is safe
  std::vector<std::string> parts = {};  // the parts of the program that it changes: "layout node", "lock mutex", "count hits+0"
  std::size_t alternative_to = 0;       // number on the page of the first change that affects the same part; 0: none
  std::string remains = {};             // "of 240 000 transfers of lines 160 000 remain, most on `hits`"
  std::vector<PredictedGain> gains;     // on each machine where it was tried
  std::vector<std::string> not_tried_on = {};
  std::size_t recordings = 1;  // number of AdvicePage::recordings that recommend it
};

// The gain that was measured by changing the program and recording it again.
struct Rechecked {
  std::string machine;
  std::size_t change = 0;  // number on the page, from 1
  OrdersChange predicted;
  double gain_pct = 0;
  std::uint64_t operations_before = 0, operations = 0;

  // True if the new recording has about as many operations as the old one. Otherwise the program has done different work, and
  // their throughputs cannot be compared.
  [[nodiscard]] bool comparable() const;
  [[nodiscard]] bool is_within() const;  // whether the gain is in the predicted interval
  // Whether the gain is between half and twice the predicted one.
  [[nodiscard]] bool held() const;
};

struct AdvicePage {
  std::string trace;
  std::vector<std::string> machines;
  std::vector<TimeAccount> time;           // of each machine on which a replay finished
  bool only_time = false;                  // no change was tried
  std::vector<AdvisedChange> changes;      // confirmed on at least one machine, and a loss on none; the largest gain first
  std::vector<AdvisedChange> depends;      // confirmed as a gain on one machine, but a loss on another
  std::vector<AdvisedChange> conditional;  // as `changes`, but each is only valid under a condition: AdvisedChange::only_if
  // Recommended by at most half of the recordings, so probably due to a rare order of threads.
  std::vector<AdvisedChange> seldom;
  std::size_t recordings = 1;      // number of recordings of the program that the page is based on
  std::vector<std::string> words;  // words that behave like locks, with each one's classification
  // Changes that gained, but were not confirmed, or gained no more than a recommended alternative.
  std::vector<std::string> also_gains;
  std::vector<std::string> no_help;      // changes that were tried and gain nothing, with what they change
  std::vector<std::string> not_offered;  // locks that would break the program, with reasons
  std::vector<std::string> not_tried;    // reasons why other changes were not tried
  double tries_otherwise_pct = 0;        // kTriesOtherwise, the largest over all machines' runs without a change
  std::vector<std::string> missing;      // what the trace could not hold
  std::vector<std::string> assumptions;  // about the machines, worded by assumptions_of()
  std::vector<Rechecked> rechecked;      // results of the first change with a diff, on each machine
};

// Shows at most three changes. The first line is the verdict; where the time goes follows.
std::string advice_page_text(const AdvicePage& page, const Painter& paint);

// Schema linebounce.advise/1. Contains all changes.
nlohmann::ordered_json advice_page_json(const AdvicePage& page);

}  // namespace linebounce::sim
