#include "commands/lock/kernel_locks.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "commands/lock/kernel_sources.hpp"
#include "models/text/visible.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/own_directory.hpp"
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

constexpr std::string_view kQspinlockCalls = R"(
void acquire(struct qspinlock *lock) { queued_spin_lock(lock); }
linebounce_bool try_acquire(struct qspinlock *lock) { return queued_spin_trylock(lock); }
void release(struct qspinlock *lock) { queued_spin_unlock(lock); }
)";

constexpr std::string_view kQspinlock = R"(
LINEBOUNCE_LOCK(struct qspinlock, .title = "qspinlock of Linux"))";

constexpr std::string_view kQspinlockX86 = R"(
// After it has set the pending bit, x86's code looks at the word by a plain load, and does not wait if that finds the lock free.
// Only on x86 is such a load an acquire.
LINEBOUNCE_LOCK(struct qspinlock, .title = "qspinlock of Linux, as on x86", .models = "sc tso"))";

constexpr const char* kTicket = R"(
struct kernel_ticket {
  arch_spinlock_t word;
};
LINEBOUNCE_LOCK(struct kernel_ticket, .title = "ticket lock of Linux", .fifo = 1)
void acquire(struct kernel_ticket *lock) { arch_spin_lock(&lock->word); }
linebounce_bool try_acquire(struct kernel_ticket *lock) { return arch_spin_trylock(&lock->word); }
void release(struct kernel_ticket *lock) { arch_spin_unlock(&lock->word); }
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
// The hand-off is a relaxed store, and the waiter's load is relaxed, too: mutex and rwsem, whose queue this is, order their
// sections by their own words. So it claims nothing under c11.
LINEBOUNCE_LOCK(struct optimistic_spin_queue, .title = "osq_lock of Linux", .fifo = 1, .models = "sc tso ia64")
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
// A reader holds a reference. A writer needs that there are none, and marks the object dead meanwhile. A reference is taken and
// dropped by relaxed compare-exchanges, so it keeps an object, but orders no access to it under c11.
LINEBOUNCE_LOCK(struct lockref, .title = "lockref of Linux: readers hold references", .models = "sc tso ia64")
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

// The names in `#include <NAME>`.
std::vector<std::string> included_by(const std::string& line) {
  std::vector<std::string> names;
  constexpr std::string_view kInclude = "include", kBlanks = " \t";
  for (std::size_t at = 0; (at = line.find('#', at)) != std::string::npos;) {
    at = line.find_first_not_of(kBlanks, at + 1);
    if (at == std::string::npos || line.compare(at, kInclude.size(), kInclude) != 0) continue;
    at = line.find_first_not_of(kBlanks, at + kInclude.size());
    if (at == std::string::npos || line[at] != '<') continue;
    const std::size_t end = line.find('>', at);
    if (end == std::string::npos) break;
    names.push_back(line.substr(at + 1, end - at - 1));
  }
  return names;
}

class Unpacking {
 public:
  Unpacking(const KernelLock& lock, fs::path kernel, fs::path to)
      : lock_(lock), kernel_(std::move(kernel)), to_(std::move(to)) {}

  fs::path unpack(const fs::path& patch) {
    require_own_directory(to_);
    if (!is_there(kernel_)) throw InputError(read_problem(kernel_.string(), ENOENT));
    NewOwnDirectory directory(to_);
    UnfinishedFolders made(to_, {"source", "headers"});
    source_ = made.path() / "source";
    headers_ = made.path() / "headers";
    make_directories(source_);
    make_directories(headers_);
    copy_kernel_files(kernel_, lock_.files, source_);
    for (const std::string& file : lock_.files) {
      if (!is_there(source_ / file))
        throw InputError(fmt::format("{}: {} is missing, which {} needs", kernel_.string(), file, lock_.name));
    }
    if (!patch.empty()) apply_patch(patch, source_);
    for (const std::string& file : lock_.files) add_headers(file);
    made.finish();
    directory.keep();
    return write_lock();
  }

 private:
  // Writes a header of ours for each header that the file includes and that was not copied from the kernel. Also takes includes
  // in comments: a header that nothing includes does no harm.
  void add_headers(const std::string& file) {
    std::istringstream text(read_file(source_ / file));
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      for (const std::string& name : included_by(line)) {
        if (const std::string problem = name_problem(name); !problem.empty())
          throw ConfigError(
              fmt::format("{}: {}:{}: includes <{}>: {}", kernel_.string(), file, number, visible_name(name), problem));
        add_header(name);
      }
    }
  }

  void add_header(const std::string& name) {
    if (is_there(inner_path(source_ / "include", name)) || !added_.insert(name).second) return;
    const fs::path header = inner_path(headers_, name);
    make_directories(header.parent_path());
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
        fmt::format("// Made by `linebounce lock` from {}.\n// linebounce includes from: headers source/include\n",
                    visible_name(kernel_.string()));
    text += "#include <linebounce/kernel.h>\n";
    for (std::size_t i = 0; i < lock_.sources; ++i) text += fmt::format("#include \"source/{}\"\n", lock_.files[i]);
    fs::path file = to_ / (lock_.name + ".c");
    replace_file(file, text + lock_.functions);
    return file;
  }

  const KernelLock& lock_;
  fs::path kernel_, to_, source_, headers_;
  std::set<std::string> added_;
};

}  // namespace

const std::vector<KernelLock>& kernel_locks() {
  static const std::vector<KernelLock> kLocks = {
      {"qspinlock", "the queued spinlock", kQspinlockFiles, 1, fmt::format("{}{}", kQspinlock, kQspinlockCalls)},
      {"qspinlock_x86", "the queued spinlock, its pending bit set as on x86",
       beside_qspinlock({}, {"arch/x86/include/asm/qspinlock.h"}), 1, fmt::format("{}{}", kQspinlockX86, kQspinlockCalls)},
      {"ticket",
       "the ticket lock of RISC-V and others",
       {"include/asm-generic/spinlock.h", "include/asm-generic/spinlock_types.h"},
       1,
       kTicket},
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

const KernelLock& kernel_lock_called(const std::string& name) {
  std::vector<std::string> known;
  for (const KernelLock& lock : kernel_locks()) {
    if (lock.name == name) return lock;
    known.push_back(lock.name);
  }
  throw ConfigError("lock of the kernel " + not_known(name, known));
}

fs::path unpack_kernel_lock(const KernelLock& lock, const fs::path& kernel, const fs::path& patch, const fs::path& to) {
  return Unpacking(lock, kernel, to).unpack(patch);
}

}  // namespace linebounce::sim
