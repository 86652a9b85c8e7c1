// Facts: tiny programs that say what coherence costs, each with a claim that holds or fails. The simulator runs the same files
// (programs/fact.lua, tools/facts.py); probe/facts/README.md explains them.
#pragma once

#include <sys/resource.h>

#include "memory.h"
#include "plan.h"

enum {
  kMostSteps = 8,
  kMostPrograms = 6,
  kMostClaims = 4,
  kFactName = 24,
  kFactSamples = 200,
  kFactLine = 256,  // bytes from one word that is apart to the next
  kFactBatch = 8,   // repetitions between two looks at the clock
};

enum fact_operation {
  kFactAdd,
  kFactExchange,
  kFactFail,
  kFactSucceed,
  kFactLoad,
  kFactStore,
  kFactIncrement,
  kFactPass,
  kFactCompute,
  kFactOperations
};
enum fact_operand { kFactWord, kFactMine, kFactApart, kFactOperands };

static const char* const fact_operations[kFactOperations] = {"add",   "exchange",  "fail", "succeed", "load",
                                                             "store", "increment", "pass", "compute"};
static const char* const fact_operands[kFactOperands] = {"word", "mine", "apart"};

struct fact_step {
  enum fact_operation operation;
  int operand;  // an enum fact_operand; of kFactCompute, the cycles
};

struct fact_steps {
  struct fact_step step[kMostSteps];
  int count;
};

struct fact_program {
  char name[kFactName];
  int cpus;
  struct fact_steps first, others;
  struct summary ns;  // a repetition of the first CPU
};

struct fact_claim {
  int left, right;  // indexes of programs
  bool less;
  double factor;
};

struct fact {
  const char* file;
  int line;
  struct fact_program program[kMostPrograms];
  int programs;
  struct fact_claim claim[kMostClaims];
  int claims;
};

// ---- reading a file ----

static inline _Noreturn void refuse_fact(const struct fact* fact, const char* what) {
  fprintf(stderr, "linebounce-probe: %s:%d: %s\n", fact->file, fact->line, what);
  exit(2);
}

static inline void read_steps(const struct fact* fact, char* text, struct fact_steps* steps) {
  char *rest = NULL, *inner = NULL;
  for (char* part = strtok_r(text, ";", &rest); part; part = strtok_r(NULL, ";", &rest)) {
    const char* name = strtok_r(part, " ", &inner);
    const char* operand = strtok_r(NULL, " ", &inner);
    struct fact_step step = {kFactAdd, 0};
    while (name && step.operation < kFactOperations && strcmp(name, fact_operations[step.operation]) != 0) ++step.operation;
    if (!name || !operand || step.operation == kFactOperations || strtok_r(NULL, " ", &inner)) {
      refuse_fact(
          fact,
          "an operation and what it is on: add, exchange, fail, succeed, load, store, increment or pass, then word, mine "
          "or apart; or compute and cycles");
    }
    if (step.operation == kFactCompute) {
      step.operand = atoi(operand);
    } else {
      while (step.operand < kFactOperands && strcmp(operand, fact_operands[step.operand]) != 0) ++step.operand;
      if (step.operand == kFactOperands) refuse_fact(fact, "word, mine or apart");
    }
    if (steps->count == kMostSteps) refuse_fact(fact, "too many operations: at most 8");
    steps->step[steps->count++] = step;
  }
  if (steps->count == 0) refuse_fact(fact, "no operation");
}

static inline int program_named(const struct fact* fact, const char* name) {
  for (int i = 0; i < fact->programs; ++i) {
    if (strcmp(fact->program[i].name, name) == 0) return i;
  }
  refuse_fact(fact, "a claim needs programs that stand above it");
}

static inline void read_claim(struct fact* fact, const char* text) {
  char left[kFactName], sign, right[kFactName];
  double factor;
  if (fact->claims == kMostClaims || sscanf(text, " %23s %c %lf * %23s", left, &sign, &factor, right) != 4 ||
      (sign != '<' && sign != '>')) {
    refuse_fact(fact, "a claim is `claim: NAME < 1.5 * NAME`, or with >; at most 4");
  }
  fact->claim[fact->claims++] = (struct fact_claim){program_named(fact, left), program_named(fact, right), sign == '<', factor};
}

