#include "workloads/counters/alloc_percpu.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace linebounce::workloads {

PerCpuAllocator::PerCpuAllocator(const WorkloadSetup& setting, int bytes_per_cpu)
    : bytes_(static_cast<Address>(bytes_per_cpu)) {
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
    const Home home = Home::near(setting.layout.cpus[cpu]);
    areas_.push_back(setting.memory.place_array(fmt::format("percpu_area[{}]", cpu), bytes_per_cpu, home));
  }
}

PerCpu PerCpuAllocator::allocate(int bytes) {
  const Address offset = used_;
  used_ += (static_cast<Address>(bytes) + 7) / 8 * 8;
  if (used_ > bytes_) throw std::length_error(fmt::format("per-CPU areas of {} bytes are full", bytes_));
  return {&areas_, offset};
}

}  // namespace linebounce::workloads
