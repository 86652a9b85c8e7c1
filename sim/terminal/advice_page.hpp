// What `linebounce advise` says: the changes worth making, the best first, and what that rests on.
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

// What a change would gain on one machine.
struct PredictedGain {
  std::string machine;
  OrdersChange change;
  bool confirmed = false;              // a gain in orders that had no part in its choice, too
  std::vector<std::string> part = {};  // of a change that was tried in part only: the layouts that were
};

struct AdvisedChange {
  std::string what;                        // "give each element of counts a line of its own: 8 elements of 8 bytes"
  std::string edit;                        // C, or a sentence
  std::string place = {};                  // of the definition to change: "/src/counters.c:12"; empty: not known
  std::string diff = {};                   // of the source, with a/ and b/ before the names; empty: see no_diff
  std::string no_diff = {};                // why there is none; empty of changes that are none of a layout
  std::vector<std::string> cautions = {};  // what the diff can't know
  std::string patch = {};                  // the command that applies it
  std::filesystem::path diff_file = {};    // where the diff was written
  std::vector<EditedSource> edited = {};   // the files as the diff leaves them
  std::string seen = {};                   // "events is an event counter: 8000 additions, ..."; empty: of no count
  std::string only_if = {};                // what the program must not need; empty: it does the same as before
  std::vector<std::string> parts = {};     // of the program that it changes: "layout node", "lock mutex", "count hits+0"
  std::size_t alternative_to = 0;          // number on the page of the first change that has a part of it; 0: none has
  std::string remains = {};                // "of 240 000 transfers of lines 160 000 remain, most on `hits`"
  std::vector<PredictedGain> gains;        // on each machine where it was tried
  std::vector<std::string> not_tried_on = {};
  std::size_t recordings = 1;  // of AdvicePage::recordings, those that advise it
};

// What the changed program gained when it was recorded again.
struct Rechecked {
  std::string machine;
  std::size_t change = 0;  // its place on the page, from 1
  OrdersChange predicted;
  double gain_pct = 0;
  std::uint64_t operations_before = 0, operations = 0;

  // With much more or less to do it is another program's throughput.
  [[nodiscard]] bool comparable() const;
  [[nodiscard]] bool is_within() const;  // the predicted interval
  // Between half and twice of what was predicted.
  [[nodiscard]] bool held() const;
};

struct AdvicePage {
  std::string trace;
  std::vector<std::string> machines;
  std::vector<TimeAccount> time;           // where it goes, on each machine where a replay ended
  bool only_time = false;                  // no change was tried
  std::vector<AdvisedChange> changes;      // confirmed on a machine at least, and a loss on none; the largest gain first
  std::vector<AdvisedChange> depends;      // confirmed on one machine, but a loss on another
  std::vector<AdvisedChange> conditional;  // likewise as `changes`, but each gives something up: AdvisedChange::only_if
  std::vector<AdvisedChange> seldom;       // advised by half of the recordings at most: threads met as they seldom do
  std::size_t recordings = 1;              // of the same program, that this rests on
  std::vector<std::string> words;          // words that behave like locks, with how each was classified
  std::vector<std::string> also_gains;     // what gained, but is not confirmed, or no more than what is advised in its place
  std::vector<std::string> no_help;        // what was tried and gains nothing, with what it changes
  std::vector<std::string> not_offered;    // locks that would break the program, with the reason
  std::vector<std::string> not_tried;      // why there may be more
  double tries_otherwise_pct = 0;          // kTriesOtherwise, the largest of all machines' runs without a change
  std::vector<std::string> missing;        // what the trace could not hold
  std::vector<std::string> assumptions;    // about the machines, as assumptions_of() words them
  std::vector<Rechecked> rechecked;        // the first change with a diff, on each machine
};

// Three changes at most. The first line is the verdict, and below it is where the time goes.
std::string advice_page_text(const AdvicePage& page, const Painter& paint);

// Schema linebounce.advise/1. All changes.
nlohmann::ordered_json advice_page_json(const AdvicePage& page);

}  // namespace linebounce::sim
