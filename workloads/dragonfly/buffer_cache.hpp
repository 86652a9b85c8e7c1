// DragonFly's buffer cache in simulated memory. A hash table finds a block's buffer, which maps the pages of that block. Unused
// buffers wait in a queue; getblk() takes one from there for a block that has no buffer. All blocks are in the VM page cache,
// so a buffer only maps existing pages.
#pragma once

#include <optional>
#include <vector>

#include "workloads/locks/lock_set.hpp"
#include "workloads/program/interrupts.hpp"
#include "workloads/program/shootdown.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

struct BufferCacheOptions {
  std::int64_t blocks = 65536;
  std::int64_t buffers = 8192;
  double getblk_us = 2;  // time to make a buffer, in addition to the simulated accesses
  bool invalidate = false;
};

class BufferCache {
 public:
  BufferCache(const WorkloadSetup& setting, const BufferCacheOptions& options, Interrupts& interrupts);

  // Returns the block's buffer, with a reference for the caller; 0 if the block has no buffer.
  [[nodiscard]] Address find(Cpu& cpu, std::uint64_t block);
  // Like find(), but makes a buffer if the block has none.
  [[nodiscard]] Address getblk(Cpu& cpu, std::uint64_t block);
  // REQUIRES: the caller has a reference.
  void release(Cpu& cpu, Address buffer);

  // The address of the block's first word, through the buffer's mapping. Errors: ModelFailure if the buffer belongs to another
  // block.
  [[nodiscard]] Address data(Cpu& cpu, Address buffer, std::uint64_t block) const;

  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }

 private:
  struct Chain {
    MeteredLock* lock = nullptr;
    Address first = 0;
  };
  Chain& chain_of(std::uint64_t block);
  void place(const WorkloadSetup& setting);
  void preset_buffers(AddressSpace& memory);
  [[nodiscard]] static Address search(Cpu& cpu, const Chain& chain, std::uint64_t block);
  // REQUIRES: the caller holds the chain's lock.
  static void unlink(Cpu& cpu, const Chain& chain, Address buffer);

  Address take_buffer(Cpu& cpu);
  bool forget_block(Cpu& cpu, Address buffer);
  void unqueue(Cpu& cpu, Address buffer);
  void enqueue(Cpu& cpu, Address buffer);
  void map_pages(Cpu& cpu, Address buffer, std::uint64_t block);

  BufferCacheOptions options_;
  std::uint64_t blocks_, buffers_;
  std::int64_t getblk_cycles_;
  std::vector<Chain> chains_;
  MeteredLock* queue_lock_ = nullptr;
  Address queue_ = 0;  // head
  Address headers_ = 0, pages_ = 0, data_ = 0;
  FunctionId findblk_, getblk_, bqrelse_;
  std::optional<Shootdowns> shootdowns_;
  std::vector<CpuId> everybody_;
};

}  // namespace linebounce::workloads
