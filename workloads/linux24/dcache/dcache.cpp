// Entries and their lifetimes: reference counts, hash chains, tree, inodes.
#include "workloads/linux24/dcache/dcache.hpp"

#include "models/failure.hpp"

namespace linebounce::workloads {
namespace {

// Instructions that touch no memory: roughly as many as compiled code has.
constexpr std::int64_t kLookupInstructions = 20;   // entry, d_hash, exit
constexpr std::int64_t kEntryInstructions = 6;     // for each entry of a chain
constexpr std::int64_t kCompareInstructions = 40;  // for each name comparison: `repz cmpsb` takes some cycles per byte

FunctionId kernel(AddressSpace& memory, const char* name) {
  return memory.function(name, Mode::kernel);
}

}  // namespace

Dcache::Dcache(const DcacheSetup& setup, const std::string& dentry_structure)
    : field_(setup.layouts.find(dentry_structure)),
      inode_(setup.layouts.find("inode")),
      function_{.d_lookup = kernel(setup.memory, "d_lookup"),
                .dput = kernel(setup.memory, "dput"),
                .d_alloc = kernel(setup.memory, "d_alloc"),
                .d_instantiate = kernel(setup.memory, "d_instantiate"),
                .d_rehash = kernel(setup.memory, "d_rehash"),
                .d_delete = kernel(setup.memory, "d_delete"),
                .d_unhash = kernel(setup.memory, "d_unhash"),
                .d_move = kernel(setup.memory, "d_move"),
                .prune_dcache = kernel(setup.memory, "prune_dcache"),
                .select_parent = kernel(setup.memory, "select_parent"),
                .link_path_walk = kernel(setup.memory, "link_path_walk"),
                .real_lookup = kernel(setup.memory, "real_lookup"),
                .idle = kernel(setup.memory, "default_idle"),
                .d_delete_again = kernel(setup.memory, "d_delete_again"),
                .prune_dcache_again = kernel(setup.memory, "prune_dcache_again")},
      lock_(&setup.locks.create(setup.lock, "dcache_lock")),
      locked_dput_(setup.locked_dput),
      locks_unused_only_(setup.locks_unused_only),
      metering_entry_cycles_(setup.metering_entry_cycles),
      metering_cycles_(setup.metering_cycles),
      rcu_(setup.rcu),
      hash_bits_(setup.hash_bits) {
  AddressSpace& memory = setup.memory;
  const int line = memory.line_bytes();
  const Layout head{.name = "dentry_unused", .size = line, .alignment = line, .fields = {{"next", 0, 4}, {"prev", 4, 4}}};
  lru_ = memory.place(head, "dentry_unused", line);
  list::preset_empty(memory, lru_);
  const Layout counts{
      .name = "dentry_stat", .size = line, .alignment = line, .fields = {{"nr_dentry", 0, 4}, {"nr_unused", 4, 4}}};
  nr_unused_ = memory.place(counts, "dentry_stat", line) + 4;
  mount_ = memory.place({.name = "vfsmount", .size = line, .fields = {{"mnt_count", 0, 4}}}, "rootmnt", line);
  const std::int64_t buckets = std::int64_t{1} << hash_bits_;
  table_ = memory.place_array("dentry_hashtable", buckets * 2 * list::kPointerBytes);
  table_end_ = table_ + static_cast<Address>(buckets) * 2 * list::kPointerBytes;
  for (Address entry = table_; entry < table_end_; entry += 2 * list::kPointerBytes) list::preset_empty(memory, entry);
  const Layout& dentry = setup.layouts.find(dentry_structure);
  if (rcu_ != nullptr) rcu_head_ = offset_of(dentry, "d_rcu");
  slab_ =
      std::make_unique<DentrySlab>(memory, setup.locks, dentry, setup.dentries, setup.cpus, kernel(memory, "kmem_cache_alloc"));
}

Value Dcache::checked(Value word) {
  if (word == kPoison || word == kPoison - 1 || word == kPoison + 1)
    throw ModelFailure("the dentry cache has freed an entry that is still seen");
  return word;
}

void Dcache::start(Cpu& cpu) {
  if (rcu_ != nullptr) rcu_->start(cpu);
}

void Dcache::quiescent(Cpu& cpu) {
  if (rcu_ != nullptr) rcu_->quiescent(cpu);
}

FunctionId Dcache::idle_function() const {
  return rcu_ != nullptr ? rcu_->idle_function() : function_.idle;
}

// ---- the hash table ----

Address Dcache::bucket(Address parent, const Name& name) const {
  constexpr Address kLine = 32;  // L1_CACHE_BYTES
  const std::uint64_t sum = (name.hash + parent / kLine) & 0xFFFFFFFF;
  const std::uint64_t mixed = sum ^ (sum >> hash_bits_) ^ (sum >> (2 * hash_bits_ < 32 ? 2 * hash_bits_ : 31));
  return table_ + (mixed & ((std::uint64_t{1} << hash_bits_) - 1)) * 2 * list::kPointerBytes;
}

bool Dcache::matches(Cpu& cpu, Address dentry, Address parent, const Name& name) {
  if (cpu.load(dentry + field_.name_hash, kWordBytes) != name.hash) return false;
  if (checked(cpu.load(dentry + field_.d_parent, kWordBytes)) != parent) return false;
  cpu.load(parent + field_.d_op, kWordBytes);
  if (cpu.load(dentry + field_.name_length, kWordBytes) != static_cast<Value>(name.length)) return false;
  cpu.load(dentry + field_.name_pointer, kWordBytes);
  cpu.execute(kCompareInstructions);
  return cpu.load(dentry + field_.d_iname) == name.text;
}

bool Dcache::still_is(Cpu& cpu, Address dentry, Address parent, const Name& name) {
  return !unhashed(cpu, dentry) && cpu.load(dentry + field_.name_hash, kWordBytes) == name.hash &&
         cpu.load(dentry + field_.d_parent, kWordBytes) == parent && cpu.load(dentry + field_.d_iname) == name.text;
}

Address Dcache::find(Cpu& cpu, Address parent, const Name& name) {
  cpu.execute(kLookupInstructions);
  const Address head = bucket(parent, name);
  for (;;) {
    Address entry = list::next(cpu, head);
    while (!is_bucket(entry)) {
      const Address dentry = entry - field_.d_hash;
      const Address after = checked(list::next(cpu, entry));
      cpu.execute(kEntryInstructions);
      if (matches(cpu, dentry, parent, name)) return dentry;
      entry = after;
    }
    // Without the lock, an entry may move to another chain while a reader stands on it. The reader then ends at that other
    // chain's head, not at its own.
    if (entry == head) return kNoDentry;
  }
}

Address Dcache::d_lookup(Cpu& cpu, Address parent, const Name& name) {
  const FunctionScope scope(cpu, function_.d_lookup);
  lock(cpu);
  const Address dentry = find(cpu, parent, name);
  if (dentry != kNoDentry) {
    get_unused(cpu, dentry);
    mark_referenced(cpu, dentry);
  }
  unlock(cpu);
  return dentry;
}

Address Dcache::find_and_get(Cpu& cpu, Address parent, const Name& name) {
  const FunctionScope scope(cpu, function_.d_lookup);
  rcu_->read_lock(cpu);
  Address dentry = kNoDentry;
  for (bool sure = false; !sure;) {
    dentry = find(cpu, parent, name);
    if (dentry == kNoDentry || (locks_unused_only_ && get_used(cpu, dentry, parent, name))) break;
    lock_found(cpu, dentry);
    sure = still_is(cpu, dentry, parent, name);
    if (sure) {
      get_found(cpu, dentry);
      mark_referenced(cpu, dentry);
    }
    unlock_found(cpu, dentry);
  }
  rcu_->read_unlock(cpu);
  return dentry;
}

bool Dcache::get_used(Cpu& cpu, Address dentry, Address parent, const Name& name) {
  const Address count = dentry + field_.d_count;
  Value references = checked(cpu.load(count, kWordBytes));
  while (references != 0) {
    const Value found = checked(cpu.compare_exchange(count, references, references + 1, kWordBytes));
    if (found == references) break;
    references = found;
  }
  if (references == 0) return false;
  if (still_is(cpu, dentry, parent, name)) {
    mark_referenced(cpu, dentry);
    return true;
  }
  dput(cpu, dentry);
  return false;
}

bool Dcache::unhashed(Cpu& cpu, Address dentry) {
  if (rcu_ != nullptr) return (cpu.load(dentry + field_.d_flags, kWordBytes) & kUnhashed) != 0;
  return list::empty(cpu, dentry + field_.d_hash);
}

void Dcache::unhash(Cpu& cpu, Address dentry) {
  if (unhashed(cpu, dentry)) return;
  if (rcu_ == nullptr) {
    list::remove_and_initialise(cpu, dentry + field_.d_hash);
    return;
  }
  // A reader may stand on this entry, so its own link to the next entry stays intact.
  cpu.store(dentry + field_.d_flags, kUnhashed, kWordBytes);
  list::remove(cpu, dentry + field_.d_hash);
}

// ---- references ----

Address Dcache::dget(Cpu& cpu, Address dentry) {
  checked(cpu.fetch_add(dentry + field_.d_count, 1, kWordBytes));
  return dentry;
}

void Dcache::get_unused(Cpu& cpu, Address dentry) {
  const Value before = checked(cpu.fetch_add(dentry + field_.d_count, 1, kWordBytes));
  if (before == 0) remove_unused(cpu, dentry);
}

void Dcache::mark_referenced(Cpu& cpu, Address dentry) {
  const Value flags = cpu.load(dentry + field_.d_vfs_flags, kWordBytes);
  cpu.store(dentry + field_.d_vfs_flags, flags | kReferenced, kWordBytes);
}

bool Dcache::decrement_and_lock(Cpu& cpu, Address dentry) {
  const Address count = dentry + field_.d_count;
  while (!locked_dput_) {  // atomic_dec_and_lock
    const Value references = checked(cpu.load(count, kWordBytes));
    if (references <= 1) break;
    if (cpu.compare_exchange(count, references, references - 1, kWordBytes) == references) return false;
  }
  lock_lru(cpu);
  if (checked(cpu.fetch_add(count, kMinusOne, kWordBytes)) != 1) {
    unlock_lru(cpu);
    return false;
  }
  lock_inside_lru(cpu);
  return true;
}

void Dcache::dput(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.dput);
  while (dentry != kNoDentry && decrement_and_lock(cpu, dentry)) dentry = retire(cpu, dentry);
}

