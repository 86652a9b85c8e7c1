#include "workloads/dragonfly/hammer_mount.hpp"

#include "models/failure.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::workloads {

namespace {

// Of a flush group, behind its dirty buffers.
constexpr Address kGroupInodes = 16;
constexpr Address kGroupBuffers = 24;
constexpr Address kGroupBytes = 64;
// Of the mount: the number of the open group, of the eldest, of the next data block. Counted from 0 on, each has its place in a
// ring.
constexpr Address kMountOpen = 0;
constexpr Address kMountEldest = 8;
constexpr Address kMountNextData = 16;
// The volume's header comes first, then the extents of meta-data, and data that is new goes behind them.
constexpr std::uint64_t kMetaBegins = 64;
constexpr std::int64_t kDataBegins = 1 << 20;

void add_to_word(Cpu& cpu, Address word, Value addend) {
  cpu.store(word, cpu.load(word) + addend);
}

}  // namespace

HammerMount::HammerMount(const WorkloadSetup& setting, const HammerOptions& options)
    : options_(options),
      lock_(&setting.locks.create(options.lock, "hammer_mount_lock")),
      dirty_(setting.locks.create("ttas", "hammer_io_lock"), options.sorted()),
      meta_(static_cast<std::uint64_t>(options.meta_buffers)),
      data_(static_cast<std::uint64_t>((2 * options.inodes + options.flush_at()) * options.blocks_per_file)),
      groups_count_(static_cast<std::uint64_t>(options.inodes / options.flush_at() + 3)) {
  place(setting.memory);
}

void HammerMount::place(AddressSpace& memory) {
  const int line = memory.line_bytes();
  const auto word = [&](const char* name) {
    return memory.place({.name = name, .size = 8, .fields = {{"count", 0}}}, name, line);
  };
  free_ = word("free_inodes");
  waiting_ = word("waiting_inodes");
  const Layout mount{.name = "hammer_mount",
                     .size = 24,
                     .fields = {{"open", kMountOpen}, {"eldest", kMountEldest}, {"next_data", kMountNextData}}};
  state_ = memory.place(mount, "hammer_mount", line);
  groups_ = memory.place_array("hammer_flush_group", static_cast<std::int64_t>(groups_count_ * kGroupBytes));
  ios_ = memory.place_array("hammer_io", static_cast<std::int64_t>((meta_ + data_) * DirtyBuffers::kIoBytes));
  memory.preset(free_, static_cast<Value>(options_.inodes));
  const auto extents = static_cast<std::uint64_t>(options_.meta_extents);
  const std::uint64_t each = (meta_ + extents - 1) / extents;
  const auto apart = static_cast<std::uint64_t>(kDataBegins) / extents;
  for (std::uint64_t io = 0; io < meta_ + data_; ++io) {
    const std::uint64_t place =
        io < meta_ ? kMetaBegins + io / each * apart + io % each : static_cast<std::uint64_t>(kDataBegins) + io - meta_;
    memory.preset(ios_ + io * DirtyBuffers::kIoBytes + RedBlackTree::kKey, place);
  }
}

Address HammerMount::group_at(std::uint64_t number) const {
  return groups_ + number % groups_count_ * kGroupBytes;
}

void HammerMount::take_inode(Cpu& cpu) const {
  for (;;) {
    const Value free = cpu.load(free_);
    if (free == 0) {
      cpu.spin_until(free_, [](Value now) { return now != 0; });
    } else if (cpu.compare_exchange(free_, free, free - 1) == free) {
      return;
    }
  }
}

void HammerMount::add_inode(Cpu& cpu) {
  const Value open = cpu.load(state_ + kMountOpen);
  const Address group = group_at(open);
  const Value first = cpu.load(state_ + kMountNextData);
  const auto blocks = static_cast<Value>(options_.blocks_per_file);
  cpu.store(state_ + kMountNextData, first + blocks);
  for (Value block = 0; block < blocks; ++block) add_buffer(cpu, group, meta_ + (first + block) % data_, true);
  const Value inodes = cpu.load(group + kGroupInodes) + 1;
  cpu.store(group + kGroupInodes, inodes);
  if (options_.even() && inodes == static_cast<Value>(options_.even_inodes)) cpu.store(state_ + kMountOpen, open + 1);
  add_to_word(cpu, waiting_, 1);
}

void HammerMount::add_meta(Cpu& cpu, Address group, std::uint64_t number) {
  add_buffer(cpu, group, number, false);
}

void HammerMount::add_buffer(Cpu& cpu, Address group, std::uint64_t io, bool is_new) {
  const bool added = dirty_.add(cpu, group, ios_ + io * DirtyBuffers::kIoBytes);
  if (is_new && !added) throw ModelFailure("hammer: a data block is given out that has not been written yet");
  if (added) add_to_word(cpu, group + kGroupBuffers, 1);
}

void HammerMount::wait_for_flush(Cpu& cpu) const {
  const auto enough = static_cast<Value>(options_.flush_at());
  cpu.spin_until(waiting_, [enough](Value waiting) { return waiting >= enough; });
}

std::int64_t HammerMount::close_groups(Cpu& cpu) {
  Value open = cpu.load(state_ + kMountOpen);
  if (!options_.even()) cpu.store(state_ + kMountOpen, ++open);
  const Value eldest = cpu.load(state_ + kMountEldest);
  Value inodes = 0;
  for (Value group = eldest; group != open; ++group) inodes += cpu.load(group_at(group) + kGroupInodes);
  add_to_word(cpu, waiting_, Value{0} - inodes);
  return static_cast<std::int64_t>(open - eldest);
}

Address HammerMount::eldest_group(Cpu& cpu) const {
  return group_at(cpu.load(state_ + kMountEldest));
}

void HammerMount::end_group(Cpu& cpu) {
  const Value eldest = cpu.load(state_ + kMountEldest);
  const Address group = group_at(eldest);
  cpu.store(group + kGroupInodes, 0);
  cpu.store(group + kGroupBuffers, 0);
  cpu.store(state_ + kMountEldest, eldest + 1);
}

std::int64_t HammerMount::inodes_of(Cpu& cpu, Address group) {
  return static_cast<std::int64_t>(cpu.load(group + kGroupInodes));
}

std::int64_t HammerMount::buffers_of(Cpu& cpu, Address group) {
  return static_cast<std::int64_t>(cpu.load(group + kGroupBuffers));
}

std::optional<std::int64_t> HammerMount::take_buffer(Cpu& cpu, Address group) {
  const Address io = dirty_.take(cpu, group);
  if (io == 0) return {};
  return static_cast<std::int64_t>(cpu.load(io + RedBlackTree::kKey));
}

void HammerMount::free_inodes(Cpu& cpu, std::int64_t inodes) const {
  if (inodes > 0) cpu.fetch_add(free_, static_cast<Value>(inodes));
}

}  // namespace linebounce::workloads
