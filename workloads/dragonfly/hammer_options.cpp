#include "workloads/dragonfly/hammer_options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "workloads/locks/lock_registry.hpp"

namespace linebounce::workloads {

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

}  // namespace linebounce::workloads
