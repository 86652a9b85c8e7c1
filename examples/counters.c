// Counts lines, words, digits and capitals of a text in several threads, each with its own counts.
//
//   counters [THREADS] [BYTES of text for each]
//
// What it shows: no thread reads another's counts, yet threads wait for each other, because two threads' counts share a cache
// line. With -DPADDED each thread's counts have their own line.
//
// published: +50 % open-telemetry/opentelemetry-dotnet pull request 5985: counts of threads in one array
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_threads = 64, line_bytes = 64 };

struct counts {
#ifdef PADDED
  alignas(line_bytes)
#endif
      long lines;
  long words, digits, capitals;
};

static alignas(line_bytes) struct counts counts[most_threads];

struct part {
  const char *begin, *end;
  struct counts* counts;
};

// A text that is the same in every run: words of one to eight characters.
static char* make_text(size_t bytes) {
  static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEF0123456789";
  char* text = malloc(bytes);
  unsigned random = 1;
  size_t word = 0;
  for (size_t i = 0; text && i < bytes; i++) {
    random = random * 1664525u + 1013904223u;
    if (word == 0) {
      word = 1 + (random >> 24) % 8;
      text[i] = (random >> 16) % 10 == 0 ? '\n' : ' ';
    } else {
      word--;
      text[i] = characters[(random >> 16) % (sizeof characters - 1)];
    }
  }
  return text;
}

static void* count(void* argument) {
  const struct part* part = argument;
  struct counts* mine = part->counts;
  for (const char* at = part->begin; at < part->end; at++) {
    if (*at == '\n') mine->lines++;
    if (*at == '\n' || *at == ' ') mine->words++;
    if (*at >= '0' && *at <= '9') mine->digits++;
    if (*at >= 'A' && *at <= 'Z') mine->capitals++;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 4;
  const size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 40000;
  if (threads < 1 || threads > most_threads || bytes == 0) {
    fprintf(stderr, "counters: 1 to %d threads, and some bytes for each\n", most_threads);
    return 2;
  }
  char* text = make_text(threads * bytes);
  if (!text) return perror("counters"), 1;

  pthread_t thread[most_threads];
  struct part part[most_threads];
  for (int i = 0; i < threads; i++) {
    part[i] = (struct part){text + i * bytes, text + (i + 1) * bytes, &counts[i]};
    if (pthread_create(&thread[i], NULL, count, &part[i]) != 0) return perror("counters"), 1;
  }
  struct counts all = {0};
  for (int i = 0; i < threads; i++) {
    pthread_join(thread[i], NULL);
    all.lines += counts[i].lines;
    all.words += counts[i].words;
    all.digits += counts[i].digits;
    all.capitals += counts[i].capitals;
  }
  printf("%ld lines, %ld words, %ld digits, %ld capitals\n", all.lines, all.words, all.digits, all.capitals);
  free(text);
  return 0;
}
