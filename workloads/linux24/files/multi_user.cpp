// Many users' processes on one machine: they compute, fault, open files of their own below /proc, read a directory, end and
// begin again (OLS 2004, section 5.1). Where the kernel's time goes, by function.
#include <optional>

#include "workloads/linux24/files/file_workloads.hpp"
#include "workloads/linux24/files/proc_directory.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"

namespace linebounce::workloads {

namespace {

constexpr int kRounds = 0;  // tally
constexpr int kTimer = 1;   // vector

class MultiUser final : public Workload {
 public:
  explicit MultiUser(const Parameters& parameters)
      : dcache_lock_(parameters.text("dcache_lock")),
        d_lock_(parameters.text("d_lock")),
        directory_lock_(parameters.text("directory_lock")),
        user_us_(parameters.number("user_us")),
        rounds_of_process_(static_cast<std::uint64_t>(parameters.integer("rounds_of_process"))),
        rounds_of_readdir_(static_cast<std::uint64_t>(parameters.integer("rounds_of_readdir"))),
        entries_(static_cast<int>(parameters.integer("directory_entries"))),
        sleep_ns_(parameters.number("readdir_sleeps_us") * 1000),
        fault_instructions_(parameters.integer("fault_instructions")),
        instructions_{parameters.integer("walk_instructions"), parameters.integer("lookup_instructions"),
                      parameters.integer("update_instructions"), parameters.integer("process_instructions"),
                      parameters.integer("entry_instructions")} {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    locks_ = &setting.locks;
    user_cycles_ = static_cast<std::uint64_t>(cycles(user_us_, setting.machine));
    user_ = setting.memory.function("user_program", Mode::user);
    fault_ = setting.memory.function("do_page_fault", Mode::kernel);
    directory_.emplace(ProcDirectory::Place{setting.memory, setting.locks, dcache_lock_, d_lock_, directory_lock_,
                                            setting.machine.cpus, entries_},
                       instructions_);
    woken_.assign(static_cast<std::size_t>(setting.machine.cpus), 0);
  }

  void run(Cpu& cpu) override {
    const auto me = static_cast<std::uint64_t>(cpu.id().value);
    Random times(seed_, me, 0);
    Random events(seed_, me, 1);
    cpu.set_interrupt_handler([this](Cpu& thread, int) {
      woken_[static_cast<std::size_t>(thread.id().value)] = 1;
      thread.wake(thread.id());
    });
    for (;;) {
      {
        const FunctionScope scope(cpu, user_);
        cpu.compute(static_cast<std::int64_t>(times.below(2 * user_cycles_ + 1)) + 1);
      }
      {
        const FunctionScope scope(cpu, fault_);
        cpu.execute(fault_instructions_);
      }
      directory_->open_and_close(cpu);
      if (events.below(rounds_of_readdir_) == 0) directory_->read_directory(cpu, [&] { sleep(cpu); });
      if (events.below(rounds_of_process_) == 0) directory_->replace_process(cpu);
      cpu.tally(kRounds);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    report_rate(facts, tallied_by_all(facts, kRounds), metrics);
  }

 private:
  // The user's buffer is not in memory: the task sleeps until it is.
  void sleep(Cpu& cpu) {
    if (sleep_ns_ == 0) return;
    char& woken = woken_[static_cast<std::size_t>(cpu.id().value)];
    woken = 0;
    cpu.set_timer(sleep_ns_, kTimer);
    while (woken == 0) locks_->sleep(cpu);
  }

  std::string dcache_lock_, d_lock_, directory_lock_;
  double user_us_;
  std::uint64_t rounds_of_process_;
  std::uint64_t rounds_of_readdir_;
  int entries_;
  double sleep_ns_;
  std::int64_t fault_instructions_;
  DcacheInstructions instructions_;
  std::uint64_t seed_ = 0;
  std::uint64_t user_cycles_ = 0;
  LockSet* locks_ = nullptr;
  std::optional<ProcDirectory> directory_;  // once there is memory for it
  std::vector<char> woken_;                 // by CPU: its own handler writes it
  FunctionId user_ = 0;
  FunctionId fault_ = 0;
};

std::string why_no_spin_lock(const LockTraits& traits) {
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

}  // namespace

std::vector<ParameterDeclaration> multi_user_parameters() {
  return {
      lock_parameter("dcache_lock", "ttas", "protects the lists of all dentries", why_no_spin_lock),
      lock_parameter("d_lock", "ttas", "each dentry's own", why_no_spin_lock),
      lock_parameter("directory_lock", "mutex", "of the directory that all read; held while a reader sleeps",
                     why_no_directory_lock),
      {.name = "user_us", .default_value = 40.0, .meaning = "mean of user code before each open", .maximum = 1e6},
      {.name = "rounds_of_process",
       .default_value = std::int64_t{8},
       .meaning = "mean number of opens before a process ends",
       .minimum = 1,
       .maximum = 1e6},
      {.name = "rounds_of_readdir",
       .default_value = std::int64_t{60},
       .meaning = "mean number of opens between two readings of the directory",
       .minimum = 1,
       .maximum = 1e6},
      {.name = "directory_entries",
       .default_value = std::int64_t{20},
       .meaning = "of the directory",
       .minimum = 1,
       .maximum = 1e5},
      {.name = "readdir_sleeps_us",
       .default_value = 0.0,
       .meaning = "a reader of the directory sleeps so long inside, for a page of its buffer",
       .maximum = 1e6},
      {.name = "fault_instructions", .default_value = std::int64_t{600}, .meaning = "of a page fault", .maximum = 1e6},
      {.name = "walk_instructions",
       .default_value = std::int64_t{100},
       .meaning = "of a path walk, for each component",
       .maximum = 1e6},
      {.name = "lookup_instructions",
       .default_value = std::int64_t{60},
       .meaning = "of finding a dentry in its chain",
       .maximum = 1e6},
      {.name = "update_instructions",
       .default_value = std::int64_t{60},
       .meaning = "in each section under dcache_lock",
       .maximum = 1e6},
      {.name = "process_instructions",
       .default_value = std::int64_t{3000},
       .meaning = "of ending and beginning a process, before each section under dcache_lock",
       .maximum = 1e9},
      {.name = "entry_instructions",
       .default_value = std::int64_t{150},
       .meaning = "of reading a directory, for each entry, outside the lock",
       .maximum = 1e6},
  };
}

std::unique_ptr<Workload> make_multi_user(const Parameters& parameters) {
  return std::make_unique<MultiUser>(parameters);
}

}  // namespace linebounce::workloads
