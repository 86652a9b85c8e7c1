#include "workloads/linux24/files/proc_directory.hpp"

#include <fmt/format.h>

#include "workloads/counters/counters.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

// The accessed fields of struct dentry on i386.
constexpr Address kCount = 0;
constexpr Address kLock = 8;
constexpr Address kInode = 24;
constexpr Address kList = 28;  // d_lru and d_child; dcache_lock protects nothing else
constexpr Address kName = 44;
constexpr int kDentryBytes = 128;

std::string numbered(const char* name, int number) {
  return fmt::format("{}[{}]", name, number);
}

}  // namespace

ProcDirectory::ProcDirectory(const Place& place, DcacheInstructions instructions) : instructions_(instructions) {
  AddressSpace& memory = place.memory;
  const auto kernel = [&memory](const char* name) { return memory.function(name, Mode::kernel); };
  walk_ = kernel("link_path_walk");
  lookup_ = kernel("__d_lookup");
  dput_ = kernel("dput");
  dec_and_lock_ = kernel("atomic_dec_and_lock");
  alloc_ = kernel("d_alloc");
  instantiate_ = kernel("d_instantiate");
  rehash_ = kernel("d_rehash");
  drop_ = kernel("d_drop");
  process_ = kernel("proc_pid_lookup");
  readdir_ = kernel("dcache_readdir");
  // The kernel spins out of line: each source file has a section of its own for that.
  const FunctionId of_dcache = kernel("text_lock_dcache");
  const WaitsIn waits_in({{dec_and_lock_, kernel("text_lock_dec_and_lock")},
                          {readdir_, kernel("text_lock_libfs")},
                          {alloc_, of_dcache},
                          {instantiate_, of_dcache},
                          {rehash_, of_dcache},
                          {drop_, of_dcache}});
  dcache_lock_ = &place.locks.create(place.dcache_lock, "dcache_lock", {.word = {}, .waits_in = waits_in, .figures = {}});
  directory_lock_ =
      &place.locks.create(place.directory_lock, "i_sem", {.word = {}, .waits_in = kernel("__down"), .figures = {}});
  const int line = memory.line_bytes();
  lru_ = memory.place({.name = "dentry_unused", .size = line, .fields = {{"list", 0, 8}}}, "dentry_unused", line);
  root_ = place_dentry(place, "root_dentry", 1 + place.cpus);  // the root's users are all CPUs' processes
  proc_ = place_dentry(place, "proc_dentry", 1);
  for (int cpu = 0; cpu < place.cpus; ++cpu) {
    processes_.push_back(place_dentry(place, numbered("process_dentry", cpu), 0));
    files_.push_back(place_dentry(place, numbered("stat_dentry", cpu), 0));
  }
  for (int entry = 0; entry < place.entries; ++entry)
    entries_.push_back(place_dentry(place, numbered("entry_dentry", entry), 1).address);
}

ProcDirectory::Dentry ProcDirectory::place_dentry(const Place& place, const std::string& name, int users) const {
  const Layout layout{.name = "dentry",
                      .size = kDentryBytes,
                      .fields = {{"d_count", static_cast<int>(kCount), 4},
                                 {"d_flags", 4, 4},
                                 {"d_lock", static_cast<int>(kLock), kLockWordBytes},
                                 {"d_inode", static_cast<int>(kInode), 4},
                                 {"d_lists", static_cast<int>(kList), 16},
                                 {"d_name", static_cast<int>(kName), 12}}};
  const Address address = place.memory.place(layout, name, place.memory.line_bytes());
  place.memory.preset(address + kCount, static_cast<Value>(users), 4);
  return {address,
          &place.locks.create(place.d_lock, name + ".d_lock", {.word = address + kLock, .waits_in = {}, .figures = "d_lock"})};
}

void ProcDirectory::open_and_close(Cpu& cpu) {
  const Dentry& process = own(processes_, cpu);
  const Dentry& file = own(files_, cpu);
  const FunctionScope scope(cpu, walk_);
  cpu.execute(instructions_.walk);
  look_up(cpu, proc_);
  cpu.execute(instructions_.walk);
  look_up(cpu, process);
  put(cpu, proc_);
  cpu.execute(instructions_.walk);
  look_up(cpu, file);
  put(cpu, process);
  put(cpu, file);
}

// Walks the hash chain without a lock. The dentry's own lock then confirms that the dentry still has this name.
void ProcDirectory::look_up(Cpu& cpu, const Dentry& dentry) const {
  const FunctionScope scope(cpu, lookup_);
  cpu.load(dentry.address + kName, 4);
  cpu.execute(instructions_.lookup);
  dentry.lock->acquire(cpu);
  cpu.fetch_add(dentry.address + kCount, 1, 4);
  cpu.load(dentry.address + kInode, 4);
  dentry.lock->release(cpu);
}

bool ProcDirectory::was_last(Cpu& cpu, const Dentry& dentry) const {
  const FunctionScope scope(cpu, dec_and_lock_);
  return dec_and_lock(cpu, dentry.address + kCount, *dcache_lock_, 4);
}

void ProcDirectory::put(Cpu& cpu, const Dentry& dentry) const {
  const FunctionScope scope(cpu, dput_);
  if (!was_last(cpu, dentry)) return;
  const Value unused = cpu.load(lru_);
  cpu.execute(instructions_.update);
  cpu.store(dentry.address + kList, unused, 4);
  cpu.store(lru_, dentry.address);
  dcache_lock_->release(cpu);
}

void ProcDirectory::update(Cpu& cpu, const Dentry& dentry, FunctionId function) const {
  cpu.execute(instructions_.process);
  const FunctionScope scope(cpu, function);
  dcache_lock_->acquire(cpu);
  const Value parent = cpu.load(proc_.address + kList, 4);
  cpu.execute(instructions_.update);
  cpu.store(dentry.address + kList, parent, 4);
  cpu.store(proc_.address + kList, dentry.address, 4);
  dcache_lock_->release(cpu);
}

void ProcDirectory::replace_process(Cpu& cpu) {
  const Dentry& process = own(processes_, cpu);
  const Dentry& file = own(files_, cpu);
  const FunctionScope scope(cpu, process_);
  update(cpu, file, drop_);
  update(cpu, process, drop_);
  for (const Dentry* dentry : {&process, &file}) {
    update(cpu, *dentry, alloc_);
    update(cpu, *dentry, instantiate_);
    update(cpu, *dentry, rehash_);
  }
}

// The lock is released while each entry's name is copied to user memory.
void ProcDirectory::list_entries(Cpu& cpu) const {
  dcache_lock_->acquire(cpu);
  for (const Address entry : entries_) {
    cpu.load(entry + kInode, 4);
    dcache_lock_->release(cpu);
    cpu.execute(instructions_.entry);
    dcache_lock_->acquire(cpu);
    cpu.load(entry + kList, 4);
  }
  dcache_lock_->release(cpu);
}

}  // namespace linebounce::workloads
