// The answer of `linebounce advise`: the changes worth making, the best first, and their evidence.
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
  bool confirmed = false;              // whether it also gains in orders that had no part in its choice
  std::vector<std::string> part = {};  // for a change that was tried only in part: the layouts that were
};

struct AdvisedChange {
  std::string what;                        // "give each element of counts a line of its own: 8 elements of 8 bytes"
  std::string edit;                        // C, or a sentence
  std::string place = {};                  // the definition to change: "/src/counters.c:12"; empty: unknown
  std::string diff = {};                   // a diff of the source, with a/ and b/ before the names; empty: see no_diff
  std::string no_diff = {};                // the reason, if a change of a layout has no diff
  std::vector<std::string> cautions = {};  // facts that the diff can't know
  std::string patch = {};                  // the command that applies the diff
  std::filesystem::path diff_file = {};    // the diff's file
  std::vector<EditedSource> edited = {};   // the files with the diff applied
  std::string seen = {};     // "events is an event counter: 8000 additions, ..."; empty if the change is about no count
  std::string only_if = {};  // what the program must not need; empty: it does the same as before
  std::vector<std::string> parts = {};  // the parts of the program that it changes: "layout node", "lock mutex", "count hits+0"
  std::size_t alternative_to = 0;       // number on the page of the first change that shares a part; 0: none
  std::string remains = {};             // "of 240 000 transfers of lines 160 000 remain, most on `hits`"
  std::vector<PredictedGain> gains;     // on each machine where it was tried
  std::vector<std::string> not_tried_on = {};
  std::size_t recordings = 1;  // how many of AdvicePage::recordings recommend it
};

// The gain of the changed program, recorded again.
struct Rechecked {
  std::string machine;
  std::size_t change = 0;  // number on the page, from 1
  OrdersChange predicted;
  double gain_pct = 0;
  std::uint64_t operations_before = 0, operations = 0;

  // Whether the new recording has about as many operations; otherwise it shows another program's throughput.
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
  std::vector<AdvisedChange> depends;      // confirmed on one machine, but a loss on another
  std::vector<AdvisedChange> conditional;  // as `changes`, but each gives something up: AdvisedChange::only_if
  std::vector<AdvisedChange> seldom;       // recommended by at most half of the recordings, so due to a rare order of threads
  std::size_t recordings = 1;              // how many recordings of the same program support this
  std::vector<std::string> words;          // words that behave like locks, with each one's classification
  std::vector<std::string> also_gains;     // what gained, but is not confirmed, or no more than what is recommended instead
  std::vector<std::string> no_help;        // tried changes that gain nothing, with what they change
  std::vector<std::string> not_offered;    // locks that would break the program, with the reason
  std::vector<std::string> not_tried;      // reasons why there may be more changes
  double tries_otherwise_pct = 0;          // kTriesOtherwise, the largest over all machines' runs without a change
  std::vector<std::string> missing;        // what the trace could not hold
  std::vector<std::string> assumptions;    // about the machines, worded by assumptions_of()
  std::vector<Rechecked> rechecked;        // the first change with a diff, on each machine
};

// At most three changes. The first line is the verdict, followed by where the time goes.
std::string advice_page_text(const AdvicePage& page, const Painter& paint);

// Schema linebounce.advise/1. Has all changes.
nlohmann::ordered_json advice_page_json(const AdvicePage& page);

}  // namespace linebounce::sim
