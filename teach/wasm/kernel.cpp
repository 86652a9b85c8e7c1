#include <algorithm>
#include <cstdlib>
#include <limits>
#include <systemc>

namespace sc_core {

constexpr std::size_t kStack = 96 * 1024;
constexpr std::size_t kAsyncifyStack = 32 * 1024;

class sc_object_process {
 public:
  std::function<void()> run;
  bool thread = false;
  bool initialize = true;
  bool runnable = false;
  bool ended = false;
  bool started = false;
  emscripten_fiber_t fiber{};
  std::unique_ptr<char[]> stack, asyncify_stack;
};

struct Notification {
  std::uint64_t at;
  std::uint64_t number;
  sc_event* event;
  bool operator>(const Notification& other) const { return at != other.at ? at > other.at : number > other.number; }
};

class sc_kernel {
 public:
  std::vector<sc_module*> modules;
  std::vector<std::unique_ptr<sc_object_process>> processes;
  std::vector<sc_object_process*> methods, threads;  // runnable
  std::vector<sc_object_process*> batch;             // of these, those that run now
  std::size_t to_run = 0;                            // of the batch; they count as activity at this time
  std::vector<sc_event*> delta;
  std::vector<sc_event*> triggered;
  std::vector<sc_prim_channel*> updates;
  std::vector<sc_prim_channel*> batch_updates;
  std::vector<Notification> timed;  // a heap, the earliest first; some no longer count
  sc_time now;
  std::uint64_t numbers = 0;
  bool initialized = false;
  bool stopped = false;
  sc_object_process* current = nullptr;
  emscripten_fiber_t main_fiber{};
  std::unique_ptr<char[]> main_asyncify;

