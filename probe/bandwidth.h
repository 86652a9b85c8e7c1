// Memory bandwidth: CPUs read their own node's memory sequentially, one alone and all together.
#pragma once

#include "memory.h"
#include "plan.h"

enum { kBandwidthSamples = 99, kChunkBytes = 64 << 10 };

struct stream {
  const struct host* host;
  const int* member_cpu;  // index of each member's CPU in host->cpu
  size_t bytes;           // of each CPU's block
  double window_ns;
  int samples;
  _Atomic int arrived[2 * kBandwidthSamples];
  _Atomic uint64_t kb_per_s[kBandwidthSamples];
  double* mb_per_s;
  int size;
};

static inline uint64_t read_all(const char* data, size_t bytes) {
  const uint64_t* word = (const uint64_t*)data;
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (size_t i = 0; i < bytes / sizeof *word; i += 8) {  // reads each half line once, which fetches the whole line
    a += word[i];
    b += word[i + 2];
    c += word[i + 4];
    d += word[i + 6];
  }
  return a + b + c + d;
}

static inline void meet(struct stream* stream, int number) {
  atomic_fetch_add(&stream->arrived[number], 1);
  while (atomic_load(&stream->arrived[number]) < stream->size) pause_spin();
}

static inline void run_stream(int member, void* argument) {
  struct stream* stream = argument;
  const struct host* host = stream->host;
  const int cpu = stream->member_cpu[member];
  struct block block = allocate_nearby(host, stream->bytes, node_of_memory(host, cpu));
  uint64_t sum = 0;
  size_t at = 0;
  for (int sample = 0; sample < stream->samples; ++sample) {
    meet(stream, 2 * sample);
    const double begin = now_ns();
    uint64_t chunks = 0;
    double end = begin;
    for (; end < begin + stream->window_ns; end = now_ns(), ++chunks) {
      sum += read_all(block.data + at, kChunkBytes);
      at = at + 2 * kChunkBytes > block.bytes ? 0 : at + kChunkBytes;
    }
    // Adds this CPU's own rate, because CPUs do not stop at the same moment.
    const uint64_t kb_per_s = (uint64_t)((double)chunks * kChunkBytes / (end - begin) * 1e6);
    atomic_fetch_add(&stream->kb_per_s[sample], kb_per_s);
    meet(stream, 2 * sample + 1);
    if (member == 0) stream->mb_per_s[sample] = (double)atomic_load(&stream->kb_per_s[sample]) / 1e3;
  }
  __asm__ volatile("" : : "r"(sum));
  free_block(&block);
}

static inline struct summary measure_bandwidth(struct plan* plan, int cpus) {
  const struct host* host = plan->host;
  double mb_per_s[kBandwidthSamples];
  int *members = calloc((size_t)cpus, sizeof *members), *numbers = calloc((size_t)cpus, sizeof *numbers);
  if (!members || !numbers) give_up("linebounce-probe");
  for (int i = 0; i < cpus; ++i) members[i] = i, numbers[i] = host->cpu[i];
  const long room = available_memory_kib() / 4 / cpus, largest = largest_cache_kib(host);
  long kib = cpus == 1 ? 4 * largest : 2 * largest;
  if (kib < 32 << 10) kib = 32 << 10;
  if (kib > 128 << 10) kib = 128 << 10;
  if (kib > room) kib = room;
  struct stream stream = {.host = host,
                          .member_cpu = members,
                          .bytes = (size_t)kib * 1024,
                          .window_ns = 1e6,
                          .samples = plan->quick ? kBandwidthSamples / 3 : kBandwidthSamples,
                          .mb_per_s = mb_per_s,
                          .size = cpus};
  run_team(cpus, numbers, run_stream, &stream);
  free(members);
  free(numbers);
  return summarise(mb_per_s, stream.samples);
}