static inline void read_program(struct fact* fact, const char* name, char* text) {
  if (fact->programs == kMostPrograms) refuse_fact(fact, "too many programs: at most 6");
  struct fact_program* program = &fact->program[fact->programs++];
  if (strlen(name) >= sizeof program->name) refuse_fact(fact, "a name has at most 23 letters");
  memcpy(program->name, name, strlen(name) + 1);
  int read = 0;
  if (sscanf(text, " %d cpu: %n", &program->cpus, &read) != 1 || read == 0) {
    read = 0;
    sscanf(text, " %d cpus: %n", &program->cpus, &read);
  }
  if (read == 0 || program->cpus < 1 || program->cpus > 64) refuse_fact(fact, "a program is `NAME: 2 cpus: OPERATIONS`");
  text += read;
  char* others = strchr(text, '|');
  if (others) {
    *others++ = '\0';
    read_steps(fact, others, &program->others);
  }
  read_steps(fact, text, &program->first);
  if (!others) program->others = program->first;
}

static inline struct fact read_fact(const char* name) {
  struct fact fact = {.file = name};
  FILE* file = fopen(name, "r");
  if (!file) {
    fprintf(stderr, "linebounce-probe: %s: %s\n", name, strerror(errno));
    exit(2);
  }
  char line[512];
  while (fgets(line, sizeof line, file)) {
    ++fact.line;
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '#' || line[0] == '\0') continue;
    char* colon = strchr(line, ':');
    if (!colon) refuse_fact(&fact, "neither `NAME: ...` nor `claim: ...`");
    *colon = '\0';
    if (strcmp(line, "claim") == 0) {
      read_claim(&fact, colon + 1);
    } else {
      read_program(&fact, line, colon + 1);
    }
  }
  fclose(file);
  if (fact.claims == 0) refuse_fact(&fact, "no claim");
  return fact;
}

// ---- running a program ----

struct fact_run {
  const struct fact_program* program;
  char *line, *apart;  // the shared line, and a line for each CPU
  double ns[kFactSamples], window_ns, deadline_ns;
  int samples;
  bool over;                // no further sample
  _Atomic bool disturbed;   // a CPU was taken away in this sample, or began late
  _Atomic double began_ns;  // when the first CPU began this sample
  _Atomic int stopped;      // how many samples the first CPU has ended
  _Atomic int arrived[2 * kFactSamples];
};

static inline void meet_fact(struct fact_run* run, int meeting) {
  atomic_fetch_add(&run->arrived[meeting], 1);
  while (atomic_load(&run->arrived[meeting]) < run->program->cpus) pause_spin();
}

static inline void pass_turn(const struct fact_run* run, _Atomic uint64_t* word, int member, int sample) {
  uint64_t turn;
  while ((turn = atomic_load_explicit(word, memory_order_acquire)) % (uint64_t)run->program->cpus != (uint64_t)member) {
    if (atomic_load_explicit(&run->stopped, memory_order_relaxed) > sample) return;
    pause_spin();
  }
  atomic_store_explicit(word, turn + 1, memory_order_release);
}

static inline void run_step(const struct fact_run* run, struct fact_step step, int member, int sample) {
  static const uint64_t kNever = 1ULL << 40;  // a value that no word ever has
  if (step.operation == kFactCompute) {
    spend_cycles(step.operand);
    return;
  }
  char* place = step.operand == kFactWord   ? run->line
                : step.operand == kFactMine ? run->line + 8 * (1 + member % 7)
                                            : run->apart + (size_t)member * kFactLine;
  _Atomic uint64_t* word = (_Atomic uint64_t*)place;
  uint64_t expected = step.operation == kFactFail ? kNever : 0;
  switch (step.operation) {
    case kFactAdd: atomic_fetch_add(word, 1); break;
    case kFactExchange: atomic_exchange(word, 1); break;
    case kFactFail: atomic_compare_exchange_strong(word, &expected, 1); break;
    case kFactSucceed: atomic_compare_exchange_strong(word, &expected, 0); break;
    case kFactLoad: (void)*(volatile uint64_t*)word; break;
    case kFactStore: *(volatile uint64_t*)word = 1; break;
    case kFactIncrement:
      expected = atomic_load_explicit(word, memory_order_relaxed);
      while (!atomic_compare_exchange_strong(word, &expected, expected + 1)) {
      }
      break;
    case kFactPass: pass_turn(run, word, member, sample); break;
    case kFactCompute:
    case kFactOperations: break;
  }
}

