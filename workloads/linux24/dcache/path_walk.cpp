// Walking a path (fs/namei.c).
#include "models/failure.hpp"
#include "workloads/linux24/dcache/dcache.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kDirectorySearchInstructions = 2000;  // cost of searching a directory's block in the file system

}  // namespace

// Checks whether the entry is a mount point or a symbolic link.
void Dcache::pass(Cpu& cpu, Address dentry, PathTimes& times) {
  cpu.load(dentry + field_.d_vfsmnt, kWordBytes);
  const Address inode = inode_of(cpu, dentry);
  cpu.load(inode + inode_.i_mode, kWordBytes);
  times.after_lookup(cpu);
}

Address Dcache::link_path_walk(Cpu& cpu, Address start, std::span<const Name> components, PathTimes& times) {
  const FunctionScope scope(cpu, function_.link_path_walk);
  cpu.fetch_add(mount_, 1, kWordBytes);
  Address directory = dget(cpu, start);
  for (const Name& name : components) {
    times.before_lookup(cpu);
    const Address next = d_lookup(cpu, directory, name);
    if (next == kNoDentry) throw ModelFailure("a directory that is in use has left the dentry cache");
    pass(cpu, next, times);
    dput(cpu, directory);
    directory = next;
  }
  cpu.fetch_add(mount_, kMinusOne, kWordBytes);
  return directory;
}

Address Dcache::lookup_hash(Cpu& cpu, Address parent, const Name& name, const DiskDirectory& directory) {
  const Address found = d_lookup(cpu, parent, name);
  if (found != kNoDentry) return found;
  const FunctionScope scope(cpu, function_.real_lookup);
  const Address dentry = d_alloc(cpu, parent, name);
  cpu.execute(kDirectorySearchInstructions);
  const Address inode = directory.inode(name);
  if (inode != 0) iget(cpu, inode);
  d_add(cpu, dentry, inode);
  return dentry;
}

Address Dcache::follow_dotdot(Cpu& cpu, Address dentry) {
  const FunctionScope scope(cpu, function_.link_path_walk);
  lock(cpu);
  const Address parent = cpu.load(dentry + field_.d_parent, kWordBytes);
  dget(cpu, parent);
  unlock(cpu);
  dput(cpu, dentry);
  return parent;
}

}  // namespace linebounce::workloads
