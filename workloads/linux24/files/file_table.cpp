#include "workloads/linux24/files/file_table.hpp"

#include "models/failure.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

// The accessed fields of struct files_struct and struct file on i386; pointers have 4 bytes.
constexpr Address kUsers = 0;
constexpr Address kFileLock = 8;
constexpr Address kMaxFiles = 16;
constexpr Address kTable = 28;
constexpr Address kArray = 64;
constexpr int kPointer = 4;

Layout files_layout() {
  return {.name = "files_struct",
          .size = static_cast<int>(kArray) + FileTable::kFiles * kPointer,
          .fields = {{"count", static_cast<int>(kUsers), 4},
                     {"file_lock", static_cast<int>(kFileLock), kLockWordBytes},
                     {"max_fds", static_cast<int>(kMaxFiles), 4},
                     {"max_fdset", 20, 4},
                     {"next_fd", 24, 4},
                     {"fd", static_cast<int>(kTable), kPointer},
                     {"close_on_exec", 32, kPointer},
                     {"open_fds", 36, kPointer},
                     {"fd_array", static_cast<int>(kArray), FileTable::kFiles * kPointer}}};
}

}  // namespace

Value KernelAtomics::add(Cpu& cpu, Address word, Value addend, int bytes) const {
  if (smp_) return cpu.fetch_add(word, addend, bytes);
  const Value before = cpu.load(word, bytes);
  cpu.store(word, before + addend, bytes);
  return before;
}

FileTable::FileTable(const Place& place, FileTableDesign design, KernelAtomics atomics, FileTableCosts costs)
    : design_(design), atomics_(atomics), costs_(costs) {
  AddressSpace& memory = place.memory;
  files_ = memory.place(files_layout(), place.name, memory.line_bytes());
  memory.preset(files_ + kUsers, static_cast<Value>(place.tasks), 4);
  memory.preset(files_ + kMaxFiles, kFiles, 4);
  memory.preset(files_ + kTable, files_ + kArray, kPointer);
  if (atomics.smp()) {
    lock_ = &place.locks.create(place.file_lock, place.name + ".file_lock",
                                {.word = files_ + kFileLock, .waits_in = {}, .figures = "file_lock"});
  }
  fget_ = memory.function(design == FileTableDesign::fget_light ? "fget_light" : "fget", Mode::kernel);
  fput_ = memory.function("fput", Mode::kernel);
}

Address FileTable::place_file(AddressSpace& memory, const std::string& name) {
  const Layout layout{.name = "file",
                      .size = 64,
                      .fields = {{"f_list", 0, 8},
                                 {"f_dentry", 8, kPointer},
                                 {"f_vfsmnt", 12, kPointer},
                                 {"f_op", static_cast<int>(kOperations), kPointer},
                                 {"f_count", static_cast<int>(kCount), 4},
                                 {"f_flags", 24, 4},
                                 {"f_mode", 28, 4},
                                 {"f_pos", static_cast<int>(kPosition), 8}}};
  return memory.place(layout, name, memory.line_bytes());
}

void FileTable::install(AddressSpace& memory, int descriptor, Address file) const {
  memory.preset(files_ + kArray + static_cast<Address>(descriptor * kPointer), file, kPointer);
  memory.preset(file + kCount, 1, 4);
}

// fcheck()
Address FileTable::look_up(Cpu& cpu, int descriptor) const {
  const Value files = cpu.load(files_ + kMaxFiles, 4);
  if (static_cast<Value>(descriptor) >= files) return 0;
  const Address table = cpu.load(files_ + kTable, kPointer);
  return cpu.load(table + static_cast<Address>(descriptor * kPointer), kPointer);
}

FileTable::Held FileTable::get_locked(Cpu& cpu, int descriptor) {
  if (lock_ != nullptr) lock_->acquire_shared(cpu);
  const Address file = look_up(cpu, descriptor);
  if (file != 0) atomics_.add(cpu, file + kCount, 1, 4);
  if (lock_ != nullptr && !lock_->release_shared(cpu))
    throw ModelFailure("fget: a reader that took a reference can't read again");
  return {file, file != 0};
}

// A file with no references is being freed. Its count may be raised only if it is not 0.
FileTable::Held FileTable::get_counted(Cpu& cpu, int descriptor) {
  const Address file = look_up(cpu, descriptor);
  if (file == 0) return {};
  if (!atomics_.smp()) {
    atomics_.add(cpu, file + kCount, 1, 4);
    return {file, true};
  }
  Value count = cpu.load(file + kCount, 4);
  while (count != 0) {
    const Value seen = cpu.compare_exchange(file + kCount, count, count + 1, 4);
    if (seen == count) return {file, true};
    count = seen;
  }
  return {};
}

FileTable::Held FileTable::get(Cpu& cpu, int descriptor) {
  const FunctionScope scope(cpu, fget_);
  if (design_ == FileTableDesign::fget_light) {
    const Value users = cpu.load(files_ + kUsers, 4);
    if (users == 1) {
      cpu.execute(costs_.fget_light);
      return {look_up(cpu, descriptor), false};
    }
  }
  cpu.execute(costs_.fget);
  return design_ == FileTableDesign::rcu ? get_counted(cpu, descriptor) : get_locked(cpu, descriptor);
}

bool FileTable::put(Cpu& cpu, const Held& held) {
  if (!held.counted) return false;
  const FunctionScope scope(cpu, fput_);
  return atomics_.add(cpu, held.file + kCount, static_cast<Value>(-1), 4) == 1;
}

}  // namespace linebounce::workloads
