// linebounce-probe measures the costs of coherence on the machine that it runs on, and writes them to a file. With --csv it
// also writes the matrix from which `linebounce calibrate` makes a simulated machine. The program is one translation unit: cc
// -O2 -pthread probe.c -o linebounce-probe
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <signal.h>

#include "bandwidth.h"
#include "core_to_core.h"
#include "facts.h"
#include "handover.h"
#include "levels.h"
#include "lock.h"
#include "operations.h"
#include "waiting.h"

#define PROBE_VERSION "2"

enum { kMostLocks = 12, kUsageError = 2, kInterrupted = 130 };

static const char* const kHelp =
    "Usage: linebounce-probe [OPTIONS]\n"
    "\n"
    "Measures what coherence costs on this machine: handing a line from each CPU to each other, by its state and home;\n"
    "load to use of each cache and of memory; atomic operations; memory's bandwidth; one lock; what several CPUs\n"
    "that write one line pay, and siblings that share a core. Each figure is a median,\n"
    "with quartiles and the number of repeats. Takes at most two minutes on up to 100 CPUs. With more, pairs of CPUs\n"
    "are measured in random order, each kind of pair in turn, until a minute is over; the others get the median of\n"
    "their kind, and the file says how many were measured.\n"
    "\n"
    "Options:\n"
    "  -o,--output FILE    where to write; default: mine.probe\n"
    "  --csv FILE          also write the matrix alone, as core-to-core-latency does: for linebounce calibrate\n"
    "  --cpus LIST         only these CPUs, as \"0-7,16\"; default: all that it may run on (taskset, cgroups)\n"
    "  --quick             a fifth of the repeats: some ten seconds\n"
    "  --facts FILE...     check facts of coherence, such as those of probe/facts, instead of measuring\n"
    "  --version           print the version\n"
    "  -h,--help           print this\n"
    "\n"
    "Examples:\n"
    "  linebounce-probe --csv mine.csv\n"
    "  linebounce calibrate --from mine.probe -o mine.toml\n"
    "  linebounce run core_to_core --machine ./mine.toml --set workload.access=atomic\n"
    "  linebounce report out/core_to_core --measured mine.probe     the measured matrix beside the simulated one\n"
    "\n"
    "  cc -O2 -pthread probe.c -o linebounce-probe && scp linebounce-probe other:     on a machine without Linebounce\n"
    "  linebounce-probe --cpus 0-15 --quick -o one_socket.probe\n"
    "\n"
    "  linebounce-probe --quick --facts probe/facts/*.fact       does this machine do what the simulator does?\n"
    "\n"
    "Let it have the machine for itself: other programs, a clock that follows the load and the host of a virtual\n"
    "machine disturb it. It warns where it sees them, and the file keeps the warnings. It runs on Linux, needs no\n"
    "privileges, and reads no performance counters.\n"
    "\n"
    "Exit codes: 0 done, 1 a fact does not hold here, 2 wrong usage, too few CPUs or a file that can't be written,\n"
    "130 interrupted: then nothing\n"
    "was written.\n";

struct options {
  const char* output;
  const char* csv;
  const char* cpus;
  bool quick;
  char** facts;
  int fact_count;
};

static char part_file[PATH_MAX];  // temporary name of the output while it is being written
static volatile sig_atomic_t is_writing;

static void stop(int signal_number) {
  (void)signal_number;
  if (is_writing) unlink(part_file);
  static const char text[] = "\nlinebounce-probe: interrupted; nothing was written\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(kInterrupted);
}

static _Noreturn void refuse(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("linebounce-probe: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs("\n", stderr);
  va_end(arguments);
  exit(kUsageError);
}

static struct options parse(int count, char** words) {
  struct options options = {.output = "mine.probe"};
  for (int i = 1; i < count; ++i) {
    const char* word = words[i];
    const char** value = strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0 ? &options.output
                         : strcmp(word, "--csv") == 0                             ? &options.csv
                         : strcmp(word, "--cpus") == 0                            ? &options.cpus
                                                                                  : NULL;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      fputs(kHelp, stdout);
      exit(0);
    } else if (strcmp(word, "--version") == 0) {
      puts("linebounce-probe " PROBE_VERSION);
      exit(0);
    } else if (strcmp(word, "--quick") == 0) {
      options.quick = true;
    } else if (strcmp(word, "--facts") == 0 && i + 1 < count) {
      options.facts = words + i + 1;
      options.fact_count = count - i - 1;
      return options;
    } else if (value && i + 1 < count) {
      *value = words[++i];
    } else {
      refuse(value            ? "%s needs a value\nTry: linebounce-probe --help"
             : word[0] == '-' ? "there is no option %s\nTry: linebounce-probe --help"
                              : "unexpected argument \"%s\"\nTry: linebounce-probe --help",
             word);
    }
  }
  return options;
}

