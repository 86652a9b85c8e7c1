#include "workloads/linux26/oltp/other_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace linebounce::workloads {

namespace {

// A stream goes through a few sets of the outermost cache, with many more lines than these hold.
constexpr std::uint64_t kStreamSets = 16;
constexpr std::uint64_t kLinesOfSet = 64;

}  // namespace

OtherMemory::OtherMemory(Kernel& kernel, const std::string& name, const OtherMemoryShape& shape, const Pace& pace)
    : kernel_(kernel), shape_(shape), pace_(pace), node_shared_(kernel.nodes()) {
  AddressSpace& memory = kernel.memory();
  const int line = memory.line_bytes();
  const auto lines = [&](const std::string& array, int count, int node) {
    std::vector<Address> addresses;
    const Address begin = memory.place_array(array, std::int64_t{count} * line, Home::on(node));
    for (int i = 0; i < count; ++i) addresses.push_back(begin + static_cast<Address>(i) * static_cast<Address>(line));
    return addresses;
  };
  const int nodes = kernel.nodes();
  for (int node = 0; node < nodes; ++node) {
    const int share = (shape.shared_lines + node) / nodes;
    const std::vector<Address> here = lines(fmt::format("{}_shared[{}]", name, node), std::max(1, share), node);
    shared_.insert(shared_.end(), here.begin(), here.end());
    node_shared_[node] = lines(fmt::format("{}_of_node[{}]", name, node), shape.node_lines, node);
  }
  const CacheSpec& outermost = kernel.machine().caches.back();
  set_stride_ = static_cast<std::uint64_t>(outermost.size_kib) * 1024 / static_cast<std::uint64_t>(outermost.ways);
  const auto bytes = static_cast<std::int64_t>(set_stride_ * kLinesOfSet);
  for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
    const int node = kernel.node_of(cpu);
    local_.push_back({memory.place_array(fmt::format("{}_memory[{}]", name, cpu), bytes, Home::on(node))});
    remote_.push_back({memory.place_array(fmt::format("{}_far_memory[{}]", name, cpu), bytes, Home::on((node + 1) % nodes))});
  }
}

void OtherMemory::visit(Cpu& cpu, Random& random, std::int64_t instructions) {
  const std::array<double, kKinds> means = {shape_.shared, shape_.node_shared, shape_.local_memory, shape_.remote_memory};
  // The fraction of a miss is drawn, so that the means are kept.
  std::vector<Kind> order;
  for (int kind = 0; kind < kKinds; ++kind) {
    const auto milli = static_cast<std::uint64_t>(std::llround(means[kind] * 1000));
    const std::uint64_t count = milli / 1000 + (random.below(1000) < milli % 1000 ? 1 : 0);
    order.insert(order.end(), count, static_cast<Kind>(kind));
  }
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  const std::int64_t part = instructions / (static_cast<std::int64_t>(order.size()) + 1);
  for (const Kind kind : order) {
    pace_.pass(cpu, part);
    miss(cpu, random, kind);
  }
  pace_.pass(cpu, instructions - part * static_cast<std::int64_t>(order.size()));
}

void OtherMemory::miss(Cpu& cpu, Random& random, Kind kind) {
  const int self = cpu.id().value;
  const auto draw = [&random](const std::vector<Address>& lines) { return lines[random.below(lines.size())]; };
  switch (kind) {
    case kShared: cpu.fetch_add(draw(shared_), 1); break;
    case kNodeShared: cpu.fetch_add(draw(node_shared_[kernel_.node_of(cpu.id().value)]), 1); break;
    case kLocalMemory: cpu.load(next_line(local_[self])); break;
    case kRemoteMemory: cpu.load(next_line(remote_[self])); break;
    case kKinds: break;
  }
}

Address OtherMemory::next_line(Stream& stream) const {
  const std::uint64_t number = stream.next++ % (kStreamSets * kLinesOfSet);
  const auto line = static_cast<std::uint64_t>(kernel_.memory().line_bytes());
  return stream.begin + number / kStreamSets * set_stride_ + number % kStreamSets * line;
}

}  // namespace linebounce::workloads
