#include "sim/steps/recorded_steps.hpp"

#include <algorithm>
#include <map>

#include "models/failure.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/steps/total_order.hpp"
#include "sim/steps/words_of_data.hpp"

namespace linebounce::sim {

namespace {

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
  const auto counted =
      std::count_if(run.steps.begin(), run.steps.end(), [](const RunStep& step) { return step.kind != RunStepKind::data; });
  if (run.cut || static_cast<std::size_t>(counted) > most) cut_behind(run, most);
  keep_known_words(run);
  tell_words_of_data(run, recorder.taken());
  run.word_values = word_values(run);
  return run;
}

}  // namespace linebounce::sim
