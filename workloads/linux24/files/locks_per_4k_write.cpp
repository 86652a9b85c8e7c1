// Counts the spin locks that a write() of 4096 bytes takes when it appends a block to a file on ext3 (Linux 2.6.0, ordered
// data; OLS 2004, section 2.1). Locks are taken where the kernel's code path takes them, in the same order. Semaphores and bit
// locks do not count.
//
// As in the kernel, a write's locks depend on state. The first write of a transaction files the metadata's buffers. A write in
// a new jiffy updates the inode's time in a separate transaction handle. The page allocator and the slab of buffer heads refill
// their CPU's list when it is empty.
#include <fmt/format.h>

#include <stdexcept>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr double kJiffyNs = 1e6;  // HZ = 1000
constexpr int kRefill = 16;       // number of pages or buffer heads that a CPU's list gets per refill
constexpr std::int64_t kBufferBytes = 4096;

// A lock and a word that it protects.
struct Guarded {
  MeteredLock* lock = nullptr;
  Address data = 0;
};

// Per writer: its file, the file's page cache, and its CPU's free lists.
struct File {
  Guarded page_tree, buffers, block_device;
  Address user_buffer = 0, pages = 0;
  std::int64_t jiffy = -1;
  int pages_left = 0, heads_left = 0;
  bool first = true;
  std::int64_t locks = 0;  // number of locks that the current write has taken
  std::vector<std::int64_t> locks_of_buffer;
  double write_ns = 0;
};

std::string why_no_journal_lock(const LockTraits& traits) {
  if (!traits.excludes) return "the lists of the journal would break";
  return traits.sleeps ? "these are spin locks: some are taken where a task may not sleep" : "";
}

struct LocksPer4kWriteOptions {
  std::string lock = "ttas";
  int writers = 1;
  std::int64_t buffers = 10;
  bool merged = false;
  double between_writes_us = 125;
  std::int64_t section_instructions = 30;
  std::int64_t other_instructions = 3000;
  int pages_left = 1;
  int buffer_heads_left = 3;

  void bind(ParameterBinder& parameters) {
    lock_parameter(parameters, "lock", lock, "all locks of the path", why_no_journal_lock);
    parameters.number("writers", writers, 1, 4096, "programs that write, each to its own file of one file system");
    parameters.number("buffers", buffers, 1, 10000, "writes of 4096 bytes");
    parameters.flag("merged", merged, "adjacent critical sections are made one, and of nested locks one is kept");
    parameters.number("between_writes_us", between_writes_us, 0, 1e6,
                      "what a program does between two writes; decides which write sees a new jiffy (1 ms)");
    parameters.number("section_instructions", section_instructions, 0, 1e6, "in each critical section");
    parameters.number("other_instructions", other_instructions, 0, 1e9, "in a write, outside");
    parameters.number(
        "pages_left", pages_left, 0, 16,
        "free pages in the CPU's list before the first write; an empty list is refilled by 16 under the zone's lock");
    parameters.number("buffer_heads_left", buffer_heads_left, 0, 16, "the same of buffer heads");
  }
};

