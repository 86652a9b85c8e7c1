#include "workloads/dragonfly/hammer_mount.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "models/failure.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"

namespace linebounce::workloads {
namespace {

// Fields of a flush group, after those of its dirty buffers.
constexpr Address kGroupInodes = 16;
constexpr Address kGroupBuffers = 24;
constexpr Address kGroupBytes = 64;
// Fields of the mount: the numbers of the open group, of the oldest group and of the next data block. Numbers start at 0; a
// group's place in the ring follows from its number.
constexpr Address kMountOpen = 0;
constexpr Address kMountEldest = 8;
constexpr Address kMountNextData = 16;
// On disk, the volume's header comes first, then the extents of meta-data, then new data.
constexpr std::uint64_t kMetaBegins = 64;
constexpr std::int64_t kDataBegins = 1 << 20;

void add_to_word(Cpu& cpu, Address word, Value addend) {
  cpu.store(word, cpu.load(word) + addend);
}

}  // namespace

void HammerOptions::bind(ParameterBinder& parameters) {
  bind_changes(parameters);
  bind_readers(parameters);
  bind_writers(parameters);
  bind_disk(parameters);
  disk.speed = write_speed;
}

void HammerOptions::bind_changes(ParameterBinder& parameters) {
  parameters.flag("lock_before_getblk", lock_before_getblk,
                  "a read whose block has no buffer acquires the per-mount lock before it makes one of the VM page cache's "
                  "pages, and keeps it to its end");
  parameters.text("flush_order", flush_order,
                  "dirty buffers go to the disk as they became dirty, or by place: a red-black tree", {"list", "sorted"});
  parameters.text("flush_groups", flush_groups,
                  "uneven: a flush begins at `uneven_inodes`, and all that has come by then is one group; even: groups of "
                  "`even_inodes`",
                  {"uneven", "even"});
  parameters.text("inodes_freed", inodes_freed, "all when the flush is over, or one by one as buffers reach the disk",
                  {"at_once", "steady"});
  lock_parameter(parameters, "lock", lock, "the per-mount lock",
                 [](const LockTraits& traits) -> std::string { return traits.excludes ? "" : "files would break"; });
}

void HammerOptions::bind_readers(ParameterBinder& parameters) {
  parameters.number("blocks", cache.blocks, 16, 1 << 20, "of 16 KiB, all in the VM page cache");
  parameters.number("buffers", cache.buffers, 16, 1 << 20, "of the buffer cache");
  parameters.number("blocks_per_file", blocks_per_file, 1, 64, "that a reader reads and a writer writes");
  parameters.number(
      "growth_us", growth_us, 0, 1e9,
      "time from the start in which the blocks that are read grow from the buffer cache's sixteenth to all of them; "
      "0: all are there at once");
  parameters.number("user_us", user_us, 0, 1e6, "of a reader between two files: it opens, closes, computes; mean");
  parameters.number("read_us", read_us, 0, 1e6, "of reading a block that has a buffer, beside the copy and what is simulated");
  parameters.number("copy_us", copy_us, 0, 1e6, "to copy a block to or from the user");
  parameters.number("getblk_us", cache.getblk_us, 0, 1e6, "to make a buffer, beside what is simulated of it");
  parameters.flag(
      "invalidate", cache.invalidate,
      "all CPUs are interrupted to drop the translations of a buffer that gets other pages; false: that costs nothing");
}

void HammerOptions::bind_writers(ParameterBinder& parameters) {
  parameters.number("writers", writers, 0, 1024, "CPUs that write; the last CPU flushes, all others read");
  parameters.flag("writing", writing, "false: the writers' CPUs are idle");
  parameters.number(
      "write_speed", write_speed, 0.1, 1000,
      "writers, flusher and disk are so many times as fast as their times say, so that one second of readers shows "
      "so many of flushing");
  parameters.number("create_us", create_us, 0, 1e6, "of a writer for each file, without the lock, beside the copies; mean");
  parameters.number("create_locked_us", create_locked_us, 0, 1e6, "of a writer for each file, with the per-mount lock");
  parameters.number("inodes", inodes, 1, 1e6, "that may wait for their flush; a writer who finds no more waits");
  parameters.number("uneven_inodes", uneven_inodes, 1, 1e6, "see `flush_groups`");
  parameters.number("even_inodes", even_inodes, 1, 1e6, "see `flush_groups`");
  parameters.number("sync_us", sync_us, 0, 1e6, "of the flusher for each inode, with the per-mount lock");
  parameters.number("meta_per_file", meta_per_file, 0, 64, "buffers of meta-data that an inode's flush makes dirty");
  parameters.number("meta_buffers", meta_buffers, 1, 1 << 20, "that these are among");
  parameters.number("meta_extents", meta_extents, 1, 1 << 20, "pieces of the disk in which those lie");
  parameters.number("series_us", series_us, 1, 1e6, "stretches of time that series count in");
}

void HammerOptions::bind_disk(ParameterBinder& parameters) {
  parameters.number("disk_tracks", disk.tracks, 1, 1e7, "of the disk");
  parameters.number("disk_blocks_per_track", disk.blocks_per_track, 1, 1e5, "of 16 KiB");
  parameters.number("disk_turn_ms", disk.turn_ms, 0.001, 1000, "of the plate");
  parameters.number("disk_least_seek_ms", disk.least_seek_ms, 0, 1000, "of the arm to the next track");
  parameters.number("disk_full_seek_ms", disk.full_seek_ms, 0, 1000, "over all tracks; between them with the root of the way");
  parameters.number("disk_queue_depth", disk.queue_depth, 1, 1024, "writes that the disk has at once and chooses from");
}

void HammerOptions::check(int cpus) const {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument(what); };
  if (writers > cpus - 2)
    refuse(fmt::format("workload.writers: {} of {} CPUs; one more flushes, and one must read", writers, cpus));
  if (flush_at() > inodes)
    refuse(fmt::format("workload.inodes: {}; a flush begins at {}, and would never", inodes, flush_at()));
  if (cache.buffers > cache.blocks) refuse("workload.buffers: more than workload.blocks");
  if (cache.buffers < 2 * cpus) refuse(fmt::format("workload.buffers: fewer than two for each of the {} CPUs", cpus));
  if (blocks_per_file > cache.blocks) refuse("workload.blocks_per_file: more than workload.blocks");
}

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
