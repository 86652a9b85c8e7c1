#include "workloads/dragonfly/disk.hpp"

#include <algorithm>
#include <cmath>

namespace linebounce::workloads {
namespace {

constexpr double kNsOfMs = 1e6;

std::int64_t whole_ns(Cpu& cpu) {
  return std::llround(cpu.now_ns());
}

}  // namespace

DiskArm::DiskArm(const DiskOptions& options)
    : tracks_(options.tracks),
      blocks_per_track_(options.blocks_per_track),
      least_seek_ns_(options.least_seek_ms * kNsOfMs / options.speed),
      full_seek_ns_(options.full_seek_ms * kNsOfMs / options.speed),
      block_ns_(std::max<std::int64_t>(
          1, std::llround(options.turn_ms * kNsOfMs / options.speed / static_cast<double>(options.blocks_per_track)))),
      turn_ns_(block_ns_ * blocks_per_track_),
      skew_((seek_ns(1) + block_ns_ - 1) / block_ns_) {}

// An arm accelerates over half of the distance and brakes over the other half, so the time grows with the root of the distance.
std::int64_t DiskArm::seek_ns(std::int64_t tracks) const {
  if (tracks == 0) return 0;
  const double way = static_cast<double>(tracks) / static_cast<double>(tracks_);
  return std::llround(least_seek_ns_ + (full_seek_ns_ - least_seek_ns_) * std::sqrt(way));
}

std::int64_t DiskArm::starts(std::int64_t block, std::int64_t now) const {
  const std::int64_t track = track_of(block);
  const std::int64_t there = now + seek_ns(std::abs(track - track_));
  const std::int64_t begins = (block + track * skew_) % blocks_per_track_ * block_ns_;  // part of a rotation
  return there + (begins - there % turn_ns_ + turn_ns_) % turn_ns_;
}

std::int64_t DiskArm::write(std::int64_t block, std::int64_t now) {
  const std::int64_t starts_ns = starts(block, now);
  track_ = track_of(block);
  return starts_ns + block_ns_;
}

Disk::Disk(const DiskOptions& options, Interrupts& interrupts)
    : arm_(options),
      queue_depth_(options.queue_depth),
      vector_(interrupts.add_handler([this](Cpu& cpu, FunctionId) { ended(cpu); })) {}

void Disk::write(Cpu& cpu, std::int64_t block) {
  const std::int64_t now = whole_ns(cpu);
  cpu.disable_interrupts();
  queue_.push_back({block, now});
  if (!busy_) begin(cpu, now, now);
  cpu.enable_interrupts();
}

// Starts the next write at `at`, when the previous one ends. The disk does not wait until the CPU has handled the previous
// write's interrupt.
void Disk::begin(Cpu& cpu, std::int64_t now, std::int64_t at) {
  busy_ = !queue_.empty();
  if (!busy_) return;
  const auto in_time = [at](const Command& command) { return command.given_ns <= at; };
  if (std::ranges::none_of(queue_, in_time)) at = now;
  auto next = queue_.end();
  std::int64_t soonest = 0;
  for (auto command = queue_.begin(); command != queue_.end(); ++command) {
    const std::int64_t starts = arm_.starts(command->block, at);
    if (command->given_ns > at || (next != queue_.end() && starts >= soonest)) continue;
    next = command;
    soonest = starts;
  }
  const std::int64_t track = arm_.track();
  ends_ns_ = arm_.write(next->block, at);
  took_ns_ = ends_ns_ - at;
  seeks_ = arm_.track() != track;
  queue_.erase(next);
  cpu.set_timer(static_cast<double>(std::max<std::int64_t>(ends_ns_ - now, 1)), vector_);
}

void Disk::ended(Cpu& cpu) {
  const std::int64_t now = whole_ns(cpu);
  ++written_;
  if (cpu.measures(cpu.local_time())) {
    ++figures_.writes;
    figures_.busy_ns += took_ns_;
    if (seeks_) ++figures_.seeks;
  }
  begin(cpu, now, ends_ns_);
  cpu.wake(cpu.id());
}

}  // namespace linebounce::workloads
