#include "commands/steps/recorded_steps.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "models/failure.hpp"
#include "sim/config/lua_files.hpp"

namespace linebounce::sim {
namespace {

// Sort keys of steps. Within a tick, the engine reports steps of different places or lines in any order, and a core that runs
// ahead reports early. A key depends only on the run, not on the engine's speed-ups.
class Order {
 public:
  explicit Order(const RecordedSteps& run)
      : line_bytes_(run.facts.line_bytes),
        first_data_(run.table(Controller::cache).base_events[kData].first),
        atomic_(run.table(Controller::cache).base_events[run.input.protocols.bus.atomic].first) {
    for (const CpuPlace& place : run.places) {
      core_of_cpu_.push_back(place.core);
      const std::size_t core = place.core;
      if (core >= bus_of_core_.size()) bus_of_core_.resize(core + 1);
      bus_of_core_[core] = place.bus;
    }
  }

  using Key = std::tuple<Tick, bool, std::uint64_t, int, int, int>;
  [[nodiscard]] Key key(const RunStep& step) const {
    switch (step.kind) {
      case RunStepKind::row: {
        const auto controller = static_cast<Controller>(step.what);
        // A cache's rows for Load, Store, Evict and Atomic are steps of its core; other rows come from outside.
        const bool of_processor = step.event < first_data_ || step.event == atomic_;
        if (controller == Controller::cache && of_processor) return own(step, step.agent, 1, 0);
        return {step.time, false, step.where, 1, kind_of(controller), place_of(controller, step.agent)};
      }
      case RunStepKind::access: {
        if (!step.ordered) return own(step, step.agent, 1, 0);
        const std::uint64_t line = step.where / static_cast<Address>(line_bytes_);
        return {step.time, false, line, 1, kind_of(Controller::cache), place_of(Controller::cache, step.agent)};
      }
      case RunStepKind::directory: return {step.time, false, step.where, 1, kind_of(Controller::directory), step.agent};
      // Has the key of the row in which the copy takes the data, and so stays right after that row.
      case RunStepKind::data:
        return {step.time, false, step.where, 1, kind_of(keeper(step.from)), place_of(keeper(step.from), step.from.number)};
      case RunStepKind::message:
        return {step.time, false, step.where, is_answer(step) ? 2 : 0, sender_kind(step), sender_number(step)};
      case RunStepKind::operation: return own(step, core(step.cpu), 0, step.cpu);
      case RunStepKind::buffer: return own(step, core(step.cpu), 1, 0);
    }
    return {};
  }

 private:
  static Key own(const RunStep& step, int core, int rank, int cpu) {
    return {step.time, true, static_cast<std::uint64_t>(core), rank, cpu, 0};
  }
  [[nodiscard]] int core(int cpu) const { return core_of_cpu_[cpu]; }
  // A bus reports all rows of one order step in their order, so they share one kind.
  static int kind_of(Controller controller) {
    switch (controller) {
      case Controller::directory: return 1;
      case Controller::group: return 2;
      default: return 0;
    }
  }
  [[nodiscard]] int place_of(Controller controller, int agent) const {
    return controller == Controller::cache ? bus_of_core_[agent] : agent;
  }
  static Controller keeper(const Endpoint& endpoint) {
    switch (endpoint.kind) {
      case Endpoint::Kind::cache: return Controller::cache;
      case Endpoint::Kind::directory: return Controller::directory;
      case Endpoint::Kind::group: return Controller::group;
      case Endpoint::Kind::controller: return Controller::node;
      default: return Controller::memory;
    }
  }
  [[nodiscard]] int sender_number(const RunStep& step) const {
    const bool cache = step.from.kind == Endpoint::Kind::cache;
    return cache ? bus_of_core_[step.from.number] : step.from.number;
  }
  // True for a bus's answer, which rows of the same order step cause. Requests and packets leave at least one tick after the
  // row that sends them.
  static bool is_answer(const RunStep& step) {
    const auto what = static_cast<SentMessage::What>(step.what);
    return what != SentMessage::What::request && what != SentMessage::What::again && what != SentMessage::What::packet;
  }
  // Together with the sender's number, keeps each sender's order: 0 for messages on a bus, otherwise the kind of endpoint
  // that sends the packet.
  static int sender_kind(const RunStep& step) {
    if (static_cast<SentMessage::What>(step.what) != SentMessage::What::packet) return 0;
    return 1 + static_cast<int>(step.from.kind);
  }

