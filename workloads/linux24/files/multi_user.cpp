// Processes of many users on one machine. They compute, fault, open their own files below /proc, read a directory, exit and
// start again. Which kernel functions take the time (OLS 2004, section 5.1)?
#include <optional>

#include "workloads/linux24/files/proc_directory.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kRounds = 0;  // tally
constexpr int kTimer = 1;   // vector

std::string why_no_dentry_lock(const LockTraits& traits) {
  if (!traits.excludes) return "the dentries' lists would break";
  return traits.sleeps ? "dput() takes it where a task may not sleep" : "";
}

std::string why_no_directory_lock(const LockTraits& traits) {
  if (!traits.excludes) return "the directory could change while it is read";
  if (traits.readers == Readers::read_again) {
    return "a reader of this workload sleeps inside its section, and must not find then that it has to read again what the "
           "user has got already";
  }
  return traits.sleeps
             ? ""
             : "a reader of this workload sleeps inside its section, and who waits would spin on the CPU that it needs";
}

struct MultiUserOptions {
  std::string dcache_lock = "ttas";
  std::string d_lock = "ttas";
  std::string directory_lock = "mutex";
  double user_us = 40;
  std::uint64_t rounds_of_process = 8;
  std::uint64_t rounds_of_readdir = 60;
  int directory_entries = 20;
  double readdir_sleeps_us = 0;
  std::int64_t fault_instructions = 600;
  DcacheInstructions instructions = {.walk = 100, .lookup = 60, .update = 60, .process = 3000, .entry = 150};

  void bind(ParameterBinder& parameters) {
    lock_parameter(parameters, "dcache_lock", dcache_lock, "protects the lists of all dentries", why_no_dentry_lock);
    lock_parameter(parameters, "d_lock", d_lock, "each dentry's own", why_no_dentry_lock);
    lock_parameter(parameters, "directory_lock", directory_lock, "of the directory that all read; held while a reader sleeps",
                   why_no_directory_lock);
    parameters.number("user_us", user_us, 0, 1e6, "mean of user code before each open");
    parameters.number("rounds_of_process", rounds_of_process, 1, 1e6, "mean number of opens before a process ends");
    parameters.number("rounds_of_readdir", rounds_of_readdir, 1, 1e6,
                      "mean number of opens between two readings of the directory");
    parameters.number("directory_entries", directory_entries, 1, 1e5, "of the directory");
    parameters.number("readdir_sleeps_us", readdir_sleeps_us, 0, 1e6,
                      "a reader of the directory sleeps so long inside, for a page of its buffer");
    parameters.number("fault_instructions", fault_instructions, 0, 1e6, "of a page fault");
    parameters.number("walk_instructions", instructions.walk, 0, 1e6, "of a path walk, for each component");
    parameters.number("lookup_instructions", instructions.lookup, 0, 1e6, "of finding a dentry in its chain");
    parameters.number("update_instructions", instructions.update, 0, 1e6, "in each section under dcache_lock");
    parameters.number("process_instructions", instructions.process, 0, 1e9,
                      "of ending and beginning a process, before each section under dcache_lock");
    parameters.number("entry_instructions", instructions.entry, 0, 1e6,
                      "of reading a directory, for each entry, outside the lock");
  }
};

class MultiUser final : public Workload {
 public:
  explicit MultiUser(const Parameters& parameters) : options_(read_options<MultiUserOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    locks_ = &setting.locks;
    user_cycles_ = static_cast<std::uint64_t>(cycles(options_.user_us, setting.machine));
    user_ = setting.memory.function("user_program", Mode::user);
    fault_ = setting.memory.function("do_page_fault", Mode::kernel);
    directory_.emplace(ProcDirectory::Place{setting.memory, setting.locks, options_.dcache_lock, options_.d_lock,
                                            options_.directory_lock, setting.machine.cpus, options_.directory_entries},
                       options_.instructions);
    woken_.assign(setting.machine.cpus, 0);
  }

  void run(Cpu& cpu) override {
    const auto me = static_cast<std::uint64_t>(cpu.id().value);
    Random times(seed_, me, 0);
    Random events(seed_, me, 1);
    cpu.set_interrupt_handler([this](Cpu& thread, int) {
      woken_[thread.id().value] = 1;
      thread.wake(thread.id());
    });
    for (;;) {
      {
        const FunctionScope scope(cpu, user_);
        cpu.compute(static_cast<std::int64_t>(times.below(2 * user_cycles_ + 1)) + 1);
      }
      {
        const FunctionScope scope(cpu, fault_);
        cpu.execute(options_.fault_instructions);
      }
      directory_->open_and_close(cpu);
      if (events.below(options_.rounds_of_readdir) == 0) directory_->read_directory(cpu, [&] { sleep(cpu); });
      if (events.below(options_.rounds_of_process) == 0) directory_->replace_process(cpu);
      cpu.tally(kRounds);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    report_rate(facts, tallied_by_all(facts, kRounds), metrics);
  }

 private:
  // Sleeps until the user's buffer, which was paged out, is in memory again.
  void sleep(Cpu& cpu) {
    if (options_.readdir_sleeps_us == 0) return;
    char& woken = woken_[cpu.id().value];
    woken = 0;
    cpu.set_timer(options_.readdir_sleeps_us * 1000, kTimer);
    while (woken == 0) locks_->sleep(cpu);
  }

  MultiUserOptions options_;
  std::uint64_t seed_ = 0;
  std::uint64_t user_cycles_ = 0;
  LockSet* locks_ = nullptr;
  std::optional<ProcDirectory> directory_;  // constructed in set_up(), when there is simulated memory
  std::vector<char> woken_;                 // by CPU; set by the CPU's own timer handler
  FunctionId user_ = 0;
  FunctionId fault_ = 0;
};

}  // namespace

WorkloadEntry multi_user_workload() {
  return {"multi_user",
          "Processes that open files in /proc, read directories, fork and exit: the kernel's profile",
          declare<MultiUserOptions>(),
          make_workload<MultiUser>,
          {headlines::kOperations, headlines::kDcacheLock, {"time.system_pct", "system"}}};
}

}  // namespace linebounce::workloads