  void trigger(sc_event& event) {
    event.pending_ = sc_event::Pending::none;
    for (sc_object_process* process : event.waiting_) make_runnable(*process);
  }
  void make_runnable(sc_object_process& process) {
    if (process.runnable || process.ended) return;
    process.runnable = true;
    (process.thread ? threads : methods).push_back(&process);
  }
  void skip_replaced() {
    while (!timed.empty()) {
      const Notification& top = timed.front();
      if (top.event != nullptr && top.event->pending_ == sc_event::Pending::timed && top.event->number_ == top.number) return;
      std::pop_heap(timed.begin(), timed.end(), std::greater<>());
      timed.pop_back();
    }
  }
  void forget(sc_event* event) {
    for (Notification& notification : timed)
      if (notification.event == event) notification.event = nullptr;
    std::erase(delta, event);
  }
  static void entry(void* argument);
  void run(sc_object_process& process) {
    if (!process.thread) {
      process.run();
      return;
    }
    if (!process.started) {
      process.started = true;
      process.stack = std::make_unique<char[]>(kStack);
      process.asyncify_stack = std::make_unique<char[]>(kAsyncifyStack);
      emscripten_fiber_init(&process.fiber, entry, &process, process.stack.get(), kStack, process.asyncify_stack.get(),
                            kAsyncifyStack);
    }
    if (!main_asyncify) {
      main_asyncify = std::make_unique<char[]>(kAsyncifyStack);
      emscripten_fiber_init_from_current_context(&main_fiber, main_asyncify.get(), kAsyncifyStack);
    }
    current = &process;
    emscripten_fiber_swap(&main_fiber, &process.fiber);
    current = nullptr;
  }
  // One time step: evaluate (methods, then threads, as SystemC has it), update, delta notifications; until nothing runs. A call
  // of sc_stop lets the evaluation and the update finish.
  void crunch() {
    for (;;) {
      while (!methods.empty() || !threads.empty()) {
        run_all(methods);
        run_all(threads);
      }
      batch_updates.swap(updates);
      for (sc_prim_channel* channel : batch_updates) {
        channel->requested_ = false;
        channel->update();
      }
      batch_updates.clear();
      if (stopped) return;
      triggered.swap(delta);
      for (sc_event* event : triggered)
        if (event->pending_ == sc_event::Pending::delta) trigger(*event);
      triggered.clear();
      if (methods.empty() && threads.empty()) return;
    }
  }
  void run_all(std::vector<sc_object_process*>& queue) {
    batch.swap(queue);
    for (to_run = batch.size(); to_run > 0;) {
      sc_object_process* const process = batch[batch.size() - to_run--];
      process->runnable = false;
      run(*process);
    }
    batch.clear();
  }
  [[nodiscard]] bool active_now() const {
    return to_run > 0 || !methods.empty() || !threads.empty() || !delta.empty() || !updates.empty();
  }
};

sc_kernel& kernel() {
  static sc_kernel instance;
  return instance;
}

void sc_kernel::entry(void* argument) {
  auto* process = static_cast<sc_object_process*>(argument);
  process->run();
  process->ended = true;
  emscripten_fiber_swap(&process->fiber, &kernel().main_fiber);
  std::abort();
}

sc_event::~sc_event() {
  kernel().forget(this);
}

void sc_event::notify(const sc_time& delay) {
  sc_kernel& k = kernel();
  if (delay.value() == 0) {
    if (pending_ == Pending::delta) return;
    pending_ = Pending::delta;
    k.delta.push_back(this);
    return;
  }
  const std::uint64_t at = k.now.value() + delay.value();
  if (pending_ == Pending::delta || (pending_ == Pending::timed && at_ <= at)) return;
  pending_ = Pending::timed;
  at_ = at;
  number_ = ++k.numbers;
  k.timed.push_back({at, number_, this});
  std::push_heap(k.timed.begin(), k.timed.end(), std::greater<>());
}

sc_sensitive& sc_sensitive::operator<<(sc_event& event) {
  event.waiting_.push_back(last);
  return *this;
}

sc_module::sc_module(const sc_module_name&) {
  kernel().modules.push_back(this);
}

sc_module::~sc_module() {
  sc_kernel& k = kernel();
  std::erase(k.modules, this);
  // A machine goes as a whole, and the next one starts at time zero.
  if (k.modules.empty()) {
    k.processes.clear();
    k.methods.clear();
    k.threads.clear();
    k.updates.clear();
    k.timed.clear();
    k.delta.clear();
    k.now = sc_time();
    k.initialized = k.stopped = false;
  }
}

void sc_module::add_process(std::function<void()> run, bool thread) {
  auto process = std::make_unique<sc_object_process>();
  process->run = std::move(run);
  process->thread = thread;
  sensitive.last = process.get();
  kernel().processes.push_back(std::move(process));
}

void sc_module::dont_initialize() {
  sensitive.last->initialize = false;
}

void sc_module::wait() {
  sc_kernel& k = kernel();
  sc_object_process* self = k.current;
  emscripten_fiber_swap(&self->fiber, &k.main_fiber);
}

void sc_prim_channel::request_update() {
  if (requested_) return;
  requested_ = true;
  kernel().updates.push_back(this);
}

const sc_time& sc_time_stamp() {
  return kernel().now;
}

bool sc_pending_activity_at_current_time() {
  return kernel().active_now();
}

sc_time sc_time_to_pending_activity() {
  sc_kernel& k = kernel();
  if (sc_pending_activity_at_current_time()) return SC_ZERO_TIME;
  k.skip_replaced();
  if (k.timed.empty()) return sc_time::from_value(std::numeric_limits<std::uint64_t>::max() - k.now.value());
  return sc_time::from_value(k.timed.front().at - k.now.value());
}

bool sc_pending_activity() {
  kernel().skip_replaced();
  return sc_pending_activity_at_current_time() || !kernel().timed.empty();
}

void sc_start(const sc_time& duration) {
  sc_kernel& k = kernel();
  if (!k.initialized) {
    k.initialized = true;
    for (sc_module* module : k.modules) module->end_of_elaboration();
    for (const auto& process : k.processes)
      if (process->initialize) k.make_runnable(*process);
  }
  const std::uint64_t end = k.now.value() + duration.value();
  for (;;) {
    k.crunch();
    if (k.stopped) return;
    k.skip_replaced();
    if (k.timed.empty() || k.timed.front().at > end) break;
    k.now = sc_time::from_value(k.timed.front().at);
    for (k.skip_replaced(); !k.timed.empty() && k.timed.front().at == k.now.value(); k.skip_replaced()) {
      sc_event* event = k.timed.front().event;
      std::pop_heap(k.timed.begin(), k.timed.end(), std::greater<>());
      k.timed.pop_back();
      k.trigger(*event);
    }
  }
  k.now = sc_time::from_value(end);
}

void sc_stop() {
  kernel().stopped = true;
}

}  // namespace sc_core
