#include <algorithm>
#include <systemc>

namespace sc_core {

class sc_kernel {
 public:
  std::vector<sc_module*> modules;
  std::vector<sc_event*> events;
  sc_time now;
  bool elaborated = false;
  bool stopped = false;

  // The earliest pending event, by creation order among equals. Null if there is none.
  [[nodiscard]] sc_event* next() const {
    sc_event* earliest = nullptr;
    for (sc_event* event : events) {
      if (event->pending_ && (earliest == nullptr || event->at_ < earliest->at_)) earliest = event;
    }
    return earliest;
  }
  void start(std::uint64_t duration) {
    if (!elaborated) {
      elaborated = true;
      for (sc_module* module : modules) module->end_of_elaboration();
    }
    const std::uint64_t end = now.value() + duration;
    for (sc_event* event = next(); event != nullptr && event->at_ <= end; event = next()) {
      now = sc_time::from_value(event->at_);
      event->pending_ = false;
      event->method_();
      if (stopped) return;
    }
    now = sc_time::from_value(end);
  }
};

namespace {

sc_kernel& kernel() {
  static sc_kernel instance;
  return instance;
}

}  // namespace

sc_event::sc_event() {
  kernel().events.push_back(this);
}

sc_event::~sc_event() {
  std::erase(kernel().events, this);
}

void sc_event::notify(const sc_time& delay) {
  const std::uint64_t at = kernel().now.value() + delay.value();
  if (pending_ && at_ <= at) return;
  pending_ = true;
  at_ = at;
}

sc_module::sc_module(const sc_module_name&) {
  kernel().modules.push_back(this);
}

sc_module::~sc_module() {
  sc_kernel& k = kernel();
  std::erase(k.modules, this);
  // The whole machine is gone, so the next one starts at time zero.
  if (k.modules.empty()) {
    k.now = sc_time();
    k.elaborated = k.stopped = false;
  }
}

const sc_time& sc_time_stamp() {
  return kernel().now;
}

void sc_start(const sc_time& duration) {
  kernel().start(duration.value());
}

void sc_stop() {
  kernel().stopped = true;
}

}  // namespace sc_core
