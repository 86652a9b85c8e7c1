// Per-CPU copies of small objects, as alloc_percpu allocates them (Thirumalai's reimplementation of 2005). Every CPU has an
// area on its own node, and an object's copies have the same offset in all areas. A line may therefore hold copies of several
// objects, but only one CPU's copies.
#pragma once

#include <vector>

#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// The addresses of one object's copies.
class PerCpu {
 public:
  PerCpu() = default;
  PerCpu(const std::vector<Address>* areas, Address offset) : areas_(areas), offset_(offset) {}
  [[nodiscard]] Address of(int cpu) const { return (*areas_)[cpu] + offset_; }
  [[nodiscard]] Address of(const Cpu& cpu) const { return of(cpu.id().value); }

 private:
  const std::vector<Address>* areas_ = nullptr;
  Address offset_ = 0;
};

class PerCpuAllocator {
 public:
  // `bytes_per_cpu`: the size of each CPU's area. The area must hold that CPU's copies of all objects.
  PerCpuAllocator(const WorkloadSetup& setting, int bytes_per_cpu);
  PerCpuAllocator(const PerCpuAllocator&) = delete;
  PerCpuAllocator& operator=(const PerCpuAllocator&) = delete;

  // Zeroed, aligned to a word. Lives as long as the allocator. Errors: std::length_error if the areas are full.
  PerCpu allocate(int bytes);

 private:
  std::vector<Address> areas_;  // by CPU
  Address bytes_;
  Address used_ = 0;
};

}  // namespace linebounce::workloads
