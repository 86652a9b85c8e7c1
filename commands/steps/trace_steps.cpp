#include "commands/steps/trace_steps.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "sim/plan/plan.hpp"

namespace linebounce::sim {
namespace {

// The trace's own address of a byte in simulated memory.
class OwnAddresses {
 public:
  OwnAddresses(const StepRecorder::Facts& facts, const trace::Symbols& symbols) : frames_(&facts.frames) {
    std::map<std::string, Address> recorded;  // by name
    std::set<std::string> several;
    for (const trace::Object& object : symbols.objects) {
      const bool is_new = recorded.emplace(object.name, object.address.value_or(0)).second;
      if (!is_new || !object.address || object.page_bytes != 0) several.insert(object.name);
    }
    for (const StepRecorder::Object& object : facts.objects) {
      const auto found = recorded.find(object.name);
      if (found == recorded.end() || several.contains(object.name)) continue;
      places_[object.begin] = {object.begin + static_cast<Address>(object.size), found->second};
    }
  }

  [[nodiscard]] Address of(Address physical) const {
    const Address address = frames_->to_virtual(physical);
    auto place = places_.upper_bound(address);
    if (place == places_.begin()) return physical;
    --place;
    const auto& [end, recorded] = place->second;
    return address < end ? recorded + (address - place->first) : physical;
  }

 private:
  const PageFrames* frames_;
  std::map<Address, std::pair<Address, Address>> places_;  // by begin: end and recorded begin
};

bool has_line(const RunStep& step) {
  return step.kind == RunStepKind::row || step.kind == RunStepKind::message || step.kind == RunStepKind::directory;
}

void use_own_addresses(RecordedSteps& run, const trace::Symbols& symbols) {
  const OwnAddresses own(run.facts, symbols);
  const auto line_bytes = static_cast<Address>(run.facts.line_bytes);
  for (RunStep& step : run.steps)
    step.where = has_line(step) ? own.of(step.where * line_bytes) / line_bytes : own.of(step.where);
  std::map<std::pair<Address, int>, std::pair<std::string, RecordedSteps::WordValues>> words;
  std::size_t number = 0;
  for (auto& [word, name] : run.facts.words) {
    const Address address = own.of(word.first);
    const bool is_of_trace = address != word.first;  // a page of the trace, whose name says less than the address
    words[{address, word.second}] = {is_of_trace ? fmt::format("0x{:x}", address) : std::move(name), run.word_values[number++]};
  }
  run.facts.words.clear();
  run.word_values.clear();
  for (auto& [word, named] : words) {
    run.facts.words.emplace(word, std::move(named.first));
    run.word_values.push_back(named.second);
  }
  for (StepRecorder::Object& object : run.facts.objects) object.begin = own.of(run.facts.frames.to_physical(object.begin));
  run.facts.frames = {};
}

}  // namespace

RecordedSteps trace_steps(const TraceOptions& options, const trace::Reader& reader, std::size_t most) {
  const ReplayStudy study = study_of(options, reader, false);
  RecordedSteps run = record_point([&] { return plan_of(study).make_point(0); }, most);
  use_own_addresses(run, reader.symbols());
  return run;
}

StateTableRun trace_table(const TraceOptions& options, const trace::Reader& reader, const Protocol& protocol,
                          std::size_t most) {
  refuse_settings(options, protocol, SeedOf::frames);
  const AtomicCacheSpec spec = caches_of(options, machine_of(options, reader));
  caches_in(options, reader);
  const std::vector<int> cpus = cpus_of_streams(reader);
  const std::set<int> sorted(cpus.begin(), cpus.end());
  StateTableRun run{.table = std::make_unique<StateTable>(protocol, std::vector<int>{sorted.begin(), sorted.end()}, spec)};
  const auto line_bytes = static_cast<Address>(spec.line_bytes);
  visit_accesses(options, reader, spec, [&](const CourseAccess& access) {
    if (run.table->rows() == most) {
      run.cut = true;
      return;
    }
    const Address own = own_address(reader, access);
    run.table->add({.cpu = access.cpu,
                    .address = access.address,
                    .bytes = access.bytes,
                    .writes = access.writes,
                    .place = fmt::format("0x{:x}", own),
                    .line = fmt::format("0x{:x}", own / line_bytes * line_bytes)});
  });
  return run;
}

}  // namespace linebounce::sim