// Devices and pipes are written directly: renaming a file over a device would replace the device.
static bool is_device(const char* output) {
  struct stat about;
  return stat(output, &about) == 0 && !S_ISREG(about.st_mode);
}

static void name_part_file(const char* output) {
  const int length = snprintf(part_file, sizeof part_file, "%s.part%ld", output, (long)getpid());
  if ((size_t)length >= sizeof part_file) refuse("a file's name is too long");
}

// Refuses a name that ends as another kind of file does. `legal`: how such a file's name ends.
static void check_ending(const char* output, const char* legal) {
  static const char* const kinds[] = {".probe", ".csv", ".toml", ".json", ".html", ".pdf", ".png", ".xml"};
  const char* ending = strrchr(output, '.');
  if (!ending || strcmp(ending, legal) == 0) return;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(ending, kinds[i]) == 0) refuse("%s: the name of this file ends in %s, not in %s", output, legal, ending);
  }
}

// Measuring takes a minute, so an unwritable output is reported before that.
static void check_output(const char* output) {
  struct stat about;
  if (stat(output, &about) == 0 && S_ISDIR(about.st_mode)) refuse("%s: this is a folder; give a file", output);
  if (is_device(output)) return;
  name_part_file(output);
  FILE* file = fopen(part_file, "w");
  if (!file) refuse("%s: cannot be written: %s", output, strerror(errno));
  fclose(file);
  unlink(part_file);
}

struct cpu_choice {
  const cpu_set_t* allowed;
  struct host* host;
};

static void add_cpu(int cpu, void* argument) {
  struct cpu_choice* choice = argument;
  struct host* host = choice->host;
  if (cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, choice->allowed))
    refuse("CPU %d is not one that this program may run on", cpu);
  for (int i = 0; i < host->cpus; ++i) {
    if (host->cpu[i] == cpu) return;
  }
  if (host->cpus < kMostCpus) host->cpu[host->cpus++] = cpu;
}

static void choose_cpus(struct host* host, const char* list) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) give_up("linebounce-probe: sched_getaffinity");
  struct cpu_choice choice = {&allowed, host};
  if (list) {
    if (!each_in_list(list, add_cpu, &choice)) refuse("--cpus %s: must be a list of CPUs, such as 0-7,16", list);
  } else {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET((size_t)cpu, &allowed)) add_cpu(cpu, &choice);
    }
  }
  if (host->cpus < 2) {
    refuse(
        "only CPU %d may be used, and handing a line over takes two: choose others with --cpus, or widen what taskset, the "
        "container or the batch system allows",
        host->cpu[0]);
  }
}

// ---- output: every table's keys have their units ----

static void write_summary(FILE* file, const char* unit, const struct summary* values) {
  fprintf(file, "median_%s = %.6g, quartile1_%s = %.6g, quartile3_%s = %.6g, repeats = %d", unit, values->median, unit,
          values->quartile1, unit, values->quartile3, values->repeats);
}

static void write_list(FILE* file, const char* key, const int* values, int count) {
  fprintf(file, "%s = [", key);
  for (int i = 0; i < count; ++i) fprintf(file, "%s%d", i ? ", " : "", values[i]);
  fputs("]\n", file);
}

