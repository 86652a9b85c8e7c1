#include "sim/native/kernel_locks.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "sim/native/run_program.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/result_files.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kQspinlockFiles = {"kernel/locking/qspinlock.c",      "kernel/locking/qspinlock_stat.h",
                                                  "kernel/locking/lock_events.h",    "kernel/locking/lock_events_list.h",
                                                  "kernel/locking/mcs_spinlock.h",   "include/asm-generic/qspinlock_types.h",
                                                  "include/asm-generic/qspinlock.h", "include/asm-generic/mcs_spinlock.h"};

std::vector<std::string> beside_qspinlock(std::vector<std::string> first, const std::vector<std::string>& last = {}) {
  std::vector<std::string> files = {kQspinlockFiles.front()};
  files.insert(files.end(), first.begin(), first.end());
  files.insert(files.end(), kQspinlockFiles.begin() + 1, kQspinlockFiles.end());
  files.insert(files.end(), last.begin(), last.end());
  return files;
}

// Our replacement headers that need more than an #include of kernel.h.
const std::map<std::string, std::string>& special_headers() {
  static const std::map<std::string, std::string> kHeaders = {
      {"asm/mcs_spinlock.h", "#include <asm-generic/mcs_spinlock.h>\n"},
      {"asm/qspinlock.h", R"(#pragma once
#include <linebounce/kernel.h>
#if __has_include("../../source/arch/x86/include/asm/qspinlock.h")
# include "../../source/arch/x86/include/asm/qspinlock.h"
#else
#include <asm-generic/qspinlock.h>
#endif
)"},
      {"asm/rmwcc.h", R"(#pragma once
#define LOCK_PREFIX
// `lock btsl` of a bit that has a byte of its own, as the pending bit: an exchange of that byte.
#define GEN_BINARY_RMWcc(op, word, cc, constraint, bit) \
  (__atomic_exchange_n((u8 *)&(word) + (bit) / 8, (u8)(1u << ((bit) % 8)), __ATOMIC_SEQ_CST) != 0)
)"},
      {"asm/spinlock_types.h", "#include <linebounce/kernel.h>\n#include <asm-generic/qspinlock_types.h>\n"},
      {"linux/spinlock.h", R"(#pragma once
#include <asm/qspinlock.h>
typedef struct spinlock {
  struct raw_spinlock {
    arch_spinlock_t raw_lock;
  } rlock;
} spinlock_t;
typedef struct raw_spinlock raw_spinlock_t;
#define spin_lock(lock) queued_spin_lock(&(lock)->rlock.raw_lock)
#define spin_trylock(lock) queued_spin_trylock(&(lock)->rlock.raw_lock)
#define spin_unlock(lock) queued_spin_unlock(&(lock)->rlock.raw_lock)
#define raw_spin_lock_init(lock) ((void)(*(lock) = (raw_spinlock_t){{{{0}}}}))
#define raw_spin_lock_irq(lock) queued_spin_lock(&(lock)->raw_lock)
#define raw_spin_unlock_irq(lock) queued_spin_unlock(&(lock)->raw_lock)
#define raw_spin_lock_irqsave(lock, flags) ((void)(flags), queued_spin_lock(&(lock)->raw_lock))
#define raw_spin_unlock_irqrestore(lock, flags) queued_spin_unlock(&(lock)->raw_lock)
#if __has_include(<asm-generic/qrwlock.h>)
#include <asm-generic/qrwlock_types.h>
#include <asm-generic/qrwlock.h>
#endif
)"}};
  return kHeaders;
}

constexpr const char* kQspinlock = R"(
LINEBOUNCE_LOCK(struct qspinlock, .title = "qspinlock of Linux")
void acquire(struct qspinlock *lock) { queued_spin_lock(lock); }
linebounce_bool try_acquire(struct qspinlock *lock) { return queued_spin_trylock(lock); }
void release(struct qspinlock *lock) { queued_spin_unlock(lock); }
)";

constexpr const char* kQrwlock = R"(
LINEBOUNCE_LOCK(struct qrwlock, .title = "qrwlock of Linux", .readers_wait_nested = 1)
void acquire(struct qrwlock *lock) { queued_write_lock(lock); }
linebounce_bool try_acquire(struct qrwlock *lock) { return queued_write_trylock(lock); }
void release(struct qrwlock *lock) { queued_write_unlock(lock); }
void acquire_shared(struct qrwlock *lock) { queued_read_lock(lock); }
void release_shared(struct qrwlock *lock) { queued_read_unlock(lock); }
)";