  int line_bytes_;
  EventId first_data_;
  EventId atomic_;
  std::vector<int> core_of_cpu_;
  std::vector<int> bus_of_core_;
};

// Sorts by time. Within a tick, effects from outside a core come before the core's own steps, as in the machine. Effects are
// sorted by line: first requests and packets, then rows, then a bus's answers; each bus, directory or group keeps its own
// order. The cores' own steps are sorted by core, each core in its own order.
void put_in_order(RecordedSteps& run) {
  const Order order(run);
  std::ranges::stable_sort(run.steps, [&order](const RunStep& a, const RunStep& b) { return order.key(a) < order.key(b); });
}

// Keeps the first `most` steps; data that copies take does not count. A message that would arrive after the last kept step is
// marked as not arrived.
void cut_behind(RecordedSteps& run, std::size_t most) {
  std::size_t counted = 0;
  const auto beyond = std::ranges::find_if(
      run.steps, [&counted, most](const RunStep& step) { return step.kind != RunStepKind::data && ++counted > most; });
  run.steps.erase(beyond, run.steps.end());
  run.cut = true;
  if (run.steps.empty()) return;
  const Tick last = run.steps.back().time;
  for (RunStep& step : run.steps) {
    if (step.kind == RunStepKind::message && step.arrives > last) step.arrives = kNever;
  }
}

// ---- accessed words, and their values in every copy that takes data ----

// Bytes of each copy, as far as they are known. A copy is identified by its keeper: a cache, a controller or memory.
class KnownBytes {
 public:
  void set(const Endpoint& keeper, Address address, int bytes, Value value) {
    for (int i = 0; i < bytes; ++i) bytes_[key(keeper, address, i)] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  [[nodiscard]] std::optional<Value> get(const Endpoint& keeper, Address address, int bytes) const {
    Value value = 0;
    for (int i = 0; i < bytes; ++i) {
      const auto found = bytes_.find(key(keeper, address, i));
      if (found == bytes_.end()) return std::nullopt;
      value |= Value{found->second} << (8 * i);
    }
    return value;
  }

 private:
  using Key = std::tuple<Endpoint::Kind, int, Address>;
  static Key key(const Endpoint& keeper, Address address, int byte) {
    return {keeper.kind, keeper.number, address + static_cast<Address>(byte)};
  }
  std::map<Key, std::uint8_t> bytes_;
};

Value value_at(const std::vector<std::byte>& taken, std::size_t begin, int bytes) {
  Value value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<Value>(std::to_integer<std::uint8_t>(taken[begin + i])) << (8 * i);
  return value;
}

// Forgets words that no remaining step uses, for example because they were accessed after the limit.
void keep_known_words(RecordedSteps& run) {
  std::set<std::pair<Address, int>> used;
  for (const RunStep& step : run.steps) {
    const bool of_word =
        step.kind == RunStepKind::access || step.kind == RunStepKind::operation || step.kind == RunStepKind::buffer;
    if (of_word && step.bytes > 0) used.emplace(step.where, step.bytes);
  }
  std::erase_if(run.facts.words, [&used](const auto& word) { return !used.contains(word.first); });
}

// Replaces each step in which a copy takes a line's data by one step for each known word of the line. For memory, and
// controllers that act for it, only changed words get a step. `taken`: from StepRecorder::taken(). REQUIRES: the steps are
// sorted.
void tell_words_of_data(RecordedSteps& run, const std::vector<std::byte>& taken) {
  const auto line_bytes = static_cast<Address>(run.facts.line_bytes);
  KnownBytes known;
  std::vector<RunStep> steps;
  steps.reserve(run.steps.size());
  for (const RunStep& step : run.steps) {
    if (step.kind == RunStepKind::access && !step.far)
      known.set({Endpoint::Kind::cache, step.agent}, step.where, step.bytes, step.fresh);
    if (step.kind != RunStepKind::data) {
      steps.push_back(step);
      continue;
    }
    const Address begin = step.where * line_bytes;
    const auto end = run.facts.words.lower_bound({begin + line_bytes, 0});
    for (auto word = run.facts.words.lower_bound({begin, 0}); word != end; ++word) {
      const auto& [address, bytes] = word->first;
      RunStep one = step;
      one.where = address;
      one.bytes = static_cast<std::uint8_t>(bytes);
      one.fresh = value_at(taken, step.fresh + (address - begin), bytes);
      const std::optional<Value> before = known.get(step.from, address, bytes);
      known.set(step.from, address, bytes, one.fresh);
      // A cache gets a step even for an unchanged word, because it may have lost its copy in between.
      if (before == one.fresh && step.from.kind != Endpoint::Kind::cache) continue;
      one.old = before.value_or(0);
      one.flag = before.has_value();
      steps.push_back(one);
    }
  }
  run.steps = std::move(steps);
}

void take_point(RecordedSteps& run, Point first) {
  if (!first.assumption.empty()) run.assumptions.push_back(first.assumption);
  run.at = std::move(first.at);
  run.input = std::move(first.input);
  run.input.run.record_timeline = true;
}

// The words' values before the first step. Combined byte by byte, because words may overlap and differ in size.
std::vector<RecordedSteps::WordValues> word_values(const RecordedSteps& run) {
  struct Byte {
    std::uint8_t first, last;
  };
  std::map<Address, Byte> bytes;
  for (const RunStep& step : run.steps) {
    if (step.kind != RunStepKind::access) continue;
    for (int i = 0; i < step.bytes; ++i) {
      const auto old = static_cast<std::uint8_t>(step.old >> (8 * i));
      const auto fresh = static_cast<std::uint8_t>(step.fresh >> (8 * i));
      bytes.try_emplace(step.where + static_cast<Address>(i), Byte{old, old}).first->second.last = fresh;
    }
  }
  std::vector<RecordedSteps::WordValues> values;
  for (const auto& word : run.facts.words) {
    RecordedSteps::WordValues& value = values.emplace_back();
    for (int i = 0; i < word.first.second; ++i) {
      const auto byte = bytes.find(word.first.first + static_cast<Address>(i));
      if (byte == bytes.end()) continue;
      value.first |= Value{byte->second.first} << (8 * i);
      value.last |= Value{byte->second.last} << (8 * i);
    }
  }
  return values;
}

}  // namespace

double RecordedSteps::tick_ns() const {
  const std::string& fraction = facts.tick_ns;
  const double denominator = std::strtod(fraction.c_str() + fraction.find('/') + 1, nullptr);
  return std::strtod(fraction.c_str(), nullptr) / denominator;
}

const ControllerTable& RecordedSteps::table(Controller controller) const {
  static const ControllerTable kNone;
  const bool nodes = input.machine.has_nodes();
  const MachineProtocols& protocols = input.protocols;
  switch (controller) {
    case Controller::cache: return protocols.bus.cache;
    case Controller::memory: return nodes ? kNone : protocols.bus.memory;
    case Controller::directory: return nodes ? protocols.directory.directory : kNone;
    case Controller::node: return nodes ? protocols.node.node : kNone;
    case Controller::group: return nodes ? protocols.group.group : kNone;
  }
  return kNone;
}

RecordedSteps record_steps(const std::string& experiment, const Overrides& overrides, std::size_t most) {
  std::size_t points = 1;
  std::vector<std::string> assumptions;
  RecordedSteps run = record_point(
      [&] {
        const Experiment loaded = load_runnable(experiment, overrides);
        points = point_count(loaded);
        assumptions = loaded.assumptions;
        return point_maker(loaded)(0);
      },
      most);
  run.points = points;
  run.assumptions.insert(run.assumptions.begin(), assumptions.begin(), assumptions.end());
  return run;
}

RecordedSteps record_point(const std::function<Point()>& make_point, std::size_t most) {
  RecordedSteps run;
  StepRecorder recorder(most);
  try {
    take_point(run, make_point());
    run.places = lay_out(run.input.machine).cpus;
    run.known = true;
    run.results = simulate_with(recorder, run.input, {});
  } catch (const StepLimitReached&) {
    run.cut = true;
  } catch (...) {
    const Failure failure = describe_current_exception();
    run.exit = failure.code;
    run.error = failure.message;
  }
  run.facts = recorder.facts();
  run.steps = std::move(recorder.steps());
  if (run.known) put_in_order(run);
  // Counts steps exactly; the recorder only made sure that there are enough.
  const auto counted = std::ranges::count_if(run.steps, [](const RunStep& step) { return step.kind != RunStepKind::data; });
  if (run.cut || static_cast<std::size_t>(counted) > most) cut_behind(run, most);
  keep_known_words(run);
  tell_words_of_data(run, recorder.taken());
  run.word_values = word_values(run);
  return run;
}

}  // namespace linebounce::sim
