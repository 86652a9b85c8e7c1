#include "sim/steps/recorded_steps.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "models/failure.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/steps/total_order.hpp"

namespace linebounce::sim {
namespace {

// ---- which words a run knows, and their values in every copy that takes data ----

// The bytes of each keeper's copies, as far as they are known.
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
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<Value>(std::to_integer<std::uint8_t>(taken[begin + static_cast<std::size_t>(i)])) << (8 * i);
  return value;
}

// Forgets words that none of the run's steps uses: those behind its limit.
void keep_known_words(RecordedSteps& run) {
  std::set<std::pair<Address, int>> used;
  for (const RunStep& step : run.steps) {
    const bool of_word =
        step.kind == RunStepKind::access || step.kind == RunStepKind::operation || step.kind == RunStepKind::buffer;
    if (of_word && step.bytes > 0) used.emplace(step.where, step.bytes);
  }
  std::erase_if(run.facts.words, [&used](const auto& word) { return !used.contains(word.first); });
}

// In place of each step in which a copy takes a line's data: one for each of its words; in memory and what stands in its
// place, only of those that change. `taken`: StepRecorder::taken(). REQUIRES: the steps are in order.
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
      one.fresh = value_at(taken, static_cast<std::size_t>(step.fresh + (address - begin)), bytes);
      const std::optional<Value> before = known.get(step.from, address, bytes);
      known.set(step.from, address, bytes, one.fresh);
      // A cache may have lost its copy meanwhile; what stands in memory stays.
      if (before == one.fresh && step.from.kind != Endpoint::Kind::cache) continue;
      one.old = before.value_or(0);
      one.flag = before.has_value();
      steps.push_back(one);
    }
  }
  run.steps = std::move(steps);
}

void take_first_point(RecordedSteps& run, const std::string& experiment, const Overrides& overrides) {
  const Experiment loaded = load_runnable(experiment, overrides);
  Point first = point_maker(loaded)(0);
  run.points = point_count(loaded);
  run.at = std::move(first.at);
  run.input = std::move(first.input);
  run.input.run.record_timeline = true;
}

// Words may overlap, and have several sizes: byte by byte.
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
  RecordedSteps run;
  StepRecorder recorder(most);
  try {
    take_first_point(run, experiment, overrides);
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
  // Counted in total; the recorder only knows when there are enough.
  const auto counted = std::ranges::count_if(run.steps, [](const RunStep& step) { return step.kind != RunStepKind::data; });
  if (run.cut || static_cast<std::size_t>(counted) > most) cut_behind(run, most);
  keep_known_words(run);
  tell_words_of_data(run, recorder.taken());
  run.word_values = word_values(run);
  return run;
}

}  // namespace linebounce::sim
