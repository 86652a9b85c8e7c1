// Lets calls on files fail, as a full or broken disk does. Preloaded (LD_PRELOAD) into a program and all that it starts; only
// files below one directory are concerned, so that libraries and /proc are left alone. Calls are counted over all processes.
//
// FAULTS_UNDER=DIR    where calls are counted
// FAULTS_COUNT=FILE   8 bytes, 0 at first: how many calls there have been
// FAULTS_LOG=FILE     gets a line for each call: its number, its name, its file
// FAULTS_AT=N         this call fails with FAULTS_ERROR, a number of errno
// FAULTS_FULL=N       from this call on the disk is full: all that takes room fails with ENOSPC
// FAULTS_SHORT=1      no call fails, but each second read and write ends with EINTR, and the others move a half
// FAULTS_SHORT_AT=N   this call, if it is a read or a write, moves a half
// FAULTS_MEMORY=FILE  8 bytes, 0 at first: how many allocations of linebounce's own processes there have been
// FAULTS_MEMORY_AT=N  this allocation fails
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char* under;
static const char* log_file;
static _Atomic long* count;
static long at, full, short_at, memory_at;
static _Atomic long* allocations;
static __thread bool half;  // the current call transfers only half
static int error;
static bool is_short;

static long number_in(const char* variable) {
  const char* text = getenv(variable);
  return text ? atol(text) : 0;
}

// The shared counter in the file that the variable names; null if there is none.
static _Atomic long* counter_in(const char* variable) {
  const char* file = getenv(variable);
  if (!file) return NULL;
  const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
  if (descriptor < 0) return NULL;
  void* memory = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  syscall(SYS_close, descriptor);
  return memory == MAP_FAILED ? NULL : memory;
}

__attribute__((constructor)) static void begin(void) {
  under = getenv("FAULTS_UNDER");
  log_file = getenv("FAULTS_LOG");
  at = number_in("FAULTS_AT");
  full = number_in("FAULTS_FULL");
  error = (int)number_in("FAULTS_ERROR");
  is_short = number_in("FAULTS_SHORT") != 0;
  short_at = number_in("FAULTS_SHORT_AT");
  memory_at = number_in("FAULTS_MEMORY_AT");
  if (under) count = counter_in("FAULTS_COUNT");
  // Interpreters, shells and compilers are not tested.
  const char* name = program_invocation_short_name;
  if (strcmp(name, "linebounce") == 0 || strcmp(name, "linebounce-record") == 0) allocations = counter_in("FAULTS_MEMORY");
}

static bool allocation_fails(void) {
  if (!allocations || atomic_fetch_add(allocations, 1) + 1 != memory_at) return false;
  return errno = ENOMEM, true;
}

// glibc lets a program replace its allocation functions, and provides its own under these names. operator new calls malloc,
// too.
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

void* malloc(size_t size) {
  return allocation_fails() ? NULL : __libc_malloc(size);
}

void* calloc(size_t number, size_t size) {
  return allocation_fails() ? NULL : __libc_calloc(number, size);
}

void* realloc(void* block, size_t size) {
  return allocation_fails() ? NULL : __libc_realloc(block, size);
}