static inline long times_taken_away(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

// The first CPU repeats its operations for a window, the others theirs until it has ended. A sample in which the system took a
// CPU away does not count.
static inline void run_fact_member(int member, void* argument) {
  struct fact_run* run = argument;
  const struct fact_steps* steps = member == 0 ? &run->program->first : &run->program->others;
  for (int sample = 0; !run->over; ++sample) {
    meet_fact(run, 2 * sample);
    const long taken_before = times_taken_away();
    const double begin = now_ns();
    if (member == 0) atomic_store(&run->began_ns, begin);
    double end = begin;
    long repetitions = 0;
    while (member == 0 ? end < begin + run->window_ns : atomic_load_explicit(&run->stopped, memory_order_relaxed) <= sample) {
      for (int i = 0; i < (member == 0 ? kFactBatch : 1); ++i) {
        for (int at = 0; at < steps->count; ++at) run_step(run, steps->step[at], member, sample);
      }
      repetitions += kFactBatch;
      if (member == 0) end = now_ns();
    }
    if (member == 0) {
      run->over = sample + 1 == kFactSamples || (end > run->deadline_ns && run->samples > 0);
      atomic_store(&run->stopped, sample + 1);
    }
    const bool late = begin > atomic_load(&run->began_ns) + run->window_ns / 20;
    if (late || times_taken_away() != taken_before) atomic_store(&run->disturbed, true);
    meet_fact(run, 2 * sample + 1);
    if (member == 0) {
      if (!atomic_exchange(&run->disturbed, false)) run->ns[run->samples++] = (end - begin) / (double)repetitions;
      memset(run->line, 0, kLineBytes);
    }
  }
}

static inline struct summary measure_program(struct plan* plan, const struct fact_program* program, const int* cpus) {
  struct block block = allocate_on(plan->host, (size_t)(program->cpus + 1) * kFactLine, node_of_memory(plan->host, 0));
  struct fact_run* run = calloc(1, sizeof *run);
  if (!run) give_up("linebounce-probe");
  run->program = program;
  run->line = block.data;
  run->apart = block.data + kFactLine;
  run->window_ns = plan->quick ? 5e4 : 1e5;
  run->deadline_ns = now_ns() + (plan->quick ? 5e7 : 2e8);
  run_team(program->cpus, cpus, run_fact_member, run);
  const struct summary ns = summarise(run->ns, run->samples);
  free(run);
  free_block(&block);
  return ns;
}

// Returns CPUs of different cores first, since siblings share a core's caches.
static inline int* cpus_of_cores(const struct host* host) {
  int* cpus = calloc((size_t)host->cpus, sizeof *cpus);
  if (!cpus) give_up("linebounce-probe");
  int count = 0;
  for (int first = 1; first >= 0; --first) {
    for (int i = 0; i < host->cpus; ++i) {
      if ((host->core[i] == host->cpu[i]) == first) cpus[count++] = host->cpu[i];
    }
  }
  return cpus;
}

// Runs the fact and prints a line for it. Returns false if a claim fails.
static inline bool check_fact(struct plan* plan, struct fact* fact, const int* cpus) {
  for (int i = 0; i < fact->programs; ++i) {
    struct fact_program* program = &fact->program[i];
    if (program->cpus > plan->host->cpus) {
      printf("untried  %s: %s needs %d CPUs\n", fact->file, program->name, program->cpus);
      return true;
    }
    program->ns = measure_program(plan, program, cpus);
    if (program->ns.repeats == 0) {
      printf("untried  %s: the system took CPUs away in every sample\n", fact->file);
      return true;
    }
  }
  bool holds = true;
  for (int i = 0; i < fact->claims; ++i) {
    const double left = fact->program[fact->claim[i].left].ns.median;
    const double right = fact->claim[i].factor * fact->program[fact->claim[i].right].ns.median;
    holds = holds && (fact->claim[i].less ? left < right : left > right);
  }
  printf("%s  %s:", holds ? "holds  " : "FAILS  ", fact->file);
  for (int i = 0; i < fact->programs; ++i)
    printf("%s %s %.1f ns", i ? "," : "", fact->program[i].name, fact->program[i].ns.median);
  puts("");
  return holds;
}

// Returns the exit code: 1 if a claim fails.
static inline int check_facts(struct plan* plan, char** files, int count) {
  int* cpus = cpus_of_cores(plan->host);
  bool hold = true;
  for (int i = 0; i < count; ++i) {
    struct fact fact = read_fact(files[i]);
    hold = check_fact(plan, &fact, cpus) && hold;
    fflush(stdout);
  }
  free(cpus);
  return hold ? 0 : 1;
}
