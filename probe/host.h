// Reads what Linux reports about the machine in /sys and /proc, and conditions that would disturb measurements.
#pragma once

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "processor.h"

enum { kMostCpus = 1024, kMostCaches = 8, kMostWarnings = 16, kTextBytes = 256 };

struct cache {
  int level;
  char type[16];  // "Data", "Unified"
  long size_kib, ways, line_bytes;
  int shared_by;  // number of CPUs that share the first CPU's cache of this kind
};

struct host {
  int cpus;
  int cpu[kMostCpus];   // numbers by which Linux knows the CPUs; all arrays below use the same order
  int node[kMostCpus];  // the system's numbers
  int package[kMostCpus];
  int core[kMostCpus];   // lowest CPU number of the core
  int group[kMostCpus];  // lowest CPU number that shares the last cache
  int memory_nodes;
  int memory_node[kMostCpus];
  int caches;
  struct cache cache[kMostCaches];  // data and unified caches of the first CPU, from L1 outwards
  char model[kTextBytes], governor[64];
  bool is_virtual;
  int warnings;
  char warning[kMostWarnings][kTextBytes];
};

static inline void warn(struct host* host, const char* format, ...) {
  if (host->warnings == kMostWarnings) return;
  va_list arguments;
  va_start(arguments, format);
  char* text = host->warning[host->warnings++];
  vsnprintf(text, kTextBytes, format, arguments);
  va_end(arguments);
  for (char* c = text; *c; ++c) {
    if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ') *c = ' ';
  }
  fprintf(stderr, "linebounce-probe: warning: %s\n", text);
}

// Reads the first line of a file, without the line break. Returns false and sets `text` to "" if the file cannot be read.
static inline bool read_line(char* text, size_t bytes, const char* format, ...) {
  char path[PATH_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(path, sizeof path, format, arguments);
  va_end(arguments);
  text[0] = 0;
  FILE* file = fopen(path, "r");
  if (!file) return false;
  const bool read = fgets(text, (int)bytes, file) != NULL;
  fclose(file);
  text[strcspn(text, "\n")] = 0;
  return read;
}

// Calls `add` with each number of a list such as "0-3,8". Returns false if the text is not such a list.
static inline bool each_in_list(const char* list, void (*add)(int number, void* argument), void* argument) {
  for (const char* at = list; *at;) {
    char* end;
    if (!isdigit((unsigned char)*at)) return false;
    long first = strtol(at, &end, 10), last = first;
    if (*end == '-') {
      if (!isdigit((unsigned char)end[1])) return false;
      last = strtol(end + 1, &end, 10);
    }
    if (first > last || last >= 65536) return false;
    for (long number = first; number <= last; ++number) add((int)number, argument);
    if (*end == ',' && end[1])
      ++end;
    else if (*end)
      return false;
    at = end;
  }
  return *list != 0;
}

static inline int first_in_list(const char* list, int otherwise) {
  return isdigit((unsigned char)*list) ? atoi(list) : otherwise;
}

static inline void count_one(int number, void* argument) {
  (void)number;
  ++*(int*)argument;
}

static inline void add_memory_node(int number, void* argument) {
  struct host* host = argument;
  if (host->memory_nodes < kMostCpus) host->memory_node[host->memory_nodes++] = number;
}

// Returns the node of a CPU, from the link "node3" in the CPU's folder in /sys.
static inline int node_of_cpu(int cpu) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
  DIR* folder = opendir(path);
  int node = 0;
  for (struct dirent* entry; folder && (entry = readdir(folder));) {
    if (strncmp(entry->d_name, "node", 4) == 0 && isdigit((unsigned char)entry->d_name[4])) node = atoi(entry->d_name + 4);
  }
  if (folder) closedir(folder);
  return node;
}

static inline void read_caches(struct host* host) {
  for (int index = 0; index < kMostCaches; ++index) {
    struct cache cache = {0};
    char text[kTextBytes];
    const char* place = "/sys/devices/system/cpu/cpu%d/cache/index%d/%s";
    if (!read_line(cache.type, sizeof cache.type, place, host->cpu[0], index, "type")) continue;
    if (strcmp(cache.type, "Instruction") == 0) continue;
    if (!read_line(text, sizeof text, place, host->cpu[0], index, "size")) continue;
    cache.size_kib = atol(text) * (strchr(text, 'M') ? 1024 : 1);
    if (read_line(text, sizeof text, place, host->cpu[0], index, "level")) cache.level = atoi(text);
    if (read_line(text, sizeof text, place, host->cpu[0], index, "ways_of_associativity")) cache.ways = atol(text);
    if (read_line(text, sizeof text, place, host->cpu[0], index, "coherency_line_size")) cache.line_bytes = atol(text);
    if (read_line(text, sizeof text, place, host->cpu[0], index, "shared_cpu_list")) {
      each_in_list(text, count_one, &cache.shared_by);
    }
    if (cache.size_kib > 0) host->cache[host->caches++] = cache;
  }
  if (host->caches == 0) warn(host, "the system shows no caches (/sys/devices/system/cpu/cpu0/cache): no level is measured");
}

