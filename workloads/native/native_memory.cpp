#include "workloads/native/native_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace linebounce::workloads {
namespace {

constexpr int kLoaderPageBytes = 4096;

std::string stem_of(const std::string& name) {
  return name.substr(0, name.rfind('.'));
}

// Leaves out fields that overlap, as in unions, and fields beyond the end.
Layout plain_layout(const std::string& name, std::size_t size, std::vector<Field> fields = {}) {
  std::ranges::stable_sort(fields, {}, &Field::offset);
  int end = 0;
  std::erase_if(fields, [&](const Field& field) {
    const bool drops = field.offset < end || field.offset + field.size > static_cast<int>(size);
    if (!drops) end = field.offset + field.size;
    return drops;
  });
  return {.name = name, .size = static_cast<int>(size), .fields = std::move(fields)};
}

}  // namespace

// The mirror is mapped once in a process, and never unmapped, because fibers that unwind late may still refer to it.
std::uint64_t mirror() {
  static const std::uint64_t kMirror = [] {
    for (const std::uint64_t wanted : {std::uint64_t{1} << 45, std::uint64_t{1} << 36}) {
      auto* const at = reinterpret_cast<void*>(wanted);
      void* const mapped = ::mmap(at, NativeMemory::kMirrorBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (mapped == at) return wanted;
      if (mapped != MAP_FAILED) ::munmap(mapped, NativeMemory::kMirrorBytes);
    }
    return std::uint64_t{0};
  }();
  if (kMirror == 0) throw std::runtime_error("locks in C need 64 GiB of address space, which is not free in this process");
  return kMirror;
}

NativeMemory::NativeMemory(const LockObject& object, const std::string& name, AddressSpace& space, CpuObjects& per_cpu,
                           int pause_cycles)
    : object_(&object),
      name_(name),
      space_(&space),
      per_cpu_(&per_cpu),
      pause_cycles_(pause_cycles),
      data_begin_(reinterpret_cast<std::uint64_t>(object.data().data())) {
  object.restore_data();
  const std::string stem = stem_of(name);
  // Places the variables at the same offset in a page as the loader did, so that they keep their alignment.
  space.go_to(data_begin_ % kLoaderPageBytes, kLoaderPageBytes);
  data_ = space.place(plain_layout(stem + ".data", object.data().size(), object.fields().data), stem + ".data", 1);
  preset(data_, object.data());
  running_.resize(static_cast<std::size_t>(per_cpu.cpus()));
  for (int cpu = 0; cpu < per_cpu.cpus(); ++cpu) {
    if (object.thread_local_bytes() > 0) {
      const Layout layout = plain_layout(stem + ".thread_local", object.thread_local_bytes(), object.fields().thread_locals);
      thread_locals_.push_back(per_cpu.place(layout, fmt::format("{}[{}]", layout.name, cpu), cpu));
      preset(thread_locals_.back(), object.thread_locals());
    }
    const Layout layout = plain_layout(stem + ".stack", kLevels * kStackBytes);
    stacks_.push_back(per_cpu.place(layout, fmt::format("{}[{}]", layout.name, cpu), cpu));
  }
}

void NativeMemory::preset(Address to, std::span<const std::byte> bytes) const {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Value)) {
    Value value = 0;
    std::memcpy(&value, bytes.data() + at, std::min(sizeof value, bytes.size() - at));
    space_->preset(to + at, stored(value), sizeof value);
  }
}

NativeMemory::StackByte NativeMemory::stack_byte(Address address) {
  if (shared_.empty()) return {};
  for (std::size_t cpu = 0; cpu < stacks_.size(); ++cpu) {
    if (const Address at = address - stacks_[cpu]; at < kLevels * kStackBytes)
      return {&shared_[cpu * kLevels + at / kStackBytes], at % kStackBytes};
  }
  return {};
}

Address NativeMemory::place_lock(const LockPlace& place) {
  const std::size_t size = object_->size(), line = static_cast<std::size_t>(space_->line_bytes());
  const std::string structure = stem_of(name_);
  const bool fits = place.word && size <= static_cast<std::size_t>(place.word_bytes) && *place.word % object_->alignment() == 0;
  const std::size_t alignment = std::max(line, object_->alignment());
  const Address lock = fits ? *place.word
                            : space_->place(plain_layout(structure, (size + line - 1) / line * line, object_->fields().lock),
                                            place.name, static_cast<int>(alignment));
  if (lock + size > kMirrorBytes)
    throw std::invalid_argument(
        fmt::format("{} lies at byte {} of simulated memory, and locks in C reach the first {}: use a "
                    "lock in Lua or C++ for it",
                    place.name, lock, kMirrorBytes));
  auto* const scratch = static_cast<std::byte*>(host(lock));
  std::memset(scratch, 0, size);
  if (object_->has(LockObject::Function::init)) {
    char* top = nullptr;
    object_->run(LockObject::Function::init, scratch, nullptr, &top);
    preset(data_, object_->data());
    std::vector<std::byte> whole((size + sizeof(Value) - 1) / sizeof(Value) * sizeof(Value));
    std::memcpy(whole.data(), scratch, size);
    if (!fits) preset(lock, whole);
    if (fits) {
      Value value = 0;
      std::memcpy(&value, scratch, size);
      space_->preset(lock, stored(value), place.word_bytes);
    }
  }
  return lock;
}

}  // namespace linebounce::workloads
