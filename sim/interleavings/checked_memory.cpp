#include "sim/interleavings/checked_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace linebounce::sim {

void Digest::add(std::uint64_t value) {
  const auto mixed = [](std::uint64_t bits) {
    bits ^= bits >> 32;
    bits *= 0xd6e8feb86659fd93;
    bits ^= bits >> 32;
    bits *= 0xd6e8feb86659fd93;
    return bits ^ (bits >> 32);
  };
  high = mixed(high ^ value) + 0x9e3779b97f4a7c15;
  low = mixed(low + value * 0xc2b2ae3d27d4eb4f) ^ (high << 1);
}

CheckedMemory::CheckedMemory(LineStore& initial, int cpus, Consistency consistency)
    : memory_(&initial), consistency_(consistency), buffers_(cpus) {}

std::byte* CheckedMemory::place(Address address) const {
  return memory_->memory_data(memory_->slot(memory_->line_of(address))) + memory_->offset_of(address);
}

namespace {

bool overlap(const CheckedMemory::Store& store, Address address, int bytes) {
  return store.address < address + static_cast<Address>(bytes) && address < store.address + static_cast<Address>(store.bytes);
}

}  // namespace

Value CheckedMemory::load(int cpu, Address address, int bytes) const {
  std::array<std::byte, sizeof(Value)> seen{};
  std::memcpy(seen.data(), place(address), bytes);
  for (const Store& store : buffers_[cpu]) {
    std::array<std::byte, sizeof(Value)> stored{};
    std::memcpy(stored.data(), &store.value, sizeof(Value));
    for (int i = 0; i < store.bytes; ++i) {
      const auto at = static_cast<std::int64_t>(store.address - address) + i;
      if (at >= 0 && at < bytes) seen[at] = stored[i];
    }
  }
  Value value = 0;
  std::memcpy(&value, seen.data(), sizeof(Value));
  return value;
}

Value CheckedMemory::in_memory(Address address, int bytes) const {
  Value value = 0;
  std::memcpy(&value, place(address), bytes);
  return value;
}

bool CheckedMemory::can_load(int cpu, Address address, int bytes) const {
  const auto& buffer = buffers_[cpu];
  const auto newest =
      std::find_if(buffer.rbegin(), buffer.rend(), [&](const Store& store) { return overlap(store, address, bytes); });
  if (newest == buffer.rend()) return true;
  return newest->address <= address &&
         newest->address + static_cast<Address>(newest->bytes) >= address + static_cast<Address>(bytes);
}

void CheckedMemory::store(int cpu, const Store& store) {
  if (consistency_ == Consistency::sc) return write(store);
  buffers_[cpu].push_back(store);
}

void CheckedMemory::write(const Store& store) {
  std::memcpy(place(store.address), &store.value, store.bytes);
  const std::pair<Address, int> word(store.address, store.bytes);
  const auto known = std::ranges::lower_bound(written_, word);
  if (known == written_.end() || *known != word) written_.insert(known, word);
}

std::vector<int> CheckedMemory::drainable(int cpu) const {
  const auto& buffer = buffers_[cpu];
  std::vector<int> found;
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(i);
    const bool passes_its_bytes =
        std::any_of(buffer.begin(), end, [&](const Store& older) { return overlap(older, end->address, end->bytes); });
    const bool may_pass = consistency_ == Consistency::ia64 && !end->release && !passes_its_bytes;
    if (i == 0 || may_pass) found.push_back(static_cast<int>(i));
  }
  return found;
}

CheckedMemory::Store CheckedMemory::drain(int cpu, int place) {
  auto& buffer = buffers_[cpu];
  const auto at = buffer.begin() + place;
  const Store store = *at;
  buffer.erase(at);
  write(store);
  return store;
}

void CheckedMemory::add_to(Digest& digest) const {
  for (const auto& [address, bytes] : written_) {
    Value value = 0;
    std::memcpy(&value, place(address), bytes);
    digest.add(address);
    digest.add(value);
  }
  for (const auto& buffer : buffers_) {
    digest.add(buffer.size());
    for (const Store& store : buffer) {
      digest.add(store.address);
      digest.add(store.value);
      digest.add(store.release ? 1 : 0);
    }
  }
}

}  // namespace linebounce::sim