static void write_host(FILE* file, const struct host* host, const struct summary* clock, const struct options* options,
                       const struct levels* levels, double seconds) {
  char date[64];
  const time_t now = time(NULL);
  struct utsname system;
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  uname(&system);
  fprintf(file,
          "[host]\nmodel = \"%s\"\narchitecture = \"%s\"\nkernel = \"%s %s\"\ndate = %s\nseconds = %.1f\nquick = %s\n"
          "virtual = %s\ngovernor = \"%s\"\nhuge_pages = %s\nclock_median_mhz = %.1f\nclock_quartile1_mhz = %.1f\n"
          "clock_quartile3_mhz = %.1f\nwarnings = [",
          host->model, system.machine, system.sysname, system.release, date, seconds, options->quick ? "true" : "false",
          host->is_virtual ? "true" : "false", host->governor, levels->huge_pages ? "true" : "false", clock->median,
          clock->quartile1, clock->quartile3);
  for (int i = 0; i < host->warnings; ++i) fprintf(file, "%s\n  \"%s\"", i ? "," : "", host->warning[i]);
  fputs(host->warnings ? "\n]\n" : "]\n", file);
  fputs(
      "\n# All lists and matrices below are in the order of `cpus`, which are the system's numbers. `core` and `group` (the "
      "CPUs\n"
      "# that share the last cache) are named by their lowest CPU.\n[topology]\n",
      file);
  write_list(file, "cpus", host->cpu, host->cpus);
  write_list(file, "node", host->node, host->cpus);
  write_list(file, "package", host->package, host->cpus);
  write_list(file, "core", host->core, host->cpus);
  write_list(file, "group", host->group, host->cpus);
  write_list(file, "memory_nodes", host->memory_node, host->memory_nodes);
  fputs("\n# As the system shows them for the first CPU; `shared_by` counts CPUs.\ncache = [\n", file);
  for (int i = 0; i < host->caches; ++i) {
    const struct cache* cache = &host->cache[i];
    fprintf(file, "  {level = %d, type = \"%s\", size_kib = %ld, ways = %ld, line_bytes = %ld, shared_by = %d},\n",
            cache->level, cache->type, cache->size_kib, cache->ways, cache->line_bytes, cache->shared_by);
  }
  fputs("]\n", file);
}

static void write_values(FILE* file, const char* key, const struct host* host, const struct matrix* matrix, size_t member) {
  fprintf(file, "%s = [\n", key);
  for (int a = 0; a < host->cpus; ++a) {
    fputs("  [", file);
    for (int b = 0; b < host->cpus; ++b) {
      const struct summary* pair = &matrix->of[a * host->cpus + b];
      fprintf(file, "%s%.1f", b ? ", " : "", *(const double*)((const char*)pair + member));
    }
    fputs("],\n", file);
  }
  fputs("]\n", file);
}

static void write_matrix(FILE* file, const struct host* host, const struct matrix* matrix) {
  const int pairs = host->cpus * (host->cpus - 1) / 2;
  int repeats = 0;
  for (int i = 0; i < host->cpus * host->cpus; ++i) {
    if (matrix->of[i].repeats > repeats) repeats = matrix->of[i].repeats;
  }
  fprintf(
      file,
      "\n# Compare-and-exchange ping-pong of each pair: half of a round trip. Half of the repeats with a line whose home is\n"
      "# the one CPU's node, half with one of the other's. Pairs that were not measured have the median of their kind.\n"
      "[core_to_core]\npairs = %d\npairs_measured = %d\nrepeats_of_a_pair = %d\n",
      pairs, matrix->measured, repeats);
  write_values(file, "median_ns", host, matrix, offsetof(struct summary, median));
  write_values(file, "quartile1_ns", host, matrix, offsetof(struct summary, quartile1));
  write_values(file, "quartile3_ns", host, matrix, offsetof(struct summary, quartile3));
}

// Writes the lower triangle of the matrix, in the format of core-to-core-latency.
static void write_csv(FILE* file, const struct host* host, const struct matrix* matrix) {
  for (int a = 0; a < host->cpus; ++a) {
    for (int b = 0; b < host->cpus; ++b) {
      if (b < a) fprintf(file, "%.1f", matrix->of[a * host->cpus + b].median);
      fputs(b + 1 < host->cpus ? "," : "\n", file);
    }
  }
}

static void write_handovers(FILE* file, const struct host* host, const struct handover* rows, int count) {
  fputs(
      "\n# A line that `from_cpu` holds so, to `to_cpu`: one of a ring of lines in random order. fetch_add: taken to be "
      "written.\n"
      "[handover]\nrows = [\n",
      file);
  for (int i = 0; i < count; ++i) {
    fprintf(file, "  {from_cpu = %d, to_cpu = %d, home_node = %d, state = \"%s\", access = \"%s\", ", host->cpu[rows[i].from],
            host->cpu[rows[i].to], rows[i].home_node, state_names[rows[i].state], access_names[rows[i].access]);
    write_summary(file, "ns", &rows[i].ns);
    fputs("},\n", file);
  }
  fputs("]\n", file);
}

