// Every CPU runs `dd if=/dev/zero of=foo bs=1`: it reads and writes one byte at a time (OLS 2004, section 2.2). A large part of
// that is finding the file of a descriptor.
//
// The rest of the two system calls is modelled as instructions, and as the locked operations of writing one byte to a cached
// page: the inode's semaphore, the page's look-up under its mapping's lock, the page's reference count and lock bit, and its
// buffer's state.
#include <stdexcept>

#include "workloads/linux24/files/file_table.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kIterations = 0;  // tally
constexpr Value kFilesReference = 1;

// What one CPU's dd writes to.
struct Output {
  Address inode = 0, mapping = 0, page = 0, buffer = 0;
};

// Why this lock can't protect the table; empty if it can. fget() takes a reference inside its section, so a reader can't read
// again. Its callers may not sleep.
std::string why_no_file_lock(const LockTraits& traits) {
  if (!traits.excludes) return "a descriptor could be closed between the lookup and the reference";
  if (traits.sleeps) return "fget() is called where a task may not sleep";
  if (traits.readers == Readers::read_again)
    return "fget() takes a reference inside its section, which it can't take back to read again";
  return "";
}

struct FgetOptions {
  std::string file_table = "rwlock";
  bool shared_table = false;
  bool smp = true;
  std::string file_lock = "rwlock";
  FileTableCosts costs = {.fget = 158, .fget_light = 10};
  std::int64_t system_call_instructions = 1170;

  void bind(ParameterBinder& parameters) {
    parameters.text("file_table", file_table,
                    "how a descriptor becomes a file: under the table's lock; without one, by read-copy update; without a "
                    "reference while the table is not shared",
                    {"rwlock", "rcu", "fget_light"});
    parameters.flag("shared_table", shared_table,
                    "all CPUs run threads of one process, on files of their own; else each has a process of its own");
    parameters.flag("smp", smp, "false: a kernel for one CPU, in which locks and the lock prefix compile away");
    lock_parameter(parameters, "file_lock", file_lock, "the table's lock, taken as a reader", why_no_file_lock);
    parameters.number("fget_instructions", costs.fget, 0, 1e6,
                      "instructions of fget and fput together, beside their memory operations");
    parameters.number("fget_light_instructions", costs.fget_light, 0, 1e6, "the same where no reference is needed");
    parameters.number("system_call_instructions", system_call_instructions, 0, 1e9,
                      "instructions of a read or a write of one byte, beside that");
  }
};

class Fget final : public Workload {
 public:
  explicit Fget(const Parameters& parameters) : options_(read_options<FgetOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    const int cpus = setting.machine.cpus;
    if (!atomics_.smp() && cpus > 1)
      throw std::invalid_argument("workload.smp: a kernel without locks runs on one CPU: set machine.cpus = 1");
    if (options_.shared_table && 2 * cpus > FileTable::kFiles) {
      throw std::invalid_argument(
          "workload.shared_table: a table has 32 files, two for each CPU: at most 16 CPUs can share it");
    }
    AddressSpace& memory = setting.memory;
    const int tables = options_.shared_table ? 1 : cpus;
    for (int table = 0; table < tables; ++table) {
      // A shared table has at least two tasks: on a machine of one CPU, a sleeping task shares it.
      const int tasks = options_.shared_table ? std::max(2, cpus) : 1;
      tables_.emplace_back(FileTable::Place{memory, setting.locks, numbered("files", table), options_.file_lock, tasks},
                           design_, atomics_, options_.costs);
    }
    for (int cpu = 0; cpu < cpus; ++cpu) {
      install(memory, cpu, 0, numbered("dev_zero", cpu));
      install(memory, cpu, 1, numbered("foo", cpu));
      outputs_.push_back(place_output(memory, cpu));
    }
    read_ = memory.function("sys_read", Mode::kernel);
    write_ = memory.function("sys_write", Mode::kernel);
  }

