// A separate heap for allocations that the C library makes on the runtime's behalf. On the program's heap they would move later
// blocks, and so change which blocks share a line.
#include "apart.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "real.h"

// Reserves addresses; only used pages take memory. Blocks are never freed, which costs 500 bytes for each thread that the
// program creates.
enum { kRegionBytes = 1 << 28 };
static unsigned char* region;
static size_t used;
static bool adds_thread_local_module;

struct Block {
  size_t bytes;
  void* stands_for;  // a block on the program's heap, at the place that this block would have without recording; NULL: none
};

// True if the program has no thread-local variables except ours. The C library's table for each thread then has one entry more
// than without recording. (As a library, the runtime always adds an entry.) REQUIRES: all our thread-local data is in struct
// Thread.
static bool has_only_our_thread_locals(void) {
  const Elf64_Phdr* headers = (const Elf64_Phdr*)getauxval(AT_PHDR);
  const unsigned long count = getauxval(AT_PHNUM);
  for (unsigned long i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_TLS) return headers[i].p_memsz == sizeof(struct Thread);
  }
  return false;
}

void prepare_apart(void) {
  void* got = (void*)REAL(syscall)(SYS_mmap, NULL, (size_t)kRegionBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got != MAP_FAILED) region = got;
  adds_thread_local_module = announce_thread != NULL || has_only_our_thread_locals();
}

bool is_apart(const void* memory) {
  return (uintptr_t)memory - (uintptr_t)region < kRegionBytes && memory != NULL;
}

static struct Block* block_of(void* memory) {
  return (struct Block*)memory - 1;
}

void* allocate_apart(size_t bytes) {
  if (region == NULL || bytes >= kRegionBytes) return REAL(malloc)(bytes);
  const size_t all = sizeof(struct Block) + ((bytes + 15) & ~(size_t)15);
  const size_t at = __atomic_fetch_add(&used, all, __ATOMIC_RELAXED);
  if (at + all > kRegionBytes) {
    __atomic_fetch_sub(&used, all, __ATOMIC_RELAXED);
    return REAL(malloc)(bytes);
  }
  struct Block* block = (struct Block*)(region + at);
  *block = (struct Block){.bytes = bytes};
  return block + 1;
}

// Allocates a new thread's table outside the program's heap. The program's heap gets a block of the size that the table has
// without our entry.
void* allocate_thread_table(size_t entries, size_t bytes) {
  void* without_ours = REAL(calloc)(entries - (adds_thread_local_module ? 1 : 0), bytes);
  if (without_ours == NULL || !adds_thread_local_module) return without_ours;
  void* table = allocate_apart(entries * bytes);
  if (!is_apart(table)) {
    REAL(free)(without_ours);
    return REAL(calloc)(entries, bytes);
  }
  block_of(table)->stands_for = without_ours;
  return table;
}

size_t apart_bytes(void* memory) {
  return block_of(memory)->bytes;
}

void free_apart(void* memory) {
  REAL(free)(block_of(memory)->stands_for);
}

void* reallocate_apart(void* memory, size_t bytes) {
  void* now = this_thread.apart ? allocate_apart(bytes) : REAL(malloc)(bytes);
  if (now == NULL) return NULL;
  const size_t before = block_of(memory)->bytes;
  for (size_t i = 0; i < before && i < bytes; ++i) ((char*)now)[i] = ((const char*)memory)[i];
  free_apart(memory);
  return now;
}
