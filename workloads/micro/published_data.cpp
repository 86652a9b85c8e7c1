#include "workloads/micro/published_data.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace linebounce::workloads {

namespace {

constexpr int kCopies = 64;   // a CPU's: as many as it may retire until a grace period is over
constexpr Address kHead = 8;  // in the first line, for RCU's queue

}  // namespace

PublishedData::PublishedData(const WorkloadSetup& setting, std::int64_t lines, const RcuOptions& options)
    : interrupts_(setting.machine.cpus), rcu_(make_classic_rcu(setting, interrupts_, options)), free_(setting.machine.cpus) {
  AddressSpace& memory = setting.memory;
  pointer_ = memory.place_array("published", memory.line_bytes());
  const std::int64_t bytes = std::max<std::int64_t>(1, lines) * memory.line_bytes();
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
    const Home home = Home::on(setting.layout.cpus[cpu].node);
    const Address begin = memory.place_array(fmt::format("copies[{}]", cpu), kCopies * bytes, home);
    for (int copy = 0; copy < kCopies; ++copy) {
      free_[cpu].push_back(begin + static_cast<Address>(copy * bytes));
    }
  }
  memory.preset(pointer_, free_.front().back());
  free_.front().pop_back();
}

Address PublishedData::take_copy(Cpu& cpu) {
  while (free(cpu).empty()) rcu_->synchronize(cpu);
  const Address copy = free(cpu).back();
  free(cpu).pop_back();
  return copy;
}

void PublishedData::retire(Cpu& cpu, Address copy) {
  rcu_->call(cpu, copy + kHead, [this, copy](Cpu& here) { free(here).push_back(copy); });
}

}  // namespace linebounce::workloads