constexpr const char* kRwsem = R"(
LINEBOUNCE_LOCK(struct rw_semaphore, .title = "rwsem of Linux", .readers_wait_nested = 1)
void init(struct rw_semaphore *sem) { init_rwsem(sem); }
void acquire(struct rw_semaphore *sem) { down_write(sem); }
linebounce_bool try_acquire(struct rw_semaphore *sem) { return down_write_trylock(sem); }
void release(struct rw_semaphore *sem) { up_write(sem); }
void acquire_shared(struct rw_semaphore *sem) { down_read(sem); }
void release_shared(struct rw_semaphore *sem) { up_read(sem); }
)";

constexpr const char* kOsq = R"(
LINEBOUNCE_LOCK(struct optimistic_spin_queue, .title = "osq_lock of Linux", .fifo = 1)
void acquire(struct optimistic_spin_queue *lock) {
  while (!osq_lock(lock)) cpu_relax();
}
void release(struct optimistic_spin_queue *lock) { osq_unlock(lock); }
)";

constexpr const char* kMcs = R"(
struct kernel_mcs {
  struct mcs_spinlock *tail;
};
static DEFINE_PER_CPU_ALIGNED(struct mcs_spinlock, mine);
LINEBOUNCE_LOCK(struct kernel_mcs, .title = "mcs_spinlock of Linux", .fifo = 1)
void acquire(struct kernel_mcs *lock) { mcs_spin_lock(&lock->tail, this_cpu_ptr(&mine)); }
void release(struct kernel_mcs *lock) { mcs_spin_unlock(&lock->tail, this_cpu_ptr(&mine)); }
)";

constexpr const char* kLockref = R"(
// A reader holds a reference. A writer needs that there are none, and marks the object dead meanwhile.
LINEBOUNCE_LOCK(struct lockref, .title = "lockref of Linux: readers hold references")
void acquire(struct lockref *lock) {
  for (;;) {
    spin_lock(&lock->lock);
    if (lock->count == 0) break;
    spin_unlock(&lock->lock);
    while (READ_ONCE(lock->count) != 0) cpu_relax();
  }
  lockref_mark_dead(lock);
  spin_unlock(&lock->lock);
}
void release(struct lockref *lock) {
  spin_lock(&lock->lock);
  lock->count = 0;
  spin_unlock(&lock->lock);
}
void acquire_shared(struct lockref *lock) {
  while (!lockref_get_not_dead(lock)) cpu_relax();
}
void release_shared(struct lockref *lock) {
  if (lockref_put_or_lock(lock)) return;
  lock->count--;
  spin_unlock(&lock->lock);
}
)";

constexpr std::string_view kMadeBy = "// Made by `linebounce lock`";

class Unpacking {
 public:
  Unpacking(const KernelLock& lock, fs::path kernel, fs::path to)
      : lock_(lock), kernel_(std::move(kernel)), to_(std::move(to)), source_(to_ / "source") {}

  fs::path unpack(const fs::path& patch) {
    fs::remove_all(source_);
    if (is_made_earlier()) fs::remove_all(to_ / "headers");
    fs::create_directories(source_);
    fs::is_directory(kernel_) ? copy_files() : extract_files();
    for (const std::string& file : lock_.files) {
      if (!fs::exists(source_ / file))
        throw InputError(fmt::format("{}: {} is missing, which {} needs", kernel_.string(), file, lock_.name));
    }
    if (!patch.empty()) apply(patch);
    for (const std::string& file : lock_.files) add_headers(file);
    return write_lock();
  }

 private:
  // Whether `linebounce lock` has written this lock here before, so that the headers are its own.
  [[nodiscard]] bool is_made_earlier() const {
    const fs::path file = to_ / (lock_.name + ".c");
    return fs::exists(file) && read_file(file).starts_with(kMadeBy);
  }

  void copy_files() {
    for (const std::string& file : lock_.files) {
      if (!fs::exists(kernel_ / file)) continue;
      fs::create_directories((source_ / file).parent_path());
      fs::copy_file(kernel_ / file, source_ / file);
    }
  }

