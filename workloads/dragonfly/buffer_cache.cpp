#include "workloads/dragonfly/buffer_cache.hpp"

#include <fmt/format.h>

#include "models/failure.hpp"
#include "workloads/program/list.hpp"
#include "workloads/program/times.hpp"

namespace linebounce::workloads {
namespace {

using BufferList = List<8>;

constexpr std::uint64_t kBufChains = 4096;
constexpr Address kPagesOfBlock = 4;
constexpr Address kBufPageBytes = 4096;
// Fields of a hash chain.
constexpr Address kChainFirst = 8;
constexpr Address kChainBytes = 16;
// Fields of a buffer's header.
constexpr Address kBufHashNext = 0;
constexpr Address kBufBlock = 8;  // block number + 1; 0: none
constexpr Address kBufReferences = 16;
constexpr Address kBufData = 24;
constexpr Address kBufQueueEntry = 32;
constexpr Address kBufQueued = 48;
constexpr Address kBufBytes = 128;
// Fields of a page, struct vm_page.
constexpr Address kPageWired = 0;
constexpr Address kPageStructBytes = 32;  // size of the part that is simulated
// The part of a block's data that is simulated.
constexpr Address kBlockDataBytes = 64;

}  // namespace

BufferCache::BufferCache(const WorkloadSetup& setting, const BufferCacheOptions& options, Interrupts& interrupts)
    : options_(options),
      blocks_(static_cast<std::uint64_t>(options.blocks)),
      buffers_(static_cast<std::uint64_t>(options.buffers)),
      getblk_cycles_(cycles(options.getblk_us, setting.machine)),
      findblk_(setting.memory.function("findblk", Mode::kernel)),
      getblk_(setting.memory.function("getblk", Mode::kernel)),
      bqrelse_(setting.memory.function("bqrelse", Mode::kernel)) {
  place(setting);
  preset_buffers(setting.memory);
  if (options.invalidate) shootdowns_.emplace(setting.memory, setting.layout.cpus, interrupts);
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) everybody_.emplace_back(cpu);
}

void BufferCache::place(const WorkloadSetup& setting) {
  AddressSpace& memory = setting.memory;
  const auto bytes = [](std::uint64_t count, Address each) { return static_cast<std::int64_t>(count * each); };
  const Address table = memory.place_array("bufhashtbl", bytes(kBufChains, kChainBytes));
  for (std::uint64_t chain = 0; chain < kBufChains; ++chain) {
    const Address place = table + chain * kChainBytes;
    MeteredLock& lock =
        setting.locks.create("ttas", fmt::format("bufhash[{}]", chain), {.word = place, .figures = "bufhash_spin"});
    chains_.push_back({&lock, place + kChainFirst});
  }
  queue_lock_ = &setting.locks.create("ttas", "bufqspin");
  const Layout queue{.name = "bufqueue", .size = 16, .fields = {{"next", 0}, {"prev", 8}}};
  queue_ = memory.place(queue, "bufqueue", memory.line_bytes());
  headers_ = memory.place_array("buf", bytes(buffers_, kBufBytes));
  pages_ = memory.place_array("vm_page", bytes(blocks_ * kPagesOfBlock, kPageStructBytes));
  data_ = memory.place_array("file_data", bytes(blocks_, kBlockDataBytes));
  for (std::uint64_t block = 0; block < blocks_; ++block) memory.preset(data_ + block * kBlockDataBytes, block << 32);
}

// At the start, the first blocks have buffers.
void BufferCache::preset_buffers(AddressSpace& memory) {
  std::vector<Address> first(kBufChains);
  Address before = queue_;
  for (std::uint64_t number = 0; number < buffers_; ++number) {
    const std::uint64_t block = number;
    const Address buffer = headers_ + number * kBufBytes;
    const std::size_t chain = &chain_of(block) - chains_.data();
    memory.preset(buffer + kBufHashNext, first[chain]);
    first[chain] = buffer;
    memory.preset(buffer + kBufBlock, block + 1);
    memory.preset(buffer + kBufData, data_ + block * kBlockDataBytes);
    memory.preset(buffer + kBufQueued, 1);
    const Address entry = buffer + kBufQueueEntry;
    memory.preset(before, entry);
    memory.preset(entry + BufferList::kPointerBytes, before);
    before = entry;
    for (Address page = 0; page < kPagesOfBlock; ++page)
      memory.preset(pages_ + (block * kPagesOfBlock + page) * kPageStructBytes + kPageWired, 1);
  }
  memory.preset(before, queue_);
  memory.preset(queue_ + BufferList::kPointerBytes, before);
  for (std::size_t chain = 0; chain < first.size(); ++chain) memory.preset(chains_[chain].first, first[chain]);
}

BufferCache::Chain& BufferCache::chain_of(std::uint64_t block) {
  return chains_[(block * 0x9E3779B97F4A7C15ULL >> 32) % kBufChains];
}

Address BufferCache::search(Cpu& cpu, const Chain& chain, std::uint64_t block) {
  Address buffer = cpu.load(chain.first);
  while (buffer != 0 && cpu.load(buffer + kBufBlock) != block + 1) buffer = cpu.load(buffer + kBufHashNext);
  return buffer;
}

void BufferCache::unlink(Cpu& cpu, const Chain& chain, Address buffer) {
  Address link = chain.first;
  for (Address next = cpu.load(link); next != buffer; next = cpu.load(link)) {
    if (next == 0) throw ModelFailure("buffer cache: a buffer is not in its block's chain");
    link = next + kBufHashNext;
  }
  cpu.store(link, cpu.load(buffer + kBufHashNext));
}