static void write_levels(FILE* file, const struct levels* levels) {
  fputs(
      "\n# Each load needs the one before, in random order over so much memory. Rows with a `level` were measured where that\n"
      "# level answers; the others are the curve between.\n[load_to_use]\nrows = [\n",
      file);
  for (int i = 0; i < levels->count; ++i) {
    const struct level* row = &levels->row[i];
    fprintf(file, "  {level = \"%s\", size_kib = %ld, cpu_node = %d, memory_node = %d, ", row->name, row->size_kib,
            row->cpu_node, row->memory_node);
    write_summary(file, "ns", &row->ns);
    fputs("},\n", file);
  }
  fputs("]\n", file);
}

struct counted {
  int cpus;
  struct summary values;
};

static void write_counted(FILE* file, const char* unit, const struct counted* rows, int count) {
  fputs("rows = [\n", file);
  for (int i = 0; i < count; ++i) {
    fprintf(file, "  {cpus = %d, ", rows[i].cpus);
    write_summary(file, unit, &rows[i].values);
    fputs("},\n", file);
  }
  fputs("]\n", file);
}

static void write_waiting(FILE* file, const struct waiting* waiting) {
  fputs(
      "\n# Several CPUs write one line on the first CPU's node. fetch_add, store: each adds to its own word, atomically or "
      "not.\n"
      "# Or all increment one word by compare-and-exchange. Time from one operation of all CPUs to the next; each CPU "
      "computes\n"
      "# for that many cycles between two. shared_store: the first CPU adds atomically to a line that all others have read.\n"
      "# alone, beside_...: one computation of the first CPU, alone or while its sibling does that.\n"
      "[contended_line]\nrows = [\n",
      file);
  for (int i = 0; i < waiting->rows; ++i) {
    const struct waiting_row* row = &waiting->row[i];
    fprintf(file, "  {operation = \"%s\", cpus = [", row->operation);
    for (int cpu = 0; cpu < row->count; ++cpu) fprintf(file, "%s%d", cpu ? ", " : "", row->cpus[cpu]);
    fprintf(file, "], between_cycles = %d, ", row->between_cycles);
    write_summary(file, "ns", &row->ns);
    if (row->increments) fprintf(file, ", fails = %.4g", row->fails);
    fputs("},\n", file);
  }
  fputs("]\n", file);
}

static void put_in_place(const char* text, size_t bytes, const char* output) {
  const bool direct = is_device(output);
  if (!direct) name_part_file(output);
  is_writing = !direct;
  FILE* file = fopen(direct ? output : part_file, "w");
  const bool written = file && fwrite(text, 1, bytes, file) == bytes;
  if (!file || fclose(file) != 0 || !written || (!direct && rename(part_file, output) != 0)) {
    if (!direct) unlink(part_file);
    refuse("%s: cannot be written: %s", output, strerror(errno));
  }
  is_writing = false;
}

