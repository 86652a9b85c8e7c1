// Divides chosen misses into stages: how long each takes, and behind which other requests it waits. The misses are of one
// source, at chosen percentiles of latency.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/steps/names.hpp"
#include "models/coherence/step_listener.hpp"
#include "models/observer.hpp"
#include "sim/point/simulation_input.hpp"

namespace linebounce::sim {

struct MissChoice {
  std::optional<Source> kind = {};  // none: the source that costs the most time in total
  std::string line = {};            // OBJECT.FIELD or OBJECT, or the same with a structure; empty: all lines
  std::vector<int> percentiles = {50, 99};
};

// The source with this name in results or in hardware tools: "remote_c2c", "remote HITM". None if there is none.
std::optional<Source> source_called(std::string_view name);
// The source's name for readers: "remote HITM", followed by its name in results.
std::string title_of(Source source);

struct TakenStage {
  Stage stage;
  // The queue that the stage waited in: how many uses of the resource began earlier and ended during the wait, and how many of
  // these were for the same line. -1: no queue whose uses can be counted.
  int behind = -1;
  int same_line = 0;
};

struct ExplainedMiss {
  int percentile = 0;
  Miss miss = {};
  std::string object = {}, field = {}, function = {};
  int node = 0;         // the requester's
  bool joined = false;  // true if the miss joined an earlier request of its core for the line
  std::vector<TakenStage> stages = {};

  [[nodiscard]] Tick queued() const;
};

struct ExplainedMisses {
  Source kind{};
  // Misses in the measured time by source; if a line was chosen, only those on it.
  std::array<std::int64_t, kSources> counts{};
  std::vector<ExplainedMiss> misses = {};  // one for each chosen percentile, in the same order
  std::string tick_ns = {};                // "A/B"
  double ns_per_tick = 0;
};

// Simulates twice in this process: first to choose misses, then to record their stages. `progress`, if set, is called now and
// then with the share done of both runs, 0 to 1. Errors: SimulationFailure; ConfigError if no access to that line or served by
// that source missed, with the legal choices.
ExplainedMisses explain_misses(const SimulationInput& input, const MissChoice& choice,
                               const std::function<void(double)>& progress = {});

// A row of the waterfall chart: a stage's wait, or the travel that follows.
struct WaterfallRow {
  std::string name;  // "directory", "bus arbitration"
  std::string at;    // "node 0's directory", "bus 1", "the link from node 0 to node 1"
  bool waits = false;
  Tick start = 0, ticks = 0;  // `start`: time since the miss was issued
  int behind = -1, same_line = 0;
  bool asks_again = false;  // for a wait: true if the request must then go to the bus once more
  std::string text = {};    // for a wait: "waits 640 ns behind 14 requests for the same line at node 0's directory"
};

// The rows in the order of time, without gaps: they add up to the miss's latency.
std::vector<WaterfallRow> waterfall(const ExplainedMiss& miss, const Endpoints& endpoints, double ns_per_tick);

// Combines repeated rounds. A request that its node's controller defers returns to the bus, possibly many times. The first and
// last rounds stay; those between become one, with times added up by row name.
std::vector<WaterfallRow> folded(const std::vector<WaterfallRow>& rows);

}  // namespace linebounce::sim
