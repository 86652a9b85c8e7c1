// Divides chosen misses into stages: what takes the time in each stage, and which other requests each wait was behind. The
// misses are of one kind and ordered by latency.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/coherence/step_listener.hpp"
#include "models/observer.hpp"
#include "sim/point/simulation_input.hpp"
#include "sim/steps/names.hpp"

namespace linebounce::sim {

struct MissChoice {
  std::optional<Source> kind = {};  // none: the source that costs the most time
  std::string line = {};            // OBJECT.FIELD, OBJECT, or the same for a structure; empty: all
  std::vector<int> percentiles = {50, 99};
};

// A source by its name in results or in tools for hardware: "remote_c2c", "remote HITM".
std::optional<Source> source_called(std::string_view name);
// "remote HITM", with the source's own name, for readers.
std::string title_of(Source source);

struct TakenStage {
  Stage stage;
  // What was waited for: how many uses of the resource began earlier and ended during the wait, and how many of these were
  // for the same line. -1: not a queue whose uses can be counted.
  int behind = -1;
  int same_line = 0;
};

struct ExplainedMiss {
  int percentile = 0;
  Miss miss = {};
  std::string object = {}, field = {}, function = {};
  int node = 0;         // the requester's
  bool joined = false;  // true if the requester's core had already requested the line
  std::vector<TakenStage> stages = {};

  [[nodiscard]] Tick queued() const;
};

struct ExplainedMisses {
  Source kind{};
  // Misses by source in the measured time; only those on the chosen line, if there is one.
  std::array<std::int64_t, kSources> counts{};
  std::vector<ExplainedMiss> misses = {};  // one for each percentile, in their order
  std::string tick_ns = {};                // "A/B"
  double ns_per_tick = 0;
};

// Runs the simulation twice in this process: first to find the misses, then to record their stages. `progress`, if set, is
// called from time to time with the share done of both runs, 0 to 1. Errors: SimulationFailure; ConfigError if no access to
// that line, or of that kind, has missed; it lists what has.
ExplainedMisses explain_misses(const SimulationInput& input, const MissChoice& choice,
                               const std::function<void(double)>& progress = {});

// A wait of a stage, or the travel that follows it.
struct WaterfallRow {
  std::string name;  // "directory", "bus arbitration"
  std::string at;    // "node 0's directory", "bus 1", "the link from node 0 to node 1"
  bool waits = false;
  Tick start = 0, ticks = 0;  // from the issue of the miss
  int behind = -1, same_line = 0;
  bool asks_again = false;  // for a wait: true if the request goes to the bus again afterwards
  std::string text = {};    // for a wait: "waits 640 ns behind 14 requests for the same line at node 0's directory"
};

// The rows in order of time, without gaps, so that they add up to the miss's latency.
std::vector<WaterfallRow> waterfall(const ExplainedMiss& miss, const Endpoints& endpoints, double ns_per_tick);

// Folds repeated rounds. A request that its node's controller defers goes to the bus again, perhaps many times. All rounds
// but the first and the last are combined into one, which adds up rows of the same name.
std::vector<WaterfallRow> folded(const std::vector<WaterfallRow>& rows);

}  // namespace linebounce::sim
