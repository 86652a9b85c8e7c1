// Replaces dlopen(), so that the collector learns of libraries that are loaded while the program runs.
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "code_at.h"
#include "events.h"
#include "real.h"

// Records that a library was loaded, and waits until the collector has examined it.
static void record_library(void) {
  if (this_ring() == NULL) return;
  const struct timespec pause = {0, 100 * 1000};
  const uint32_t seen = __atomic_load_n(&channel->libraries_seen, __ATOMIC_ACQUIRE);
  record_in_order(kLibraryLoaded, 0, 0);
  while (__atomic_load_n(&channel->libraries_seen, __ATOMIC_ACQUIRE) == seen && !collector_is_gone()) {
    REAL(syscall)(SYS_nanosleep, &pause, NULL);
  }
  restart_work();
}

// Whether the processor checks that functions return to where they were called from.
static bool has_shadow_stack(void) {
  uint64_t shadow = 0;
  __asm__ volatile("rdsspq %0" : "+r"(shadow));
  return shadow != 0;
}

// The address of a return instruction in the code from this address on; NULL if there is none. Any byte of the code will do.
static const void* return_instruction(uintptr_t code) {
  enum { kReturn = 0xC3 };
  struct CodeAt at;
  if (has_shadow_stack() || !find_code(code, &at) || !at.is_readable) return NULL;
  return REAL(memchr)((const void*)code, kReturn, at.end - code);
}

// dlopen() looks for a library where its caller's file wants it (DT_RUNPATH, $ORIGIN), and knows the caller by its return
// address. So it is made to return to a return instruction in the caller's file, which then comes back here.
static void* open_for(uintptr_t caller, const char* file, int mode) {
  const void* way_back = return_instruction(caller);
  void* (*const opens)(const char*, int) = REAL(dlopen);
  if (way_back == NULL) return opens(file, mode);
  register const void* back __asm__("r12") = way_back;
  register void* function __asm__("r13") = (void*)opens;
  void* library;
  __asm__ volatile(
      "movq %%rsp, %%rbx\n\t"
      "subq $128, %%rsp\n\t"  // keeps what the compiler may have below the stack pointer
      "andq $-16, %%rsp\n\t"
      "subq $8, %%rsp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "pushq %[back]\n\t"
      "jmpq *%[function]\n"
      "1:\n\t"
      "movq %%rbx, %%rsp"
      : "=&a"(library), "+D"(file), "+S"(mode)
      : [back] "r"(back), [function] "r"(function)
      : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
        "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
  return library;
}

EXPORTED void* dlopen(const char* file, int mode) {
  void* library = open_for(RETURN_ADDRESS, file, mode);
  if (library != NULL && file != NULL) record_library();
  return library;
}