void Dcache::set_delete(Cpu& cpu, Address dentry) {
  cpu.store(dentry + field_.d_op, kDeletes, kWordBytes);
}

bool Dcache::dies_unused(Cpu& cpu, Address dentry) {
  if (cpu.load(dentry + field_.d_op, kWordBytes) == kDeletes) return true;
  return unhashed(cpu, dentry);
}

Address Dcache::retire(Cpu& cpu, Address dentry) {
  if (dies_unused(cpu, dentry)) return kill(cpu, dentry);
  unlock_inside_lru(cpu);
  add_unused(cpu, dentry);
  unlock_lru(cpu);
  return kNoDentry;
}

void Dcache::unlock_both(Cpu& cpu) {
  unlock_inside_lru(cpu);
  unlock_lru(cpu);
}

Address Dcache::kill(Cpu& cpu, Address dentry) {
  unhash(cpu, dentry);
  list::remove(cpu, dentry + field_.d_child);
  const Address inode = detach_inode(cpu, dentry);
  unlock_both(cpu);
  if (inode != 0) iput(cpu, inode);
  const Address parent = cpu.load(dentry + field_.d_parent, kWordBytes);
  release(cpu, dentry);
  return parent;
}

void Dcache::release(Cpu& cpu, Address dentry) {
  if (rcu_ == nullptr) return free_now(cpu, dentry);
  rcu_->call(cpu, dentry + rcu_head_, [this, dentry](Cpu& later) { free_now(later, dentry); });
}

