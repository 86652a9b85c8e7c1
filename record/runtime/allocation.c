#include "allocation.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "apart.h"
#include "events.h"
#include "real.h"

// Around the C library's functions for memory. Their instructions are the program's, where the plugin counts them.
static uint64_t begin_allocating(void) {
  this_thread.allocates = true;
  return ticks_of_work();
}

static void end_allocating(uint64_t began) {
  this_thread.allocates = false;
  drop_waits_since(began);
}

#define ALLOCATING(call)                       \
  ({                                           \
    const uint64_t began = begin_allocating(); \
    const __typeof__(call) got = (call);       \
    end_allocating(began);                     \
    got;                                       \
  })

static void* record_block(void* memory, size_t bytes, size_t element, uintptr_t caller, unsigned flags) {
  const struct Thread* thread = &this_thread;
  if (memory == NULL || thread->silent || this_ring() == NULL) return memory;
  uint64_t more[2 + kMostFrames] = {bytes, element, caller};
  unsigned frames = 1;
  for (uint32_t depth = thread->depth; depth > 0 && depth <= kFrames && frames < kMostFrames; --depth) {
    more[2 + frames++] = thread->frames[depth - 1].called_from;
  }
  record_in_order_with(kAllocate, frames | flags, (uintptr_t)memory, more, 2 + frames);
  return memory;
}

// `memory`: NULL if the allocation failed. `element`: bytes of an element; 0 if unknown. Returns `memory`.
static void* allocated(void* memory, size_t bytes, size_t element, uintptr_t caller) {
  return record_block(memory, bytes, element, caller, 0);
}

static void* mapped(void* memory, size_t bytes, int flags, uintptr_t caller) {
  return record_block(memory, bytes, 0, caller, kAlignedBlock | ((flags & MAP_SHARED) != 0 ? kSharedBlock : 0));
}

static void* allocated_aligned(void* memory, size_t bytes, uintptr_t caller) {
  return record_block(memory, bytes, 0, caller, kAlignedBlock);
}

void __tsan_linebounce_new_begins(struct NewBlock* block) {
  block->was_silent = this_thread.silent;
  this_thread.silent = true;
}

void __tsan_linebounce_new_ends(const struct NewBlock* block) {
  this_thread.silent = block->was_silent;
  record_block(block->memory, block->bytes, 0, block->caller, block->is_aligned ? kAlignedBlock : 0);
}

// Recorded before the block is freed, because another thread may get it at once.
static void freeing(const void* memory, size_t bytes) {
  const uint64_t more = bytes;
  if (memory != NULL && !this_thread.silent) record_in_order_with(kFree, 0, (uintptr_t)memory, &more, 1);
}

static void freeing_block(void* memory) { freeing(memory, memory == NULL ? 0 : REAL(malloc_usable_size)(memory)); }

// All functions that return or take blocks are replaced: a block from apart.c must never reach the C library's functions.
REPLACEABLE void* malloc(size_t bytes) {
  if (this_thread.apart) return allocate_apart(bytes);
  return allocated(ALLOCATING(REAL(malloc)(bytes)), bytes, 0, RETURN_ADDRESS);
}

// The C library allocates a new thread's table of thread-local variables by calloc, while pthread_create() runs. Its elements
// have two words.
REPLACEABLE void* calloc(size_t count, size_t bytes) {
  if (this_thread.apart) return allocate_apart(count * bytes);
  if (this_thread.creates_thread && bytes == 2 * sizeof(void*)) return allocate_thread_table(count, bytes);
  return allocated(ALLOCATING(REAL(calloc)(count, bytes)), count * bytes, bytes, RETURN_ADDRESS);
}

REPLACEABLE void* realloc(void* memory, size_t bytes) {
  if (is_apart(memory)) return reallocate_apart(memory, bytes);
  if (this_thread.apart && memory == NULL) return allocate_apart(bytes);
  freeing_block(memory);
  return allocated(ALLOCATING(REAL(realloc)(memory, bytes)), bytes, 0, RETURN_ADDRESS);
}

