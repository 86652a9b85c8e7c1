// Functions of the C library that access memory for the program: compilers call them instead of accessing memory directly.
#include "events.h"
#include "real.h"

// A replay repeats the accesses, so that the time of the function itself does not count.
#define ACCESSED(call)                   \
  ({                                     \
    const __typeof__(call) got = (call); \
    restart_work();                      \
    got;                                 \
  })

// Fallbacks for calls by the dynamic linker before the real functions are found. Such calls are not recorded. The loops are
// volatile, because a compiler would otherwise replace them by calls of these functions.
typedef volatile char* Bytes;
typedef const volatile char* ConstBytes;

static inline bool too_early(void) { return __builtin_expect(real_strrchr == NULL, 0); }

EXPORTED void* memcpy(void* restrict to, const void* restrict from, size_t bytes) {
  if (too_early()) {
    for (size_t i = 0; i < bytes; ++i) ((Bytes)to)[i] = ((ConstBytes)from)[i];
    return to;
  }
  record_range(kLoadRange, from, bytes);
  record_range(kStoreRange, to, bytes);
  return ACCESSED(REAL(memcpy)(to, from, bytes));
}

EXPORTED void* memmove(void* to, const void* from, size_t bytes) {
  if (too_early()) {
    Bytes target = to;
    ConstBytes source = from;
    if (target < source) {
      for (size_t i = 0; i < bytes; ++i) target[i] = source[i];
    } else {
      for (size_t i = bytes; i > 0; --i) target[i - 1] = source[i - 1];
    }
    return to;
  }
  record_range(kLoadRange, from, bytes);
  record_range(kStoreRange, to, bytes);
  return ACCESSED(REAL(memmove)(to, from, bytes));
}

EXPORTED void* memset(void* memory, int byte, size_t bytes) {
  if (too_early()) {
    for (size_t i = 0; i < bytes; ++i) ((Bytes)memory)[i] = (char)byte;
    return memory;
  }
  record_range(kStoreRange, memory, bytes);
  return ACCESSED(REAL(memset)(memory, byte, bytes));
}

// Names by which compilers call these functions since LLVM 15.
EXPORTED void* __tsan_memcpy(void* to, const void* from, size_t bytes);
void* __tsan_memcpy(void* to, const void* from, size_t bytes) { return memcpy(to, from, bytes); }
EXPORTED void* __tsan_memmove(void* to, const void* from, size_t bytes);
void* __tsan_memmove(void* to, const void* from, size_t bytes) { return memmove(to, from, bytes); }
EXPORTED void* __tsan_memset(void* memory, int byte, size_t bytes);
void* __tsan_memset(void* memory, int byte, size_t bytes) { return memset(memory, byte, bytes); }

static size_t early_length(ConstBytes text) {
  size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

static size_t length_of(const char* text) { return too_early() ? early_length(text) : ACCESSED(REAL(strlen)(text)); }

static size_t length_below(const char* text, size_t most) {
  size_t length = 0;
  while (length < most && text[length] != '\0') ++length;
  return length;
}

EXPORTED size_t strlen(const char* text) {
  const size_t length = length_of(text);
  record_range(kLoadRange, text, length + 1);
  return length;
}

static void copied(const char* to, const char* from, size_t bytes) {
  record_range(kLoadRange, from, bytes);
  record_range(kStoreRange, to, bytes);
}

EXPORTED char* strcpy(char* restrict to, const char* restrict from) {
  copied(to, from, length_of(from) + 1);
  return ACCESSED(REAL(strcpy)(to, from));
}

EXPORTED char* strncpy(char* restrict to, const char* restrict from, size_t bytes) {
  const size_t length = length_below(from, bytes);
  record_range(kLoadRange, from, length < bytes ? length + 1 : length);
  record_range(kStoreRange, to, bytes);
  return ACCESSED(REAL(strncpy)(to, from, bytes));
}

EXPORTED char* strcat(char* restrict to, const char* restrict from) {
  const size_t before = length_of(to);
  record_range(kLoadRange, to, before + 1);
  copied(to + before, from, length_of(from) + 1);
  return ACCESSED(REAL(strcat)(to, from));
}

// Records what a comparison reads: both texts up to the first difference.
static void compared(const char* a, const char* b, size_t most, bool text) {
  size_t same = 0;
  while (same < most && a[same] == b[same] && !(text && a[same] == '\0')) ++same;
  const size_t bytes = same < most ? same + 1 : same;
  record_range(kLoadRange, a, bytes);
  record_range(kLoadRange, b, bytes);
}

EXPORTED int strcmp(const char* a, const char* b) {
  if (too_early()) {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return (unsigned char)*a - (unsigned char)*b;
  }
  compared(a, b, SIZE_MAX, true);
  return ACCESSED(REAL(strcmp)(a, b));
}

EXPORTED int strncmp(const char* a, const char* b, size_t bytes) {
  if (too_early()) {
    for (; bytes > 0; --bytes, ++a, ++b) {
      if (*a != *b || *a == '\0') return (unsigned char)*a - (unsigned char)*b;
    }
    return 0;
  }
  compared(a, b, bytes, true);
  return ACCESSED(REAL(strncmp)(a, b, bytes));
}

EXPORTED int memcmp(const void* a, const void* b, size_t bytes) {
  if (too_early()) {
    const unsigned char *x = a, *y = b;
    for (; bytes > 0; --bytes, ++x, ++y) {
      if (*x != *y) return *x - *y;
    }
    return 0;
  }
  compared(a, b, bytes, false);
  return ACCESSED(REAL(memcmp)(a, b, bytes));
}

EXPORTED void* memchr(const void* memory, int byte, size_t bytes) {
  void* found = ACCESSED(REAL(memchr)(memory, byte, bytes));
  record_range(kLoadRange, memory, found == NULL ? bytes : (size_t)((char*)found - (const char*)memory) + 1);
  return found;
}

EXPORTED char* strchr(const char* text, int byte) {
  char* found = ACCESSED(REAL(strchr)(text, byte));
  record_range(kLoadRange, text, (found == NULL ? length_of(text) : (size_t)(found - text)) + 1);
  return found;
}

EXPORTED char* strrchr(const char* text, int byte) {
  record_range(kLoadRange, text, length_of(text) + 1);
  return ACCESSED(REAL(strrchr)(text, byte));
}
