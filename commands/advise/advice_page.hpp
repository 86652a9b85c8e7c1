// The answer of `linebounce advise`: the recommended changes, the best first, and the evidence for each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "commands/advise/plain_build.hpp"
#include "commands/advise/source_edit.hpp"
#include "commands/advise/time_account.hpp"
#include "sim/replay/orders.hpp"
#include "sim/terminal/terminal.hpp"
#include "trace/limits.hpp"

namespace linebounce::sim {

// The gain of a change on one machine.
struct PredictedGain {
  std::string machine;
  OrdersChange change;
  bool confirmed = false;  // true if it also gains in orders that were not used to choose it
  // The layouts that were tried, if the trial changed fewer layouts than the advice; else empty.
  std::vector<std::string> part = {};
};

struct AdvisedChange {
  std::string what;        // "give each element of counts a line of its own: 8 elements of 8 bytes"
  std::string edit;        // C, or a sentence
  std::string place = {};  // the definition to change: "/src/counters.c:12"; empty: unknown
  // A diff of the source, with a/ and b/ before file names; empty: no_diff has the reason.
  std::string diff = {};
  std::string no_diff = {};                // why a change of a layout has no diff; empty if it has one, and for other changes
  std::vector<std::string> cautions = {};  // what the change may break, and the tool cannot check
  std::string patch = {};                  // the command that applies the diff
  std::filesystem::path diff_file = {};    // the diff's file
  std::vector<EditedSource> edited = {};   // the files with the diff applied
  std::string seen = {};     // "events is an event counter: 8000 additions, ..."; empty if the change is about no count
  std::string only_if = {};  // the condition that the program must meet; empty: the change is safe
  std::vector<std::string> parts = {};  // what the change affects: "layout node", "lock mutex", "count hits+0"
  std::size_t alternative_to = 0;       // number on the page of the first change that affects the same part; 0: none
  std::string remains = {};             // "of 240 000 transfers of lines 160 000 remain, most on `hits`"
  std::vector<PredictedGain> gains;     // one for each machine on which the change was tried
  std::vector<std::string> not_tried_on = {};
  std::size_t recordings = 1;  // how many of AdvicePage::recordings recommend the change
};

// On the machine where the change gains most.
const PredictedGain& largest_gain(const AdvisedChange& change);

// The gain of a recommended change on one machine, measured by applying its diff and recording the program again.
struct Rechecked {
  std::string machine;
  std::size_t change = 0;  // the change's number on the page, from 1
  OrdersChange predicted;
  double gain_pct = 0;
  std::uint64_t operations_before = 0, operations = 0;

  // True if the new recording has about as many operations as the old one. Otherwise the program did other work, and the
  // throughputs of the two cannot be compared.
  [[nodiscard]] bool comparable() const;
  [[nodiscard]] bool is_within() const;  // true if the gain lies in the predicted interval
  // True if the gain lies in the predicted interval, or is between half and twice the predicted median.
  [[nodiscard]] bool held() const;
};

struct AdvicePage {
  std::string trace;
  std::vector<std::string> machines;
  std::vector<TimeAccount> time;           // one for each machine on which a replay finished
  bool only_time = false;                  // no change was tried
  std::vector<AdvisedChange> changes;      // a confirmed gain on at least one machine, a loss on none; the largest gain first
  std::vector<AdvisedChange> depends;      // a confirmed gain on one machine, but a loss on another
  std::vector<AdvisedChange> conditional;  // as `changes`, but each is only safe under its condition AdvisedChange::only_if
  // Recommended by at most half of the recordings, so probably due to a rare order of threads.
  std::vector<AdvisedChange> seldom;
  std::size_t recordings = 1;      // number of recordings of the program that the page is based on
  std::vector<std::string> words;  // memory words that behave like locks, each with its classification
  // Changes that gained without being confirmed, and changes that gained no more than a recommended alternative.
  std::vector<std::string> also_gains;
  std::vector<std::string> no_help;       // what was tried and gains nothing
  std::vector<std::string> not_offered;   // locks that would break the program, each with the reason
  std::vector<std::string> not_tried;     // reasons why other changes were not tried
  double tries_otherwise_pct = 0;         // kTriesOtherwise: the largest of all machines' runs without a change
  std::vector<std::string> missing;       // sentences on what the trace does not contain
  std::vector<Explained> explained = {};  // with --plain: on machines that describe this computer
  std::vector<OddFunction> odd = {};      // with --plain
  std::string basis = {};                 // what sizes rest on, from pace_sentence(); empty: nothing to say
  trace::Limits limits;                   // those of them, and other facts, that limit the verdict
  std::vector<std::string> assumptions;   // sentences about the machines, from assumptions_of()
  std::vector<Rechecked> rechecked;       // results of applying the first change that has a diff, one for each machine
};

// Begins with what limits the verdict, and the verdict; then shows where the time goes, and at most three changes.
std::string advice_page_text(const AdvicePage& page, const Painter& paint);

// Schema linebounce.advise/1. Contains all changes.
nlohmann::ordered_json advice_page_json(const AdvicePage& page);

}  // namespace linebounce::sim