REPLACEABLE void* reallocarray(void* memory, size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  if (is_apart(memory)) return reallocate_apart(memory, all);
  freeing_block(memory);
  return allocated(ALLOCATING(REAL(realloc)(memory, all)), all, bytes, RETURN_ADDRESS);
}

REPLACEABLE void* memalign(size_t alignment, size_t bytes) {
  return allocated_aligned(ALLOCATING(REAL(memalign)(alignment, bytes)), bytes, RETURN_ADDRESS);
}
REPLACEABLE void* aligned_alloc(size_t alignment, size_t bytes) {
  return allocated_aligned(ALLOCATING(REAL(aligned_alloc)(alignment, bytes)), bytes, RETURN_ADDRESS);
}
REPLACEABLE void* valloc(size_t bytes) { return allocated_aligned(ALLOCATING(REAL(valloc)(bytes)), bytes, RETURN_ADDRESS); }
REPLACEABLE void* pvalloc(size_t bytes) { return allocated_aligned(ALLOCATING(REAL(pvalloc)(bytes)), bytes, RETURN_ADDRESS); }

REPLACEABLE int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  const int result = ALLOCATING(REAL(posix_memalign)(memory, alignment, bytes));
  if (result == 0) allocated_aligned(*memory, bytes, RETURN_ADDRESS);
  return result;
}

REPLACEABLE size_t malloc_usable_size(void* memory) {
  return is_apart(memory) ? apart_bytes(memory) : REAL(malloc_usable_size)(memory);
}

REPLACEABLE void free(void* memory) {
  if (is_apart(memory)) return free_apart(memory);
  freeing_block(memory);
  const uint64_t began = begin_allocating();
  REAL(free)(memory);
  end_allocating(began);
}

static void asked_for_pages(const void* memory, size_t bytes, unsigned log2_bytes) {
  const uint64_t more = bytes;
  if (!this_thread.silent && this_ring() != NULL) record_in_order_with(kPages, log2_bytes, (uintptr_t)memory, &more, 1);
}

enum { kBasePage = 12, kHugePage = 21 };  // log2 of x86-64's page sizes

// A mapping of huge pages may state their size.
static unsigned log2_of_pages(int flags) {
  const unsigned stated = (unsigned)flags >> MAP_HUGE_SHIFT & MAP_HUGE_MASK;
  return stated != 0 ? stated : kHugePage;
}

// A mapping at a fixed address replaces an older one there.
#define MMAP(name, Offset)                                                                               \
  EXPORTED void* name(void* wanted, size_t bytes, int protection, int flags, int file, Offset offset) {  \
    if ((flags & MAP_FIXED) != 0) freeing(wanted, bytes);                                                     \
    void* memory = REAL(name)(wanted, bytes, protection, flags, file, offset);                          \
    if (memory == MAP_FAILED) return memory;                                                             \
    mapped(memory, bytes, flags, RETURN_ADDRESS);                                                        \
    if ((flags & MAP_HUGETLB) != 0) asked_for_pages(memory, bytes, log2_of_pages(flags));                \
    return memory;                                                                                       \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

EXPORTED int madvise(void* memory, size_t bytes, int advice) {
  const int result = REAL(madvise)(memory, bytes, advice);
  if (result == 0 && advice == MADV_HUGEPAGE) asked_for_pages(memory, bytes, kHugePage);
  if (result == 0 && advice == MADV_NOHUGEPAGE) asked_for_pages(memory, bytes, kBasePage);
  return result;
}

EXPORTED int munmap(void* memory, size_t bytes) {
  freeing(memory, bytes);
  return REAL(munmap)(memory, bytes);
}

// Reads a fifth argument even if the caller passed none, as the C library does; the kernel then ignores it.
EXPORTED void* mremap(void* memory, size_t before, size_t bytes, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void* wanted = va_arg(more, void*);
  va_end(more);
  freeing(memory, before);
  void* moved = REAL(mremap)(memory, before, bytes, flags, wanted);
  if (moved != MAP_FAILED) allocated_aligned(moved, bytes, RETURN_ADDRESS);
  return moved;
}
