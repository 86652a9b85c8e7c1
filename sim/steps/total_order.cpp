#include "sim/steps/total_order.hpp"

#include <algorithm>
#include <tuple>

namespace linebounce::sim {

namespace {

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
        // A cache's rows of Load, Store, Evict and Atomic are its own doing.
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
      // Behind the row that takes it, in that row's place.
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
  // An order step's rows have one place, and so its own order: the bus.
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
  // Of a bus, to rows of its order step. Requests and packets leave at least a tick behind the row that sends them.
  static bool is_answer(const RunStep& step) {
    const auto what = static_cast<SentMessage::What>(step.what);
    return what != SentMessage::What::request && what != SentMessage::What::again && what != SentMessage::What::packet;
  }
  // Whatever a bus reports is in its own order; a controller's packets are the network's.
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

}  // namespace

void put_in_order(RecordedSteps& run) {
  const Order order(run);
  std::ranges::stable_sort(run.steps, [&order](const RunStep& a, const RunStep& b) { return order.key(a) < order.key(b); });
}

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

}  // namespace linebounce::sim
