// Walks through memory and checks that the counts, lists and hash chains of the whole cache agree.
#include <fmt/format.h>

#include <map>
#include <set>

#include "models/failure.hpp"
#include "workloads/linux24/dcache/dcache.hpp"

namespace linebounce::workloads {
namespace {

[[noreturn]] void broken(const std::string& what) {
  throw ModelFailure("the dentry cache is inconsistent: " + what);
}

// The entries of a list. Each entry's links must point back.
std::vector<Address> entries_of(Cpu& cpu, Address head, const std::string& name) {
  std::vector<Address> entries;
  Address before = head;
  for (Address entry = list::next(cpu, head); entry != head; entry = list::next(cpu, entry)) {
    if (list::previous(cpu, entry) != before) broken(fmt::format("{}: entry {:#x} doesn't point back", name, entry));
    if (entries.size() > 1000000) broken(name + " has no end");
    entries.push_back(entry);
    before = entry;
  }
  if (list::previous(cpu, head) != before) broken(name + ": the head doesn't point back");
  return entries;
}

}  // namespace

void Dcache::check(Cpu& cpu, Address root) {
  std::map<Address, Value> children;  // children of each entry, by parent
  std::vector<Address> unvisited = {root};
  while (!unvisited.empty()) {
    const Address dentry = unvisited.back();
    unvisited.pop_back();
    const std::vector<Address> below = entries_of(cpu, dentry + field_.d_subdirs, "d_subdirs");
    children[dentry] = below.size();
    for (const Address link : below) {
      const Address child = link - field_.d_child;
      if (checked(cpu.load(child + field_.d_parent, kWordBytes)) != dentry) broken("d_parent is not whose d_subdirs has it");
      unvisited.push_back(child);
    }
  }
  std::set<Address> hashed;
  for (Address head = table_; head < table_end_; head += 2 * list::kPointerBytes) {
    if (list::empty(cpu, head)) continue;
    for (const Address link : entries_of(cpu, head, "a hash chain")) {
      const Address dentry = link - field_.d_hash;
      const Address parent = cpu.load(dentry + field_.d_parent, kWordBytes);
      const Value hash = cpu.load(dentry + field_.name_hash, kWordBytes);
      if (bucket(parent, {.hash = hash}) != head) broken("an entry hangs in a chain that is not its own");
      if (children.count(dentry) == 0) broken("an entry is in a hash chain and not in the tree");
      hashed.insert(dentry);
    }
  }
  std::set<Address> unused;
  for (const Address link : entries_of(cpu, lru_, "dentry_unused")) unused.insert(link - field_.d_lru);
  if (unused.size() != cpu.load(nr_unused_, kWordBytes)) broken("nr_unused is not the length of dentry_unused");
  for (const auto& [dentry, below] : children) {
    const Value count = checked(cpu.load(dentry + field_.d_count, kWordBytes));
    if (count < below) broken("an entry has more children than references");
    if (unhashed(cpu, dentry) == (hashed.count(dentry) != 0)) broken("an entry that says it is hashed isn't, or the reverse");
    const bool listed = unused.count(dentry) != 0;
    if (count == 0 && !listed) broken("an entry without references is not in dentry_unused");
    if (count != 0 && listed && !in_use_on_lru(cpu, dentry)) broken("an entry in use is in dentry_unused");
    const Address inode = inode_of(cpu, dentry);
    if (inode == 0) continue;
    const std::vector<Address> aliases = entries_of(cpu, inode + inode_.i_dentry, "i_dentry");
    if (cpu.load(inode + inode_.i_count, kWordBytes) != aliases.size()) broken("i_count is not the number of its entries");
  }
}

}  // namespace linebounce::workloads