void Dcache::free_now(Cpu& cpu, Address dentry) {
  for (const Address word : {field_.d_count, field_.d_parent, field_.d_hash}) cpu.store(dentry + word, kPoison, kWordBytes);
  slab_->free(cpu, dentry);
}

// ---- a new entry ----

void Dcache::initialise(Cpu& cpu, Address dentry, Address parent, const Name& name) {
  cpu.store(dentry + field_.name_pointer, dentry + field_.d_iname, kWordBytes);
  cpu.store(dentry + field_.d_iname, name.text);
  cpu.store(dentry + field_.name_length, static_cast<Value>(name.length), kWordBytes);
  cpu.store(dentry + field_.name_hash, name.hash, kWordBytes);
  cpu.store(dentry + field_.d_count, 1, kWordBytes);
  for (const Address word : {field_.d_flags, field_.d_inode, field_.d_op, field_.d_sb, field_.d_fsdata, field_.d_vfs_flags})
    cpu.store(dentry + word, 0, kWordBytes);
  if (rcu_ != nullptr) cpu.store(dentry + field_.d_flags, kUnhashed, kWordBytes);
  cpu.store(dentry + field_.d_parent, parent == kNoDentry ? dentry : parent, kWordBytes);
  for (const Address links : {field_.d_vfsmnt, field_.d_hash, field_.d_lru, field_.d_child, field_.d_subdirs, field_.d_alias})
    list::initialise(cpu, dentry + links);
}

