// Four threads read from one open file: each takes a reference, looks at the file's mode, operations and mapping, copies what
// it reads, and drops the reference.
//
// The case: f_ref of the kernel's struct file, in one line with f_mode, f_op, f_mapping, f_inode and f_flags, which each pread
// reads. CURED: the count has its own line.
//
// published: +20.9 % Linux commit e249056c91a2 "fs: place f_ref to 3rd cache line in struct file": RocksDB, 128 threads
// expect: layout file
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define OWN_LINE alignas(64)
#else
#define OWN_LINE
#endif

enum { threads = 4, reads_each = 3000, bytes = 128 };

struct file {
  OWN_LINE atomic_long references;
  OWN_LINE unsigned mode, flags;
  const void *operations, *mapping, *inode;
};

static alignas(64) char page[4096];
static struct file* file;

static __attribute__((noinline)) long pread_file(long position, char* buffer) {
  atomic_fetch_add_explicit(&file->references, 1, memory_order_relaxed);
  long done = 0;
  if ((file->mode & 1) && file->operations == page && file->inode == page) {
    const char* from = file->mapping;
    for (int i = 0; i < bytes; i += 8) *(long*)(buffer + i) = *(const long*)(from + (position + i) % 4096);
    if ((file->flags & 2) == 0) done = bytes;
  }
  if (atomic_fetch_sub_explicit(&file->references, 1, memory_order_acq_rel) == 1) abort();
  return done;
}

static void* work(void* sum) {
  char buffer[bytes];
  long all = 0;
  for (int i = 0; i < reads_each; i++) all += pread_file(i * 64L, buffer);
  *(long*)sum = all;
  return NULL;
}

int main(void) {
  file = aligned_alloc(64, (sizeof *file + 63) / 64 * 64);
  if (!file) return 1;
  *file = (struct file){.references = 1, .mode = 1, .operations = page, .mapping = page, .inode = page};
  pthread_t thread[threads];
  long sums[threads], all = 0;
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, work, &sums[i]);
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    all += sums[i];
  }
  printf("%ld bytes\n", all);
  const long left = atomic_load(&file->references);
  free(file);
  return left == 1 ? 0 : 1;
}
