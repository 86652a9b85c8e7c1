// The functions that gcc and clang call under -fsanitize=thread: for each access, and for each function's entry and exit.
#include "events.h"

// Called by each file's constructor. Does nothing, because the runtime has started before any constructor.
EXPORTED void __tsan_init(void);
void __tsan_init(void) {}

// The flag kPointerAccess if this is a load of whole words and one of them looks like an address, else 0.
#define LOADED_POINTER(kind, logarithm, address) \
  ((kind) == kLoad && (logarithm) >= 3 ? pointer_flag(address, 1U << ((logarithm) - 3)) : 0)
#define ACCESS(name, kind, logarithm) \
  EXPORTED void name(void* address);  \
  void name(void* address) {            \
    const unsigned detail = (logarithm) | LOADED_POINTER(kind, logarithm, address);          \
    record_load(kind, detail, (uintptr_t)address, (kind) == kLoad ? address : NULL);         \
  }
#define READ_AND_WRITE(name, logarithm)                                      \
  EXPORTED void name(void* address);                                         \
  void name(void* address) {                                                 \
    record_load(kLoad, logarithm, (uintptr_t)address, address);              \
    record_load(kStore, logarithm, (uintptr_t)address, address);             \
  }
// Plain, volatile and unaligned accesses are recorded alike. The collector splits those that cross a word.
#define ACCESSES_OF_SIZE(bytes, logarithm)                                   \
  ACCESS(__tsan_read##bytes, kLoad, logarithm)                               \
  ACCESS(__tsan_write##bytes, kStore, logarithm)                             \
  ACCESS(__tsan_volatile_read##bytes, kLoad, logarithm)                      \
  ACCESS(__tsan_volatile_write##bytes, kStore, logarithm)                    \
  ACCESS(__tsan_unaligned_read##bytes, kLoad, logarithm)                     \
  ACCESS(__tsan_unaligned_write##bytes, kStore, logarithm)                   \
  ACCESS(__tsan_unaligned_volatile_read##bytes, kLoad, logarithm)            \
  ACCESS(__tsan_unaligned_volatile_write##bytes, kStore, logarithm)          \
  READ_AND_WRITE(__tsan_read_write##bytes, logarithm)                        \
  READ_AND_WRITE(__tsan_unaligned_read_write##bytes, logarithm)

ACCESSES_OF_SIZE(1, 0)
ACCESSES_OF_SIZE(2, 1)
ACCESSES_OF_SIZE(4, 2)
ACCESSES_OF_SIZE(8, 3)
ACCESSES_OF_SIZE(16, 4)

EXPORTED void __tsan_read_range(void* address, size_t bytes);
void __tsan_read_range(void* address, size_t bytes) { record_range(kLoadRange, address, bytes); }
EXPORTED void __tsan_write_range(void* address, size_t bytes);
void __tsan_write_range(void* address, size_t bytes) { record_range(kStoreRange, address, bytes); }

EXPORTED void __tsan_vptr_read(void** pointer);
void __tsan_vptr_read(void** pointer) {
  record_load(kLoad, 3 | pointer_flag(pointer, 1), (uintptr_t)pointer, pointer);
}
EXPORTED void __tsan_vptr_update(void** pointer, void* value);
void __tsan_vptr_update(void** pointer, void* value) {
  (void)value;
  record_address(kStore, 3, pointer);
}

static void leave_frame(struct Thread* thread) {
  --thread->depth;
  record(kLeave, 0, 0);
}

// Leaves frames at lower addresses than the caller's: a longjmp has skipped them.
static void leave_abandoned_frames(struct Thread* thread, uintptr_t stack) {
  while (thread->depth > 0 && thread->depth <= kFrames && thread->frames[thread->depth - 1].stack <= stack) leave_frame(thread);
}

enum { kMostUnits = 255 };  // of kEnter's detail

EXPORTED void __tsan_func_entry(void* called_from);
void __tsan_func_entry(void* called_from) {
  if (this_ring() == NULL) return;
  struct Thread* thread = &this_thread;
  // `stack`: the address of the caller's saved frame pointer, just below the return address.
  const uintptr_t* const kept = __builtin_frame_address(0);
  const uintptr_t stack = (uintptr_t)kept;
  leave_abandoned_frames(thread, stack);
  const bool is_around_known = thread->depth > 0 && thread->depth <= kFrames;
  const uintptr_t around = is_around_known ? thread->frames[thread->depth - 1].stack : UINTPTR_MAX;
  const uintptr_t units = (around - stack) / kStackUnit;
  const bool fits = is_around_known && units <= kMostUnits;
  if (!fits) record(kStackPointer, 0, stack + 2 * sizeof(uintptr_t));
  if (*kept > stack && *kept <= (fits ? around : stack + kMostUnits * kStackUnit)) record(kFramePointer, 0, *kept);
  if (thread->depth < kFrames) thread->frames[thread->depth] = (struct Frame){(uintptr_t)called_from, stack};
  ++thread->depth;
  record(kEnter, fits ? (unsigned)units : 0, RETURN_ADDRESS);
}

EXPORTED void __tsan_func_exit(void);
void __tsan_func_exit(void) {
  if (this_ring() != NULL && this_thread.depth > 0) leave_frame(&this_thread);
}
