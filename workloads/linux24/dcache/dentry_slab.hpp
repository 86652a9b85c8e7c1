// The slab cache of dentries in Linux 2.4. Each CPU keeps some free objects, and exchanges batches with a shared list under its
// lock. Free objects are linked through a word that is not poisoned.
#pragma once

#include <vector>

#include "models/core/cpu.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/layout_set.hpp"
#include "workloads/program/list.hpp"

namespace linebounce::workloads {

// ---- field offsets of dentries and inodes, from a layout file, and the values of their words ----

constexpr int kWordBytes = 4;            // size of pointers, counts and flags in a 32-bit kernel
constexpr Value kMinusOne = 0xFFFFFFFF;  // -1 in such a word
using list = List<kWordBytes>;
constexpr Address kNoDentry = 0;

// A bit of d_vfs_flags.
constexpr Value kReferenced = 0x8;  // flag: looked up since the last pruning
// Value of d_op: the entry is freed with its last reference. No other operation is modelled.
constexpr Value kDeletes = 1;

// Flag in d_flags, which only the holder of dcache_lock writes. In designs that walk hash chains without the lock: the entry is
// on no chain.
constexpr Value kUnhashed = 0x10;

// The slab allocator's poison, stored in d_count, d_parent and d_hash of a freed dentry. A CPU that reads it has used an entry
// without a reference.
constexpr Value kPoison = 0x6B6B6B6B;

struct DentryFields {
  explicit DentryFields(const Layout& layout)
      : d_count(offset_of(layout, "d_count")),
        d_flags(offset_of(layout, "d_flags")),
        d_inode(offset_of(layout, "d_inode")),
        d_parent(offset_of(layout, "d_parent")),
        d_vfsmnt(offset_of(layout, "d_vfsmnt")),
        d_hash(offset_of(layout, "d_hash")),
        d_lru(offset_of(layout, "d_lru")),
        d_child(offset_of(layout, "d_child")),
        d_subdirs(offset_of(layout, "d_subdirs")),
        d_alias(offset_of(layout, "d_alias")),
        name_pointer(offset_of(layout, "d_name.name")),
        name_length(offset_of(layout, "d_name.len")),
        name_hash(offset_of(layout, "d_name.hash")),
        d_op(offset_of(layout, "d_op")),
        d_sb(offset_of(layout, "d_sb")),
        d_vfs_flags(offset_of(layout, "d_vfs_flags")),
        d_fsdata(offset_of(layout, "d_fsdata")),
        d_iname(offset_of(layout, "d_iname")) {}

  Address d_count, d_flags, d_inode, d_parent, d_vfsmnt, d_hash, d_lru, d_child, d_subdirs, d_alias;
  Address name_pointer, name_length, name_hash, d_op, d_sb, d_vfs_flags, d_fsdata, d_iname;
};

struct InodeFields {
  explicit InodeFields(const Layout& layout)
      : i_dentry(offset_of(layout, "i_dentry")), i_count(offset_of(layout, "i_count")), i_mode(offset_of(layout, "i_mode")) {}

  Address i_dentry, i_count, i_mode;
};

// One component of a path, as the system call has it in registers and on its stack. Only the text that is compared is in
// simulated memory. Names have at most eight bytes.
struct Name {
  Value text = 0;
  Value hash = 0;
  int length = 8;
};

inline Name name_of(std::uint64_t number) {
  std::uint64_t mixed = number * 0x9E3779B97F4A7C15ULL;
  mixed ^= mixed >> 29;
  return {.text = number, .hash = (mixed >> 7) & 0xFFFFFFFF};
}

class DentrySlab {
 public:
  DentrySlab(AddressSpace& memory, LockSet& locks, const Layout& layout, int objects, int cpus, FunctionId function);

  // Errors: ModelFailure if all objects are in use.
  Address allocate(Cpu& cpu);
  void free(Cpu& cpu, Address object);

  [[nodiscard]] const std::vector<Address>& objects() const { return objects_; }
  [[nodiscard]] std::size_t number_of(Address object) const { return (object - objects_.front()) / stride_; }

 private:
  static constexpr Value kBatch = 30;  // 2.4's batchcount for small objects
  void refill(Cpu& cpu, Address own);
  void flush(Cpu& cpu, Address own);
  void push(Cpu& cpu, Address head, Address object) const;
  Address pop(Cpu& cpu, Address head) const;

  Address link_;  // offset of the link in a free object

  MeteredLock* lock_;
  FunctionId function_;
  Address shared_ = 0;  // head of the shared list; the list's length follows it
  std::vector<Address> objects_;
  Address stride_ = 1;
  std::vector<Address> by_cpu_;  // each CPU's list head and length
};

}  // namespace linebounce::workloads
