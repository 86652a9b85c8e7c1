// Memory on a chosen node, in huge pages if available, and rings of pointers in it.
#pragma once

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "host.h"
#include "statistics.h"

enum { kHugePage = 2 << 20, kBind = 2 };  // `kBind`: MPOL_BIND of <numaif.h>, which would need libnuma

struct block {
  char* data;
  size_t bytes;
  void* mapping;
  size_t mapped;
};

static inline bool is_bound_to_node(const struct host* host, const struct block* block, int node) {
  unsigned long mask[kMostCpus / (8 * sizeof(unsigned long)) + 1] = {0};
  mask[(size_t)node / (8 * sizeof *mask)] |= 1UL << ((size_t)node % (8 * sizeof *mask));
  return host->memory_nodes == 1 ||
         syscall(SYS_mbind, block->data, block->bytes, kBind, mask, (unsigned long)kMostCpus, 0UL) == 0;
}

// Returns memory without pages.
static inline struct block reserve(size_t bytes) {
  struct block block = {.bytes = (bytes + kHugePage - 1) / kHugePage * kHugePage};
  block.mapped = block.bytes + kHugePage;
  block.mapping = mmap(NULL, block.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block.mapping == MAP_FAILED) give_up("linebounce-probe: mmap");
  block.data = (char*)(((uintptr_t)block.mapping + kHugePage - 1) / kHugePage * kHugePage);
  madvise(block.data, block.bytes, MADV_HUGEPAGE);
  return block;
}

// Returns zeroed memory with all pages present. On return the calling thread is pinned to a CPU of the node: many containers
// forbid mbind, and that the thread touches the memory first places it there, too.
static inline struct block allocate_on(const struct host* host, size_t bytes, int node) {
  const struct block block = reserve(bytes);
  const int cpu = cpu_of_node(host, node);
  if (!is_bound_to_node(host, &block, node) && cpu < 0) give_up("linebounce-probe: mbind, for a node without CPUs");
  if (cpu >= 0) pin_to(host->cpu[cpu]);
  memset(block.data, 0, block.bytes);
  return block;
}

// Likewise, but the calling thread stays on its CPU. REQUIRES: no node's memory is nearer to it.
static inline struct block allocate_nearby(const struct host* host, size_t bytes, int node) {
  const struct block block = reserve(bytes);
  (void)is_bound_to_node(host, &block, node);
  memset(block.data, 0, block.bytes);
  return block;
}

static inline void free_block(struct block* block) {
  munmap(block->mapping, block->mapped);
}

// Whether most of a block is in huge pages, according to /proc/self/smaps.
static inline bool is_in_huge_pages(const struct block* block) {
  FILE* file = fopen("/proc/self/smaps", "r");
  char line[1024];
  bool here = false;
  long huge_kib = 0;
  while (file && fgets(line, sizeof line, file)) {
    unsigned long first, past;
    if (sscanf(line, "%lx-%lx ", &first, &past) == 2) {
      here = first < (uintptr_t)block->data + block->bytes && past > (uintptr_t)block->data;
    }
    long kib;
    if (here && sscanf(line, "AnonHugePages: %ld kB", &kib) == 1) huge_kib += kib;
  }
  if (file) fclose(file);
  return (size_t)huge_kib * 1024 >= block->bytes / 2;
}

// Links the first `lines` lines into a ring of pointers; they lie `stride` bytes apart. No prefetcher can guess the next line,
// because the ring's order is random.
static inline void** make_ring(char* data, size_t lines, size_t stride, unsigned long long* random) {
  uint32_t* order = malloc(lines * sizeof *order);
  if (!order) give_up("linebounce-probe");
  for (size_t i = 0; i < lines; ++i) order[i] = (uint32_t)i;
  for (size_t i = lines; i-- > 1;) {
    const size_t other = random_below(random, i + 1);
    const uint32_t kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (size_t i = 0; i < lines; ++i) *(void**)(data + order[i] * stride) = data + order[(i + 1) % lines] * stride;
  void** first = (void**)(data + order[0] * stride);
  free(order);
  return first;
}

// Follows the ring; each load depends on the previous one.
static inline void** chase(void** at, size_t loads) {
  for (size_t i = loads / 8; i-- > 0;) {
    at = *(void* volatile*)at;
    at = *(void* volatile*)at;
    at = *(void* volatile*)at;
    at = *(void* volatile*)at;
    at = *(void* volatile*)at;
    at = *(void* volatile*)at;
    at = *(void* volatile*)at;
    at = *(void* volatile*)at;
  }
  return at;
}

// Like chase(), but with an atomic operation that leaves each word unchanged. Each line must be fetched for writing.
static inline void** chase_atomically(void** at, size_t loads) {
  for (size_t i = 0; i < loads; ++i) at = (void**)atomic_fetch_add((_Atomic uintptr_t*)at, 0);
  return at;
}