static inline void read_topology(struct host* host) {
  char text[kTextBytes * 4];
  for (int i = 0; i < host->cpus; ++i) {
    const int cpu = host->cpu[i];
    host->node[i] = node_of_cpu(cpu);
    host->package[i] = 0;
    if (read_line(text, sizeof text, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu)) {
      host->package[i] = atoi(text);
    }
    read_line(text, sizeof text, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    host->core[i] = first_in_list(text, cpu);
    host->group[i] = host->package[i];
    for (int index = kMostCaches; index-- > 0;) {  // the last cache
      if (!read_line(text, sizeof text, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index)) continue;
      host->group[i] = first_in_list(text, cpu);
      break;
    }
  }
  if (!read_line(text, sizeof text, "/sys/devices/system/node/has_memory") || !each_in_list(text, add_memory_node, host) ||
      host->memory_nodes == 0) {
    host->memory_nodes = 1;
    host->memory_node[0] = host->node[0];
  }
}

static inline void read_model(struct host* host) {
  FILE* file = fopen("/proc/cpuinfo", "r");
  char line[2048], part[64] = "";
  struct utsname system;
  while (file && fgets(line, sizeof line, file)) {
    char* value = strchr(line, ':');
    if (!value) continue;
    value += 1 + (value[1] == ' ');
    value[strcspn(value, "\n")] = 0;
    const bool named =
        strncmp(line, "model name", 10) == 0 || (strncmp(line, "cpu\t", 4) == 0 && !isdigit((unsigned char)*value));
    if (named && !host->model[0]) snprintf(host->model, sizeof host->model, "%.*s", kTextBytes - 1, value);
    if (strncmp(line, "CPU part", 8) == 0) snprintf(part, sizeof part, "%.60s", value);
    if (strncmp(line, "flags", 5) == 0 && strstr(value, " hypervisor")) host->is_virtual = true;
  }
  if (file) fclose(file);
  if (!host->model[0] && uname(&system) == 0) {
    snprintf(host->model, sizeof host->model, "%.60s processor, part %.60s", system.machine, part[0] ? part : "unknown");
  }
  for (char* c = host->model; *c; ++c) {
    if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ') *c = ' ';
  }
  char text[64];
  if (read_line(text, sizeof text, "/sys/hypervisor/type")) host->is_virtual = true;
  if (!read_line(host->governor, sizeof host->governor, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
                 host->cpu[0])) {
    strcpy(host->governor, "not shown");
  }
}

// Clock ticks since the system started, summed over all CPUs.
struct cpu_time {
  double busy, stolen, all;
};

static inline struct cpu_time read_cpu_time(void) {
  struct cpu_time time = {0, 0, 0};
  FILE* file = fopen("/proc/stat", "r");
  double ticks[8] = {0};
  if (file && fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4],
                     &ticks[5], &ticks[6], &ticks[7]) == 8) {
    for (int i = 0; i < 8; ++i) time.all += ticks[i];
    time.stolen = ticks[7];
    time.busy = time.all - ticks[3] - ticks[4] - ticks[7];
  }
  if (file) fclose(file);
  return time;
}

static inline void warn_of_disturbance(struct host* host) {
  if (host->is_virtual) {
    warn(host,
         "this is a virtual machine: its CPUs may be moved or halted by the host, and the caches and the topology that it "
         "shows need not be the real ones");
  }
  if (strcmp(host->governor, "performance") != 0 && strcmp(host->governor, "not shown") != 0) {
    warn(host, "the clock changes with the load (governor %s): cpupower frequency-set -g performance keeps it", host->governor);
  }
  const struct cpu_time before = read_cpu_time();
  usleep(300000);
  const struct cpu_time after = read_cpu_time();
  const double all = after.all - before.all;
  if (all > 0 && (after.busy - before.busy) / all > 0.05) {
    warn(host, "other programs keep the CPUs busy (%.0f %% of their time): medians suffer little, quartiles say how much",
         100 * (after.busy - before.busy) / all);
  }
}

static inline void look_at_host(struct host* host) {
  read_topology(host);
  read_caches(host);
  read_model(host);
  warn_of_disturbance(host);
}

static inline long largest_cache_kib(const struct host* host) {
  long largest = 0;
  for (int i = 0; i < host->caches; ++i) {
    if (host->cache[i].size_kib > largest) largest = host->cache[i].size_kib;
  }
  return largest;
}

static inline long available_memory_kib(void) {
  FILE* file = fopen("/proc/meminfo", "r");
  char line[256];
  long kib = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "MemAvailable: %ld", &kib) == 1) break;
  }
  if (file) fclose(file);
  return kib > 0 ? kib : 1 << 20;
}

static inline int cpu_of_node(const struct host* host, int node) {
  for (int i = 0; i < host->cpus; ++i) {
    if (host->node[i] == node) return i;
  }
  return -1;
}

// Returns the index of the memory node for this CPU: the CPU's own node if that has memory.
static inline int node_of_memory(const struct host* host, int cpu) {
  for (int i = 0; i < host->memory_nodes; ++i) {
    if (host->memory_node[i] == host->node[cpu]) return host->node[cpu];
  }
  return host->memory_node[0];
}
