// The misses of one kind, ordered by latency, some of them taken apart into stages: what took the time in each, and what each
// wait was behind.
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
  // What the wait was for: uses of the resource that began earlier and ended during the wait; `same_line` of them were for the
  // same line. -1: not a queue that can be counted.
  int behind = -1;
  int same_line = 0;
};

struct ExplainedMiss {
  int percentile = 0;
  Miss miss = {};
  std::string object = {}, field = {}, function = {};
  int node = 0;         // the requester's
  bool joined = false;  // whether the requester's core had already requested the line
  std::vector<TakenStage> stages = {};

  [[nodiscard]] Tick queued() const;
};

struct ExplainedMisses {
  Source kind{};
  std::array<std::int64_t, kSources> counts{};  // in the measured time; only for the chosen line, if there is one
  std::vector<ExplainedMiss> misses = {};       // one for each percentile, in their order
  std::string tick_ns = {};                     // "A/B"
  double ns_per_tick = 0;
};

// Runs the simulation twice in this process: to find the misses, and to record their stages. `progress`, if set, is called now
// and then with the share done of both, 0 to 1. Errors: SimulationFailure; ConfigError if nothing of that kind or line has
// missed, listing what has.
ExplainedMisses explain_misses(const SimulationInput& input, const MissChoice& choice,
                               const std::function<void(double)>& progress = {});

// A stage's wait, or its travel after that.
struct WaterfallRow {
  std::string name;  // "directory", "bus arbitration"
  std::string at;    // "node 0's directory", "bus 1", "the link from node 0 to node 1"
  bool waits = false;
  Tick start = 0, ticks = 0;  // from the issue of the miss
  int behind = -1, same_line = 0;
  bool asks_again = false;  // for a wait: whether the request goes to the bus again afterwards
  std::string text = {};    // for a wait: "waits 640 ns behind 14 requests for the same line at node 0's directory"
};

// In the order of time, without gaps, so that they add up to the miss's latency.
std::vector<WaterfallRow> waterfall(const ExplainedMiss& miss, const Endpoints& endpoints, double ns_per_tick);

// A request that its node's controller defers goes to the bus again, perhaps many times. All rounds but the first and the last
// become one, in which each row adds up the rows of its name.
std::vector<WaterfallRow> folded(const std::vector<WaterfallRow>& rows);

}  // namespace linebounce::sim
