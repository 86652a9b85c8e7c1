// A hard disk with one arm and a queue of its own, like SATA disks of 2011. Of the queued writes, it chooses the one that can
// begin soonest, given the arm's distance and the rotation of the platter. It interrupts the CPU that gave it the write; only
// that CPU's program and handlers may call it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/core/cpu.hpp"
#include "workloads/program/interrupts.hpp"

namespace linebounce::workloads {

struct DiskOptions {
  std::int64_t tracks = 400000;
  std::int64_t blocks_per_track = 52;
  double turn_ms = 8.333;
  double least_seek_ms = 0.8;
  double full_seek_ms = 16;
  int queue_depth = 32;
  double speed = 1;  // divides all times
};

// The arm's position and timing. Times are whole ns since the simulation began, in the disk's own time, not a CPU's.
class DiskArm {
 public:
  explicit DiskArm(const DiskOptions& options);

  // The time at which the block passes below the head, if a write of it is begun at `now`.
  [[nodiscard]] std::int64_t starts(std::int64_t block, std::int64_t now) const;
  // Writes the block, and returns when the write ends.
  std::int64_t write(std::int64_t block, std::int64_t now);

  // The time to move the arm by this many tracks.
  [[nodiscard]] std::int64_t seek_ns(std::int64_t tracks) const;
  // The time that a block takes to pass below the head.
  [[nodiscard]] std::int64_t block_ns() const { return block_ns_; }
  [[nodiscard]] std::int64_t track() const { return track_; }

 private:
  [[nodiscard]] std::int64_t track_of(std::int64_t block) const { return block / blocks_per_track_; }

  std::int64_t tracks_, blocks_per_track_;
  double least_seek_ns_, full_seek_ns_;
  std::int64_t block_ns_, turn_ns_;
  // By how many blocks each track's start is rotated against the previous one's, to allow for the time of a seek.
  std::int64_t skew_;
  std::int64_t track_ = 0;
};

class Disk {
 public:
  Disk(const DiskOptions& options, Interrupts& interrupts);

  // REQUIRES: the queue is not full.
  void write(Cpu& cpu, std::int64_t block);
  [[nodiscard]] bool full() const { return static_cast<int>(queue_.size()) + (busy_ ? 1 : 0) >= queue_depth_; }
  [[nodiscard]] bool idle() const { return !busy_; }
  [[nodiscard]] std::int64_t written() const { return written_; }  // since the simulation began

  struct Figures {  // figures of writes that ended in the measured time
    std::int64_t writes = 0, seeks = 0;
    std::int64_t busy_ns = 0;
  };
  [[nodiscard]] const Figures& figures() const { return figures_; }

 private:
  struct Command {
    std::int64_t block = 0, given_ns = 0;
  };
  void begin(Cpu& cpu, std::int64_t now, std::int64_t at);
  void ended(Cpu& cpu);

  DiskArm arm_;
  int queue_depth_;
  int vector_;
  std::vector<Command> queue_;
  bool busy_ = false;
  std::int64_t ends_ns_ = 0, took_ns_ = 0;
  bool seeks_ = false;
  std::int64_t written_ = 0;
  Figures figures_;
};

}  // namespace linebounce::workloads