int main(int count, char** words) {
  static struct host host;
  static struct handover handovers[kMostRows];
  static struct levels levels;
  static struct waiting waiting;
  const struct options options = parse(count, words);
  choose_cpus(&host, options.cpus);
  if (options.facts) {
    look_at_host(&host);
    struct plan of_facts = {&host, options.quick, measure_clock_overhead(), 88172645463325252ULL, false};
    return check_facts(&of_facts, options.facts, options.fact_count);
  }
  check_ending(options.output, ".probe");
  check_output(options.output);
  if (options.csv) {
    if (strcmp(options.csv, options.output) == 0) refuse("%s: is the file of -o, too; give --csv another", options.csv);
    check_ending(options.csv, ".csv");
    check_output(options.csv);
  }
  signal(SIGINT, stop);
  signal(SIGTERM, stop);
  signal(SIGHUP, stop);
  const double begin = now_ns();
  look_at_host(&host);
  const struct cpu_time time_before = read_cpu_time();
  struct plan plan = {&host, options.quick, measure_clock_overhead(), 88172645463325252ULL, isatty(STDERR_FILENO) == 1};

  const struct summary clock = measure_clock_mhz(&plan);
  struct summary operations[kOperations];
  for (int i = 0; i < kOperations; ++i) operations[i] = measure_operation(&plan, i);
  measure_levels(&plan, &levels);
  const struct matrix matrix = measure_matrix(&plan);
  const int handover_count = measure_handovers(&plan, handovers);
  show_progress(&plan, "bandwidth: CPUs", 1, host.cpus);
  struct counted bandwidth[2] = {{1, measure_bandwidth(&plan, 1)}, {host.cpus, measure_bandwidth(&plan, host.cpus)}};
  struct counted locks[kMostLocks];
  int lock_count = 0;
  for (int cpus = 2; lock_count < kMostLocks; cpus = 2 * cpus < host.cpus ? 2 * cpus : host.cpus) {
    show_progress(&plan, "lock: CPUs", cpus, host.cpus);
    locks[lock_count++] = (struct counted){cpus, measure_lock(&plan, cpus)};
    if (cpus == host.cpus) break;
  }
  end_progress(&plan);
  measure_waiting(&plan, &matrix, &waiting);

  if (clock.quartile3 > 1.03 * clock.quartile1) {
    warn(&host, "the clock was not steady: %.0f to %.0f MHz between quartiles", clock.quartile1, clock.quartile3);
  }
  const struct cpu_time time_after = read_cpu_time();
  const double stolen = (time_after.stolen - time_before.stolen) / (time_after.all - time_before.all + 1);
  if (stolen > 0.01) warn(&host, "the host of this virtual machine took %.0f %% of the CPUs' time meanwhile", 100 * stolen);

  char* text = NULL;
  size_t bytes = 0;
  FILE* file = open_memstream(&text, &bytes);
  if (!file) give_up("linebounce-probe");
  fputs(
      "# What coherence costs on this machine, measured by linebounce-probe. Units are in the keys; each figure is a median,\n"
      "# with quartiles.\n"
      "probe_format = 1\nprobe_version = \"" PROBE_VERSION "\"\n\n",
      file);
  write_host(file, &host, &clock, &options, &levels, (now_ns() - begin) / 1e9);
  write_matrix(file, &host, &matrix);
  write_handovers(file, &host, handovers, handover_count);
  write_levels(file, &levels);
  fputs("\n# One CPU, a line that it owns, each operation after the one before.\n[atomic]\nrows = [\n", file);
  for (int i = 0; i < kOperations; ++i) {
    fprintf(file, "  {operation = \"%s\", ", operation_names[i]);
    write_summary(file, "ns", &operations[i]);
    fputs("},\n", file);
  }
  fputs("]\n\n# Reading memory of the CPU's own node in order, all CPUs together.\n[bandwidth]\n", file);
  write_counted(file, "mb_per_s", bandwidth, 2);
  fputs(
      "\n# A ticket lock (both words in one line) around an increment of one more line, nothing outside: time for each owner.\n"
      "[lock_handover]\nkind = \"ticket\"\n",
      file);
  write_counted(file, "ns", locks, lock_count);
  write_waiting(file, &waiting);
  fclose(file);
  put_in_place(text, bytes, options.output);
  free(text);
  if (options.csv) {
    file = open_memstream(&text, &bytes);
    if (!file) give_up("linebounce-probe");
    write_csv(file, &host, &matrix);
    fclose(file);
    put_in_place(text, bytes, options.csv);
    free(text);
  }
  free(matrix.of);
  const long seconds = (long)((now_ns() - begin) / 1e9 + 0.5);
  printf("%s: %d CPUs, %d of %d pairs, %ld second%s\n", options.output, host.cpus, matrix.measured,
         host.cpus * (host.cpus - 1) / 2, seconds, seconds == 1 ? "" : "s");
  fflush(stdout);
  static const char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  const size_t length = strlen(options.output), plain = strspn(options.output, kPlain);
  const size_t name = length > 6 && strcmp(options.output + length - 6, ".probe") == 0 ? length - 6 : length;
  // A machine is named as its file, so its name may have no blanks and the like. Quotes stand around what a shell would split.
  fprintf(stderr, "Next: linebounce calibrate --from %s%s%s -o ", plain == length ? "" : "'", options.output,
          plain == length ? "" : "'");
  for (size_t i = 0; i < name; ++i) fputc(strchr(kPlain, options.output[i]) ? options.output[i] : '_', stderr);
  fputs(".toml\n", stderr);
  return 0;
}
