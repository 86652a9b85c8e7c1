// Every CPU starts commands and hands each to a random CPU, which completes the commands that have arrived. A command has a
// timeout: its start adds the timer, and its completion deletes it. A start also goes through a queue that all CPUs share, and
// modifies and deletes the queue's plug timer (OLS 2007, section 4.5).
#include <deque>
#include <optional>
#include <unordered_map>

#include "workloads/linux26/kernel/kernel.hpp"
#include "workloads/linux26/kernel/mailboxes.hpp"
#include "workloads/linux26/timers/timers.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kCommands = 0;       // tallies
constexpr int kWithoutMemory = 1;  // starts that found no free command
constexpr double kErrorUs = 30e6;  // SD_TIMEOUT
constexpr double kPlugUs = 3000;   // q->unplug_delay

struct TimerChurnOptions {
  std::string layout = "linux_2_6_20";
  Kernel::Options kernel;
  TimerOptions timers;
  int queues = 8;
  int commands_per_cpu = 1024;
  double between_us = 5;

  void bind(ParameterBinder& parameters) {
    parameters.text("layout", layout, "where the structures' fields are");
    spin_lock_parameter(parameters, kernel.lock);
    parameters.number("jiffy_us", timers.jiffy_us, 1, 1e6, "between two ticks of a CPU");
    parameters.flag("batch_deletes", timers.batch_deletes,
                    "a timer that another CPU deletes is marked, and taken off by its own CPU in its next tick");
    parameters.flag("prefetch_locks", timers.prefetch_locks,
                    "who completes several commands first asks for the lines of all bases' locks");
    parameters.number("queues", queues, 1, 1000, "whose plug timers all CPUs modify, on the nodes in turn");
    parameters.number("commands_per_cpu", commands_per_cpu, 1, 100000, "that can be under way at once");
    parameters.number("between_us", between_us, 0, 1e6, "a CPU's mean time between two commands");
  }
};

class TimerChurn final : public Workload {
 public:
  explicit TimerChurn(const Parameters& parameters) : options_(read_options<TimerChurnOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    kernel_.emplace(setting, options_.kernel);
    timers_.emplace(*kernel_, options_.timers);
    submitted_.emplace(*kernel_, "completions");
    free_.emplace(*kernel_, "free_commands");
    fields_ = timer_fields(kernel_->layout("churned"), "timer");
    link_ = kernel_->field("churned", "link");
    place_commands();
    place_queues();
    tick_ = kernel_->interrupts().add_handler([this](Cpu& cpu, FunctionId) {
      cpu.set_timer(options_.timers.jiffy_us * 1000, tick_);
      timers_->tick(cpu);
    });
    submit_ = kernel_->function("submit");
    complete_ = kernel_->function("complete");
    between_cycles_ = cycles(options_.between_us, setting.machine);
    own_free_.resize(kernel_->cpus());
  }

  void run(Cpu& cpu) override {
    kernel_->interrupts().start(cpu);
    const int me = cpu.id().value;
    cpu.set_timer(options_.timers.jiffy_us * 1000 * (1 + static_cast<double>(me) / kernel_->cpus()), tick_);
    Random random(kernel_->seed(), static_cast<std::uint64_t>(me), 0);
    for (;;) {
      compute_about(cpu, random, between_cycles_);
      submit(cpu, random);
      complete(cpu);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    report_throughput(facts, kCommands, metrics);
    metrics.count("timers.starts_without_command", "", kLower, "starts that found no free memory for a command",
                  tallied_by_all(facts, kWithoutMemory));
  }

 private:
  struct Command {
    Command(const TimerFields& fields, const Object& at, int cpu) : object(at), owner(cpu), error(fields, at, [](Cpu&) {}) {}
    Object object;
    int owner;
    Timer error;
  };
  struct Queue {
    Queue(const TimerFields& fields, const Object& at) : plug(fields, at, [](Cpu&) {}) {}
    MeteredLock* lock = nullptr;
    Timer plug;
  };

  void place_commands() {
    for (int cpu = 0; cpu < kernel_->cpus(); ++cpu) {
      std::vector<Address> links;
      for (int i = 0; i < options_.commands_per_cpu; ++i) {
        const std::string name = "command[" + std::to_string(cpu) + "." + std::to_string(i) + "]";
        const Object object = kernel_->place("churned", name, kernel_->node_of(cpu));
        commands_.emplace_back(fields_, object, cpu);
        links.push_back(object.at(link_, 0));
        by_link_[links.back()] = &commands_.back();
      }
      free_->preset(*kernel_, cpu, links);
    }
  }

  void place_queues() {
    for (int i = 0; i < options_.queues; ++i) {
      const std::string name = "queue[" + std::to_string(i) + "]";
      const Object object = kernel_->place("churned", name, i % kernel_->nodes());
      queue_.emplace_back(fields_, object);
      queue_.back().lock = &kernel_->lock_in(object, name, "churned", "queue_lock");
      timers_->init(queue_.back().plug);
    }
  }

  // Takes a command that was returned to this CPU; null if all its commands are in flight.
  Command* take_free(Cpu& cpu) {
    Address& own = own_free_[cpu.id().value];
    if (own == 0) own = free_->take_all(cpu);
    if (own == 0) return nullptr;
    Command* command = by_link_.at(own);
    own = cpu.load(own);
    return command;
  }

  void submit(Cpu& cpu, Random& random) {
    const FunctionScope scope(cpu, submit_);
    Command* command = take_free(cpu);
    if (command == nullptr) {
      cpu.tally(kWithoutMemory);
      return;
    }
    Queue& queue = queue_[random.below(queue_.size())];
    kernel_->lock_irq(cpu, *queue.lock);
    timers_->modify(cpu, queue.plug, kPlugUs);
    timers_->remove(cpu, queue.plug);
    kernel_->unlock_irq(cpu, *queue.lock);
    timers_->init(cpu, command->error);
    timers_->add(cpu, command->error, kErrorUs);
    const auto to = static_cast<int>(random.below(static_cast<std::uint64_t>(kernel_->cpus())));
    submitted_->send(cpu, to, command->object.at(link_, cpu));
  }

  void complete(Cpu& cpu) {
    const FunctionScope scope(cpu, complete_);
    std::vector<Command*> done;
    for (Address link = submitted_->take_all(cpu); link != 0; link = cpu.load(link)) done.push_back(by_link_.at(link));
    for (const Command* command : done) timers_->prefetch_base(cpu, command->error);
    for (Command* command : done) {
      timers_->retire(cpu, command->error,
                      [this, command](Cpu& on) { free_->send(on, command->owner, command->object.at(link_, on)); });
      cpu.tally(kCommands);
    }
  }

  TimerChurnOptions options_;
  std::int64_t between_cycles_ = 0;
  std::optional<Kernel> kernel_;
  std::optional<Timers> timers_;
  std::optional<Mailboxes> submitted_, free_;
  TimerFields fields_;
  FieldPlace link_;
  std::deque<Command> commands_;
  std::deque<Queue> queue_;
  std::unordered_map<Address, Command*> by_link_;
  std::vector<Address> own_free_;  // by CPU: the first of the commands that it has taken out of its mailbox
  FunctionId submit_ = 0, complete_ = 0;
  int tick_ = 0;
};

}  // namespace

WorkloadEntry timer_churn_workload() {
  return {"timer_churn",
          "Commands whose timers are added on one CPU and deleted on another",
          declare<TimerChurnOptions>(),
          make_workload<TimerChurn>,
          {headlines::kOperations, headlines::kLatency, headlines::kLocal}};
}

}  // namespace linebounce::workloads