Address BufferCache::find(Cpu& cpu, std::uint64_t block) {
  const FunctionScope scope(cpu, findblk_);
  Chain& chain = chain_of(block);
  chain.lock->acquire(cpu);
  const Address buffer = search(cpu, chain, block);
  const Value references = buffer == 0 ? 0 : cpu.load(buffer + kBufReferences);
  if (buffer != 0) cpu.store(buffer + kBufReferences, references + 1);
  chain.lock->release(cpu);
  if (buffer != 0 && references == 0) unqueue(cpu, buffer);
  return buffer;
}

void BufferCache::release(Cpu& cpu, Address buffer) {
  const FunctionScope scope(cpu, bqrelse_);
  Chain& chain = chain_of(cpu.load(buffer + kBufBlock) - 1);
  chain.lock->acquire(cpu);
  const Value references = cpu.load(buffer + kBufReferences);
  if (references == 0) throw ModelFailure("buffer cache: a buffer is released that nobody has");
  cpu.store(buffer + kBufReferences, references - 1);
  chain.lock->release(cpu);
  if (references == 1) enqueue(cpu, buffer);
}

Address BufferCache::getblk(Cpu& cpu, std::uint64_t block) {
  if (const Address found = find(cpu, block); found != 0) return found;
  const FunctionScope scope(cpu, getblk_);
  const Address made = take_buffer(cpu);
  map_pages(cpu, made, block);
  Chain& chain = chain_of(block);
  chain.lock->acquire(cpu);
  // Another CPU may have made a buffer for this block meanwhile.
  const Address other = search(cpu, chain, block);
  const Value references = other == 0 ? 0 : cpu.load(other + kBufReferences);
  if (other == 0) {
    cpu.store(made + kBufBlock, block + 1);
    cpu.store(made + kBufReferences, 1);
    cpu.store(made + kBufHashNext, cpu.load(chain.first));
    cpu.store(chain.first, made);
  } else {
    cpu.store(other + kBufReferences, references + 1);
  }
  chain.lock->release(cpu);
  if (other == 0) return made;
  enqueue(cpu, made);
  if (references == 0) unqueue(cpu, other);
  return other;
}

// Takes the least recently used buffer off the queue. If a buffer has been found since it was queued, takes it off, too, and
// goes on to the next; its release queues it again. Lock order: the queue's lock before a chain's.
Address BufferCache::take_buffer(Cpu& cpu) {
  queue_lock_->acquire(cpu);
  for (;;) {
    const Address entry = BufferList::next(cpu, queue_);
    if (entry == queue_) throw ModelFailure("buffer cache: all buffers are in use");
    const Address buffer = entry - kBufQueueEntry;
    BufferList::remove(cpu, entry);
    cpu.store(buffer + kBufQueued, 0);
    if (!forget_block(cpu, buffer)) continue;
    queue_lock_->release(cpu);
    return buffer;
  }
}

// Returns false if another CPU has found the buffer in the meantime.
bool BufferCache::forget_block(Cpu& cpu, Address buffer) {
  const Value block = cpu.load(buffer + kBufBlock);
  if (block == 0) return true;
  Chain& chain = chain_of(block - 1);
  chain.lock->acquire(cpu);
  const bool unused = cpu.load(buffer + kBufReferences) == 0;
  if (unused) {
    unlink(cpu, chain, buffer);
    cpu.store(buffer + kBufBlock, 0);
  }
  chain.lock->release(cpu);
  return unused;
}

void BufferCache::unqueue(Cpu& cpu, Address buffer) {
  queue_lock_->acquire(cpu);
  if (cpu.load(buffer + kBufQueued) != 0) {
    BufferList::remove(cpu, buffer + kBufQueueEntry);
    cpu.store(buffer + kBufQueued, 0);
  }
  queue_lock_->release(cpu);
}

void BufferCache::enqueue(Cpu& cpu, Address buffer) {
  queue_lock_->acquire(cpu);
  if (cpu.load(buffer + kBufQueued) == 0) {
    const Address last = BufferList::previous(cpu, queue_);
    BufferList::insert(cpu, buffer + kBufQueueEntry, last, queue_);
    cpu.store(buffer + kBufQueued, 1);
  }
  queue_lock_->release(cpu);
}

// Unmaps the pages of the buffer's old block, and maps those of the new one. All CPUs must drop their translations of the old
// kernel addresses.
void BufferCache::map_pages(Cpu& cpu, Address buffer, std::uint64_t block) {
  const auto wire = [&](Address data, Value addend) {
    const Address first = pages_ + (data - data_) / kBlockDataBytes * kPagesOfBlock * kPageStructBytes;
    for (Address page = 0; page < kPagesOfBlock; ++page) cpu.fetch_add(first + page * kPageStructBytes + kPageWired, addend);
  };
  wire(cpu.load(buffer + kBufData), Value{0} - 1);
  const Address data = data_ + block * kBlockDataBytes;
  wire(data, 1);
  cpu.store(buffer + kBufData, data);
  if (getblk_cycles_ > 0) cpu.compute(getblk_cycles_);
  if (!shootdowns_) return;
  const Address window = (buffer - headers_) / kBufBytes * kPagesOfBlock * kBufPageBytes;
  shootdowns_->shoot_down(cpu, everybody_, window, static_cast<std::int64_t>(kPagesOfBlock));
}

Address BufferCache::data(Cpu& cpu, Address buffer, std::uint64_t block) const {
  const Address data = cpu.load(buffer + kBufData);
  if (data != data_ + block * kBlockDataBytes)
    throw ModelFailure(
        fmt::format("buffer cache: the buffer of block {} shows block {}", block, (data - data_) / kBlockDataBytes));
  return data;
}

}  // namespace linebounce::workloads