class LocksPerWrite final : public Workload {
 public:
  explicit LocksPerWrite(const Parameters& parameters) : options_(read_options<LocksPer4kWriteOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  [[nodiscard]] bool ends() const override { return true; }
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  Guarded guard(const WorkloadSetup& setting, const std::string& name, const std::string& figures) const;

  void write(Cpu& cpu, File& file) const;
  void update_time(Cpu& cpu, File& file) const;
  void grab_page(Cpu& cpu, File& file) const;
  void journal_start(Cpu& cpu, File& file) const;
  void journal_stop(Cpu& cpu, File& file) const;
  void prepare(Cpu& cpu, File& file) const;
  void new_block(Cpu& cpu, File& file) const;
  void file_metadata(Cpu& cpu, File& file) const;
  void copy(Cpu& cpu, const File& file, std::int64_t buffer) const;
  void commit(Cpu& cpu, File& file) const;
  void take_one(Cpu& cpu, File& file, int& left) const;

  // Runs a critical section: takes the lock, reads and writes the protected word, releases the lock.
  void section(Cpu& cpu, File& file, const Guarded& guarded) const {
    guarded.lock->acquire(cpu);
    inside(cpu, guarded);
    guarded.lock->release(cpu);
    ++file.locks;
  }
  void inside(Cpu& cpu, const Guarded& guarded) const {
    const Value value = cpu.load(guarded.data);
    cpu.execute(options_.section_instructions);
    cpu.store(guarded.data, value + 1);
  }
  // Takes the inner lock inside the outer one. With `merged`, the outer lock protects both words.
  void nested(Cpu& cpu, File& file, const Guarded& outer, const Guarded& inner) const {
    outer.lock->acquire(cpu);
    ++file.locks;
    inside(cpu, outer);
    if (options_.merged) {
      inside(cpu, inner);
    } else {
      section(cpu, file, inner);
    }
    outer.lock->release(cpu);
  }

  LocksPer4kWriteOptions options_;
  std::int64_t between_cycles_ = 0;
  Guarded j_state_, t_handle_, j_list_, group_, inodes_, zone_;
  std::vector<File> files_;
  FunctionId user_ = 0, sys_write_ = 0, time_ = 0, grab_ = 0, start_ = 0, stop_ = 0, prepare_ = 0, new_block_ = 0, commit_ = 0,
             refill_ = 0;
};

Guarded LocksPerWrite::guard(const WorkloadSetup& setting, const std::string& name, const std::string& figures) const {
  const int line = setting.memory.line_bytes();
  const Layout layout{.name = figures, .size = line, .alignment = line, .fields = {{"lock", 0, kLockWordBytes}, {"data", 16}}};
  const Address object = setting.memory.place(layout, name);
  return {&setting.locks.create(options_.lock, name, {.word = object, .waits_in = {}, .figures = figures}), object + 16};
}

void LocksPerWrite::set_up(const WorkloadSetup& setting) {
  if (options_.writers > setting.machine.cpus) {
    throw std::invalid_argument(fmt::format("workload.writers: {} programs write, the machine has {} CPUs; legal: 1 to {}",
                                            options_.writers, setting.machine.cpus, setting.machine.cpus));
  }
  between_cycles_ = cycles(options_.between_writes_us, setting.machine);
  AddressSpace& memory = setting.memory;
  j_state_ = guard(setting, "j_state_lock", "j_state_lock");
  t_handle_ = guard(setting, "t_handle_lock", "t_handle_lock");
  j_list_ = guard(setting, "j_list_lock", "j_list_lock");
  group_ = guard(setting, "sb_bgl_lock", "sb_bgl_lock");
  inodes_ = guard(setting, "inode_lock", "inode_lock");
  zone_ = guard(setting, "zone_lock", "zone_lock");
  for (int writer = 0; writer < options_.writers; ++writer) {
    const std::string index = "[" + std::to_string(writer) + "]";
    File file;
    file.page_tree = guard(setting, "page_lock" + index, "page_lock");
    file.buffers = guard(setting, "private_lock" + index, "private_lock");
    file.block_device = guard(setting, "bdev_page_lock" + index, "bdev_page_lock");
    file.user_buffer = memory.place_array("user_buffer" + index, kBufferBytes);
    file.pages = memory.place_array("file_pages" + index, kBufferBytes * options_.buffers);
    file.pages_left = options_.pages_left;
    file.heads_left = options_.buffer_heads_left;
    files_.push_back(std::move(file));
  }
  const auto function = [&memory](const char* name) { return memory.function(name, Mode::kernel); };
  user_ = memory.function("user_program", Mode::user);
  sys_write_ = function("sys_write");
  time_ = function("inode_update_time");
  grab_ = function("grab_cache_page");
  start_ = function("journal_start");
  stop_ = function("journal_stop");
  prepare_ = function("ext3_prepare_write");
  new_block_ = function("ext3_new_block");
  commit_ = function("ext3_commit_write");
  refill_ = function("refill");
}

void LocksPerWrite::run(Cpu& cpu) {
  if (cpu.id().value >= options_.writers) return;
  File& file = files_[cpu.id().value];
  for (std::int64_t buffer = 0; buffer < options_.buffers; ++buffer) {
    if (buffer > 0) {
      const FunctionScope scope(cpu, user_);
      cpu.compute(between_cycles_);
    }
    const double begin = cpu.now_ns();
    file.locks = 0;
    {
      const FunctionScope scope(cpu, sys_write_);
      cpu.execute(options_.other_instructions);
      update_time(cpu, file);
      grab_page(cpu, file);
      prepare(cpu, file);
      copy(cpu, file, buffer);
      commit(cpu, file);
    }
    file.first = false;
    file.locks_of_buffer.push_back(file.locks);
    file.write_ns += cpu.now_ns() - begin;
  }
}

// Updates the inode's time. The time is stored on disk with the inode, so this changes metadata.
void LocksPerWrite::update_time(Cpu& cpu, File& file) const {
  const FunctionScope scope(cpu, time_);
  const auto jiffy = static_cast<std::int64_t>(cpu.now_ns() / kJiffyNs);
  if (jiffy == file.jiffy) return;
  file.jiffy = jiffy;
  journal_start(cpu, file);
  journal_stop(cpu, file);
}

void LocksPerWrite::take_one(Cpu& cpu, File& file, int& left) const {
  if (left == 0) {
    const FunctionScope scope(cpu, refill_);
    section(cpu, file, zone_);
    left = kRefill;
  }
  --left;
}

// Looks up the page, and adds it to the page cache if it is missing. With `merged`, the page is allocated beforehand, and one
// section does both.
void LocksPerWrite::grab_page(Cpu& cpu, File& file) const {
  const FunctionScope scope(cpu, grab_);
  if (!options_.merged) section(cpu, file, file.page_tree);
  take_one(cpu, file, file.pages_left);
  section(cpu, file, file.page_tree);
}

void LocksPerWrite::journal_start(Cpu& cpu, File& file) const {
  const FunctionScope scope(cpu, start_);
  nested(cpu, file, j_state_, t_handle_);
}

void LocksPerWrite::journal_stop(Cpu& cpu, File& file) const {
  const FunctionScope scope(cpu, stop_);
  nested(cpu, file, j_state_, t_handle_);
}

void LocksPerWrite::prepare(Cpu& cpu, File& file) const {
  journal_start(cpu, file);
  const FunctionScope scope(cpu, prepare_);
  take_one(cpu, file, file.heads_left);
  section(cpu, file, file.buffers);  // create_empty_buffers()
  new_block(cpu, file);
  section(cpu, file, file.block_device);  // unmap_underlying_metadata(): does the page cache hold old content of the new block?
}

// Finding a free block takes the bitmap's bit lock; updating the free-block count takes the group's lock.
void LocksPerWrite::new_block(Cpu& cpu, File& file) const {
  const FunctionScope scope(cpu, new_block_);
  if (file.first) file_metadata(cpu, file);  // bitmap
  if (file.first) file_metadata(cpu, file);  // group descriptor
  section(cpu, file, group_);
}

// Adds a buffer to the transaction. journal_get_write_access() and journal_dirty_metadata() each take the list's lock; with
// `merged`, both share one section.
void LocksPerWrite::file_metadata(Cpu& cpu, File& file) const {
  section(cpu, file, j_list_);
  if (!options_.merged) section(cpu, file, j_list_);
}

void LocksPerWrite::copy(Cpu& cpu, const File& file, std::int64_t buffer) const {
  for (Address offset = 0; offset < static_cast<Address>(kBufferBytes); offset += 8) {
    const Value value = cpu.load(file.user_buffer + offset);
    cpu.store(file.pages + static_cast<Address>(buffer * kBufferBytes) + offset, value);
  }
}

void LocksPerWrite::commit(Cpu& cpu, File& file) const {
  {
    const FunctionScope scope(cpu, commit_);
    section(cpu, file, j_list_);                  // journal_dirty_data()
    section(cpu, file, file.page_tree);           // __set_page_dirty_nobuffers()
    if (file.first) section(cpu, file, inodes_);  // puts the inode on the list of dirty inodes
  }
  journal_stop(cpu, file);
}

void LocksPerWrite::report(const RunFacts&, MetricSink& metrics) const {
  const MetricFamily of_buffer =
      metrics.family("write.buffer_<i>.locks", "", kLower, "spin locks that this write of CPU 0 took");
  const auto locks = files_.empty() ? decltype(File::locks_of_buffer)() : files_.front().locks_of_buffer;
  std::int64_t sum = 0;
  for (std::size_t buffer = 0; buffer < locks.size(); ++buffer) {
    of_buffer.add({std::to_string(buffer)}, locks[buffer]);
    sum += locks[buffer];
  }
  metrics.value("write.locks_mean", "", kLower, "spin locks that a write of CPU 0 took, mean",
                static_cast<double>(sum) / static_cast<double>(options_.buffers));
  double ns = 0;
  for (const File& each : files_) ns += each.write_ns;
  metrics.value("cost.write_4k", "ns", kLower, "a write of 4 KB, mean of all writers",
                ns / static_cast<double>(options_.buffers * options_.writers));
}

}  // namespace

WorkloadEntry locks_per_4k_write_workload() {
  return {"locks_per_4k_write",
          "Which locks a 4 KB write to ext3 acquires, and what merging them saves",
          declare<LocksPer4kWriteOptions>(),
          make_workload<LocksPerWrite>,
          {{"cost.write_4k", "write"}, {"write.locks_mean", "locks"}}};
}

}  // namespace linebounce::workloads