// The function that would run without ours.
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static bool is_under(const char* path) {
  const size_t length = strlen(under);
  return strncmp(path, under, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// Counts a call on `path`. Returns true, with errno set, if it must fail.
static bool fails_at(const char* call, const char* path, bool takes_room) {
  if (!count || !is_under(path)) return false;
  const long number = atomic_fetch_add(count, 1) + 1;
  if (log_file && !is_short) {
    char line[PATH_MAX + 64];
    const int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call, path);
    const long log = syscall(SYS_openat, AT_FDCWD, log_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    syscall(SYS_write, log, line, (size_t)length);
    syscall(SYS_close, log);
  }
  half = number == short_at;
  if (number == at) return errno = error, true;
  if (full > 0 && number >= full && takes_room) return errno = ENOSPC, true;
  return false;
}

static bool fails_path(const char* call, int folder, const char* path, bool takes_room) {
  if (!count || !path) return false;
  char whole[2 * PATH_MAX];
  whole[0] = '\0';
  if (path[0] != '/' && folder == AT_FDCWD && !getcwd(whole, PATH_MAX)) return false;
  if (path[0] != '/' && folder != AT_FDCWD) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const long length = syscall(SYS_readlinkat, AT_FDCWD, link, whole, PATH_MAX - 1);
    if (length < 0) return false;
    whole[length] = '\0';
  }
  if (whole[0]) strcat(whole, "/");
  strncat(whole, path, PATH_MAX - 1);
  return fails_at(call, whole, takes_room);
}

static bool fails_file(const char* call, int descriptor, bool takes_room) {
  const int before = errno;
  half = false;
  if (!count) return false;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return false;
  path[length] = '\0';
  struct stat about;
  // Ignores deleted files, directories and pipes.
  if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return errno = before, false;
  return fails_at(call, path, takes_room);
}

// The size of a short transfer; 0 if a signal interrupts it at the start.
static size_t part_of(size_t size, int descriptor) {
  static _Atomic unsigned turn;
  struct stat about;
  if (half) return half = false, (size + 1) / 2;
  if (!is_short || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return size;
  if (atomic_fetch_add(&turn, 1) % 2 == 0) return 0;
  return (size + 1) / 2;
}

#define TRANSFER(call, takes_room, short_call)                   \
  if (fails_file(#call, descriptor, takes_room)) return -1;      \
  const size_t part = size == 0 ? 0 : part_of(size, descriptor); \
  if (part == 0 && size != 0) return errno = EINTR, -1;          \
  return short_call

ssize_t read(int descriptor, void* data, size_t size) {
  TRANSFER(read, false, REAL(read)(descriptor, data, part));
}

ssize_t pread(int descriptor, void* data, size_t size, off_t offset) {
  TRANSFER(pread, false, REAL(pread)(descriptor, data, part, offset));
}

ssize_t pread64(int descriptor, void* data, size_t size, off64_t offset) {
  TRANSFER(pread64, false, REAL(pread64)(descriptor, data, part, offset));
}

ssize_t write(int descriptor, const void* data, size_t size) {
  TRANSFER(write, true, REAL(write)(descriptor, data, part));
}

ssize_t writev(int descriptor, const struct iovec* parts, int number) {
  if (fails_file("writev", descriptor, true)) return -1;
  return REAL(writev)(descriptor, parts, number);
}

// Streams call the kernel from inside the C library, where a preloaded write() is not seen. So the stream functions
// themselves fail.
size_t fwrite(const void* data, size_t size, size_t number, FILE* file) {
  if (fails_file("fwrite", fileno(file), false)) return 0;
  return REAL(fwrite)(data, size, number, file);
}

int fflush(FILE* file) {
  if (file && fails_file("fflush", fileno(file), false)) return EOF;
  return REAL(fflush)(file);
}

int fclose(FILE* file) {
  const bool fails = fails_file("fclose", fileno(file), false);
  const int why = errno;
  const int closed = REAL(fclose)(file);
  return fails ? (errno = why, EOF) : closed;
}

FILE* fopen(const char* path, const char* mode) {
  return fails_path(mode[0] == 'r' ? "open" : "create", AT_FDCWD, path, mode[0] != 'r') ? NULL : REAL(fopen)(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  return fails_path(mode[0] == 'r' ? "open" : "create", AT_FDCWD, path, mode[0] != 'r') ? NULL : REAL(fopen64)(path, mode);
}

static mode_t mode_of(int flags, va_list more) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

#define OPEN(folder, call)                                                       \
  va_list more;                                                                  \
  va_start(more, flags);                                                         \
  const mode_t mode = mode_of(flags, more);                                      \
  va_end(more);                                                                  \
  const bool creates = (flags & O_CREAT) != 0;                                   \
  if (fails_path(creates ? "create" : "open", folder, path, creates)) return -1; \
  return call

int open(const char* path, int flags, ...) {
  OPEN(AT_FDCWD, REAL(open)(path, flags, mode));
}

int open64(const char* path, int flags, ...) {
  OPEN(AT_FDCWD, REAL(open64)(path, flags, mode));
}

int openat(int folder, const char* path, int flags, ...) {
  OPEN(folder, REAL(openat)(folder, path, flags, mode));
}

int openat64(int folder, const char* path, int flags, ...) {
  OPEN(folder, REAL(openat64)(folder, path, flags, mode));
}

// Does not really flush to the disk, which would take most of the tests' time.
int fsync(int descriptor) {
  return fails_file("fsync", descriptor, true) ? -1 : 0;
}

int close(int descriptor) {
  const bool fails = fails_file("close", descriptor, false);
  const int why = errno;
  const int closed = REAL(close)(descriptor);
  return fails ? (errno = why, -1) : closed;
}

int ftruncate(int descriptor, off_t size) {
  return fails_file("ftruncate", descriptor, false) ? -1 : REAL(ftruncate)(descriptor, size);
}

int rename(const char* from, const char* to) {
  return fails_path("rename", AT_FDCWD, to, false) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char* path, mode_t mode) {
  return fails_path("mkdir", AT_FDCWD, path, true) ? -1 : REAL(mkdir)(path, mode);
}

int unlink(const char* path) {
  return fails_path("unlink", AT_FDCWD, path, false) ? -1 : REAL(unlink)(path);
}

int remove(const char* path) {
  return fails_path("unlink", AT_FDCWD, path, false) ? -1 : REAL(remove)(path);
}
