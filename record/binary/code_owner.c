#include "code_owner.h"

#include <stdio.h>
#include <string.h>

#include "announce.h"

// Caches address ranges by owner. A lookup in /proc/self/maps is slow, and QEMU translates many blocks.
enum { kKnownRanges = 256 };
static struct Range {
  uint64_t begin, end;
  enum CodeOwner owner;
} ranges[kKnownRanges];
static unsigned known;

static enum CodeOwner owner_by_path(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash == NULL ? path : slash + 1;
  if (strcmp(name, PRELOAD_FILE) == 0) return kRuntime;
  return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-musl", 7) == 0 ? kLoader : kProgram;
}

// Returns an empty range if nothing is mapped at the address.
static struct Range find_mapping(uint64_t address) {
  struct Range found = {0, 0, kProgram};
  char line[512];
  FILE* mappings = fopen("/proc/self/maps", "re");
  while (mappings != NULL && fgets(line, sizeof(line), mappings) != NULL) {
    uint64_t begin, end;
    char path[256] = "";
    if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255s", &begin, &end, path) < 2 || address < begin || address >= end) continue;
    found = (struct Range){begin, end, owner_by_path(path)};
    break;
  }
  if (mappings != NULL) fclose(mappings);
  return found;
}

// Cached ranges stay valid: the loader and the runtime are never unmapped, and everything else belongs to the program.
enum CodeOwner owner_of(uint64_t address) {
  for (unsigned i = 0; i < known; ++i) {
    if (address >= ranges[i].begin && address < ranges[i].end) return ranges[i].owner;
  }
  const struct Range found = find_mapping(address);
  if (found.end != 0 && known < kKnownRanges) ranges[known++] = found;
  return found.owner;
}
