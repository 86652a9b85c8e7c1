// The misses of one kind, ordered by latency, and some of them taken apart: the stages of each, what took the time in it, and
// what each wait was behind.
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
  std::optional<Source> kind = {};  // empty: the one that costs the most time
  std::string line = {};            // OBJECT.FIELD, OBJECT, or the same of a structure; empty: all
  std::vector<int> percentiles = {50, 99};
};

// A source by its name in the results, or by what tools for hardware call it: "remote_c2c", "remote HITM".
std::optional<Source> source_called(std::string_view name);
// "remote HITM" with the source's own name, for whoever reads the text.
std::string title_of(Source source);

struct TakenStage {
  Stage stage;
  // Others that the wait was for: uses of the resource that began earlier and ended in it; `same_line` of them were for the
  // line. -1: it is no queue that could be counted.
  int behind = -1;
  int same_line = 0;
};

struct ExplainedMiss {
  int percentile = 0;
  Miss miss = {};
  std::string object = {}, field = {}, function = {};
  int node = 0;         // of the requester
  bool joined = false;  // the requester's core had asked for the line before
  std::vector<TakenStage> stages = {};

  [[nodiscard]] Tick queued() const;
};

struct ExplainedMisses {
  Source kind{};
  std::array<std::int64_t, kSources> counts{};  // in the measured time, of the line if one was chosen
  std::vector<ExplainedMiss> misses = {};       // one for each percentile, in their order
  std::string tick_ns = {};                     // "A/B"
  double ns_per_tick = 0;
};

// Runs the simulation twice in this process, to find the misses and to record their stages. `progress`, if set, is called now
// and then with the share done of both, 0 to 1. Errors: SimulationFailure; ConfigError where nothing of that kind or line has
// missed, which names what has.
ExplainedMisses explain_misses(const SimulationInput& input, const MissChoice& choice,
                               const std::function<void(double)>& progress = {});

// A stage's wait, or what follows it.
struct WaterfallRow {
  std::string name;  // "directory", "bus arbitration"
  std::string at;    // "node 0's directory", "bus 1", "the link from node 0 to node 1"
  bool waits = false;
  Tick start = 0, ticks = 0;  // from the miss's issue
  int behind = -1, same_line = 0;
  bool asks_again = false;  // of a wait: behind it the request goes to the bus again
  std::string text = {};    // of a wait: "waits 640 ns behind 14 requests for the same line at node 0's directory"
};

// In the order of time, without gaps: they add up to the miss's latency.
std::vector<WaterfallRow> waterfall(const ExplainedMiss& miss, const Endpoints& endpoints, double ns_per_tick);

// A request that its node's controller has deferred goes to the bus again, perhaps many times: all rounds but the first and the
// last as one, each of whose rows adds up the rows of its name.
std::vector<WaterfallRow> folded(const std::vector<WaterfallRow>& rows);

}  // namespace linebounce::sim