Address Dcache::create(Cpu& cpu, Address parent, const Name& name) {
  const Address dentry = slab_->allocate(cpu);
  initialise(cpu, dentry, parent, name);
  return dentry;
}

Address Dcache::d_alloc(Cpu& cpu, Address parent, const Name& name) {
  const FunctionScope scope(cpu, function_.d_alloc);
  const Address dentry = create(cpu, parent, name);
  if (parent == kNoDentry) return dentry;
  dget(cpu, parent);
  lock(cpu);
  list::add(cpu, dentry + field_.d_child, parent + field_.d_subdirs);
  unlock(cpu);
  return dentry;
}

void Dcache::d_instantiate(Cpu& cpu, Address dentry, Address inode) {
  const FunctionScope scope(cpu, function_.d_instantiate);
  lock(cpu);
  if (inode != 0) list::add(cpu, dentry + field_.d_alias, inode + inode_.i_dentry);
  cpu.store(dentry + field_.d_inode, inode, kWordBytes);
  unlock(cpu);
}

void Dcache::d_rehash(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.d_rehash);
  const Address parent = cpu.load(dentry + field_.d_parent, kWordBytes);
  const Value hash = cpu.load(dentry + field_.name_hash, kWordBytes);
  const Address head = bucket(parent, {.hash = hash});
  lock(cpu);
  if (rcu_ != nullptr) cpu.store(dentry + field_.d_flags, 0, kWordBytes);
  list::add(cpu, dentry + field_.d_hash, head);
  unlock(cpu);
}

void Dcache::d_add(Cpu& cpu, Address dentry, Address inode) {
  d_instantiate(cpu, dentry, inode);
  d_rehash(cpu, dentry);
}

Address Dcache::add_in_use(Cpu& cpu, Address parent, const Name& name, Address inode) {
  const Address dentry = d_alloc(cpu, parent, name);
  iget(cpu, inode);
  d_add(cpu, dentry, inode);
  return dentry;
}

// ---- inodes ----

Address Dcache::detach_inode(Cpu& cpu, Address dentry) {
  const Address inode = inode_of(cpu, dentry);
  if (inode == 0) return 0;
  cpu.store(dentry + field_.d_inode, 0, kWordBytes);
  list::remove_and_initialise(cpu, dentry + field_.d_alias);
  return inode;
}

void Dcache::iput(Cpu& cpu, Address inode) {
  if (cpu.fetch_add(inode + inode_.i_count, kMinusOne, kWordBytes) == 0)
    throw ModelFailure("an inode has lost a reference that it didn't have");
}

// ---- names that go or change ----

void Dcache::d_delete(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.d_delete);
  lock(cpu);
  if (cpu.load(dentry + field_.d_count, kWordBytes) == 1) {
    const Address inode = detach_inode(cpu, dentry);
    unlock(cpu);
    if (inode != 0) iput(cpu, inode);
    return;
  }
  unlock(cpu);
  const FunctionScope again(cpu, function_.d_delete_again);
  d_drop(cpu, dentry);
}

void Dcache::d_drop(Cpu& cpu, Address dentry) {
  lock(cpu);
  unhash(cpu, dentry);
  unlock(cpu);
}

void Dcache::d_move(Cpu& cpu, Address dentry, Address target) {
  const FunctionScope scope(cpu, function_.d_move);
  lock(cpu);
  exchange_places(cpu, dentry, target);
  unlock(cpu);
}

void Dcache::exchange_places(Cpu& cpu, Address dentry, Address target) {
  list::remove(cpu, dentry + field_.d_hash);
  list::add(cpu, dentry + field_.d_hash, target + field_.d_hash);
  unhash(cpu, target);
  list::remove(cpu, dentry + field_.d_child);
  list::remove(cpu, target + field_.d_child);
  for (const Address word : {field_.d_parent, field_.name_length, field_.name_hash}) {
    const Value mine = cpu.load(dentry + word, kWordBytes);
    const Value other = cpu.load(target + word, kWordBytes);
    cpu.store(dentry + word, other, kWordBytes);
    cpu.store(target + word, mine, kWordBytes);
  }
  const Value mine = cpu.load(dentry + field_.d_iname);
  const Value other = cpu.load(target + field_.d_iname);
  cpu.store(dentry + field_.d_iname, other);
  cpu.store(target + field_.d_iname, mine);
  for (const Address moved : {target, dentry}) {
    const Address parent = cpu.load(moved + field_.d_parent, kWordBytes);
    list::add(cpu, moved + field_.d_child, parent + field_.d_subdirs);
  }
}

}  // namespace linebounce::workloads