  void extract_files() {
    if (!fs::exists(kernel_)) throw InputError(read_problem(kernel_.string(), ENOENT));
    std::vector<std::string> words = {"tar",
                                      "-xf",
                                      kernel_.string(),
                                      "-C",
                                      source_.string(),
                                      "--strip-components=1",
                                      "--wildcards",
                                      "--no-wildcards-match-slash"};
    for (const std::string& file : lock_.files) words.push_back("*/" + file);
    const ProgramOutput output = run_program(words);
    if (output.could_not_run())
      throw ConfigError(fmt::format("{}: to unpack it, the program tar is needed, and can't be run", kernel_.string()));
    if (output.code != 0) throw InputError(fmt::format("{}: tar can't unpack it:\n{}", kernel_.string(), output.text));
  }

  void apply(const fs::path& patch) const {
    const ProgramOutput output =
        run_program({"patch", "--batch", "--forward", "-p1", "-d", source_.string(), "-i", fs::absolute(patch).string()});
    if (output.could_not_run())
      throw ConfigError(fmt::format("{}: to apply it, the program patch is needed, and can't be run", patch.string()));
    if (output.code != 0) throw ConfigError(fmt::format("{} does not apply:\n{}", patch.string(), output.text));
  }

  // Writes a header of ours for each header that the file includes and that was not copied from the kernel.
  void add_headers(const std::string& file) {
    const std::string text = read_file(source_ / file);
    constexpr std::string_view kInclude = "#include <";
    for (std::size_t at = 0; (at = text.find(kInclude, at)) != std::string::npos;) {
      at += kInclude.size();
      add_header(text.substr(at, text.find('>', at) - at));
    }
  }

  void add_header(const std::string& name) {
    const fs::path header = to_ / "headers" / name;
    if (fs::exists(source_ / "include" / name) || name.find("..") != std::string::npos || !added_.insert(name).second) return;
    fs::create_directories(header.parent_path());
    const auto special = special_headers().find(name);
    const bool is_of_tasks = name.starts_with("linux/sched");
    write_file(header, special != special_headers().end() ? special->second
                       : is_of_tasks                      ? "#include <linebounce/kernel_tasks.h>\n"
                                                          : "#include <linebounce/kernel.h>\n");
    if (name == "linux/spinlock.h") add_header("asm/qspinlock.h");
    if (name == "asm/qspinlock.h" || name == "linux/spinlock.h") add_header("asm/spinlock_types.h");
  }

  [[nodiscard]] fs::path write_lock() const {
    std::string text =
        fmt::format("{} from {}.\n// linebounce includes from: headers source/include\n", kMadeBy, kernel_.string());
    text += "#include <linebounce/kernel.h>\n";
    for (std::size_t i = 0; i < lock_.sources; ++i) text += fmt::format("#include \"source/{}\"\n", lock_.files[i]);
    fs::path file = to_ / (lock_.name + ".c");
    write_file(file, text + lock_.functions);
    return file;
  }

  const KernelLock& lock_;
  fs::path kernel_, to_, source_;
  std::set<std::string> added_;
};

}  // namespace

const std::vector<KernelLock>& kernel_locks() {
  static const std::vector<KernelLock> kLocks = {
      {"qspinlock", "the queued spinlock", kQspinlockFiles, 1, kQspinlock},
      {"qspinlock_x86", "the queued spinlock, its pending bit set as on x86",
       beside_qspinlock({}, {"arch/x86/include/asm/qspinlock.h"}), 1, kQspinlock},
      {"qrwlock", "the queued reader-writer lock",
       beside_qspinlock({"kernel/locking/qrwlock.c"}, {"include/asm-generic/qrwlock_types.h", "include/asm-generic/qrwlock.h"}),
       2, kQrwlock},
      {"rwsem", "the reader-writer semaphore, whose waiters spin and then sleep",
       beside_qspinlock({"kernel/locking/osq_lock.c", "kernel/locking/rwsem.c"},
                        {"include/linux/rwsem.h", "include/linux/osq_lock.h", "include/linux/list.h"}),
       3, kRwsem},
      {"osq", "the queue of mutex and rwsem", {"kernel/locking/osq_lock.c", "include/linux/osq_lock.h"}, 1, kOsq},
      {"mcs", "the MCS lock", {"kernel/locking/mcs_spinlock.h", "include/asm-generic/mcs_spinlock.h"}, 1, kMcs},
      {"lockref", "a spinlock and a reference count in one word",
       beside_qspinlock({"lib/lockref.c"}, {"include/linux/lockref.h"}), 2, kLockref}};
  return kLocks;
}

fs::path unpack_kernel_lock(const KernelLock& lock, const fs::path& kernel, const fs::path& patch, const fs::path& to) {
  return Unpacking(lock, kernel, to).unpack(patch);
}

}  // namespace linebounce::sim