  void run(Cpu& cpu) override {
    const Output& output = outputs_[cpu.id().value];
    for (;;) {
      {
        const FunctionScope scope(cpu, read_);
        system_call(cpu, 0, [] {});
      }
      {
        const FunctionScope scope(cpu, write_);
        system_call(cpu, 1, [&] { write_byte(cpu, output); });
      }
      cpu.tally(kIterations);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    const std::int64_t total = tallied_by_all(facts, kIterations);
    report_rate(facts, total, metrics);
    metrics.mean("throughput.system_ns_per_operation", "ns", kLower, "CPU time of a read and a write together",
                 facts.measured_ns * facts.cpus, total);
  }

 private:
  static FileTableDesign design_of(const std::string& name) {
    if (name == "rcu") return FileTableDesign::rcu;
    return name == "fget_light" ? FileTableDesign::fget_light : FileTableDesign::rwlock;
  }
  static std::string numbered(const std::string& name, int number) { return name + "[" + std::to_string(number) + "]"; }

  FileTable& table_of(int cpu) { return tables_[options_.shared_table ? 0 : cpu]; }
  // Each CPU uses two descriptors of its own, so that the CPUs share nothing but the table.
  [[nodiscard]] int descriptor(int cpu, int which) const { return options_.shared_table ? 2 * cpu + which : which; }

  void install(AddressSpace& memory, int cpu, int which, const std::string& name) {
    table_of(cpu).install(memory, descriptor(cpu, which), FileTable::place_file(memory, name));
  }

  static Output place_output(AddressSpace& memory, int cpu) {
    const auto place = [&](const char* structure, const char* field) {
      return memory.place({.name = structure, .size = 64, .fields = {{field, 0, 4}}}, numbered(structure, cpu),
                          memory.line_bytes());
    };
    Output output;
    output.inode = place("inode", "i_sem");
    output.mapping = place("address_space", "page_lock");
    output.page = memory.place({.name = "page", .size = 64, .fields = {{"flags", 0, 4}, {"count", 4, 4}}},
                               numbered("page", cpu), memory.line_bytes());
    output.buffer = place("buffer_head", "b_state");
    return output;
  }

  template <class Body>
  void system_call(Cpu& cpu, int which, Body body) {
    const int me = cpu.id().value;
    FileTable& table = table_of(me);
    const FileTable::Held held = table.get(cpu, descriptor(me, which));
    cpu.load(held.file + FileTable::kOperations, 4);
    const Value position = cpu.load(held.file + FileTable::kPosition, 8);
    cpu.execute(options_.system_call_instructions);
    body();
    cpu.store(held.file + FileTable::kPosition, position + 1, 8);
    table.put(cpu, held);
  }

  // The operations of generic_file_write() that have a lock prefix in an SMP kernel, in their order. Locks take the fast path
  // of reader-writer locks: one subtraction and one addition.
  void write_byte(Cpu& cpu, const Output& output) const {
    const auto down = [&](Address word) { atomics_.add(cpu, word, static_cast<Value>(-1), 4); };
    const auto up = [&](Address word) { atomics_.add(cpu, word, kFilesReference, 4); };
    down(output.inode);
    if (atomics_.smp()) down(output.mapping);
    up(output.page + 4);
    if (atomics_.smp()) up(output.mapping);
    up(output.page);                         // lock_page()
    atomics_.add(cpu, output.buffer, 0, 4);  // set_buffer_uptodate()
    down(output.page);                       // unlock_page()
    down(output.page + 4);
    up(output.inode);
  }

  FgetOptions options_;
  KernelAtomics atomics_ = KernelAtomics(options_.smp);
  FileTableDesign design_ = design_of(options_.file_table);
  std::vector<FileTable> tables_;
  std::vector<Output> outputs_;
  FunctionId read_ = 0;
  FunctionId write_ = 0;
};

}  // namespace

WorkloadEntry fget_workload() {
  return {"fget",
          "Reads and writes of one byte: how a file descriptor becomes a file",
          declare<FgetOptions>(),
          make_workload<Fget>,
          {{"throughput.system_ns_per_operation", "read and write"}, headlines::kOperations, headlines::kLatency}};
}

}  // namespace linebounce::workloads
