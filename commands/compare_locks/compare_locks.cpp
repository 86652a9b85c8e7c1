// `linebounce compare-locks`
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/common/command.hpp"
#include "commands/compare_locks/lock_comparer.hpp"
#include "commands/compare_locks/lock_comparison_table.hpp"
#include "models/text/visible.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/results/result_files.hpp"
#include "sim/terminal/limits_text.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCompareLocksFooter = R"(Examples:
  linebounce compare-locks program.lbt --machine p3_xeon_8way
      the locks that the program waits for, each replaced by every suitable lock
  linebounce compare-locks program.lbt --machine p3_xeon_8way --machine numaq_16way
      on two machines: another machine may favour another lock
  linebounce compare-locks program.lbt --machine mine.toml --lock table_lock --json
      one lock, on a machine of your own, as JSON
  linebounce compare-locks program.lbt --word-locks
      also spin locks that the program builds from atomic operations
  linebounce compare-locks program.lbt --machine p3_xeon_8way --with my_lock.lua
      a lock of your own (docs/programs.md) beside the others

A lock that handlers acquire is never replaced by one that sleeps, nor a lock that the program tries by one without try_acquire.
A lock for readers is only replaced by another with readers: by rcu only if nobody writes under the lock and readers follow no
pointer that changes and use no memory that is freed meanwhile; by seqlock only if they follow no pointer into allocated memory at
all, as under the kernel's rule. The page lists what is not offered, with the reason. A recorded lock that is not in `linebounce list locks` runs as the nearest one, and the table says so:
glibc_mutex for pthread_mutex (std::mutex), glibc_adaptive_mutex for its kind PTHREAD_MUTEX_ADAPTIVE_NP, glibc_rwlock for
pthread_rwlock (libstdc++'s std::shared_mutex), gomp_lock for OpenMP's locks, ttas for pthread_spin and for a word that nobody
ever waited for (uncontended), mutex for all others.

Of a recorded program's locks only those are recommended that a library has, which is named, or that come from your own file.

Replacing a lock also changes the order in which other operations meet, which alone changes the throughput. The recorded order is
not a fair base either: in it, whatever a thread waited for had already happened. So the trace runs once as recorded, to see which
locks matter. Then it runs in --orders other orders, in which each acquisition and atomic operation is delayed by a few random
cycles: once with the recorded locks and once with each replacement. The table has the median change and its 95 % interval
(Student's t, over the factors' logarithms). The best of many replacements may owe its place to these orders, so it runs again in
as many new ones, or in twice as many if all orders gain but by different amounts. It is recommended if it gains at least 1 % there
and the interval excludes 0. More orders make narrower intervals.

If all this would take more than a minute of CPU time, over all machines, each replacement first runs in one order, only the best
two for each lock and the best fair one go on, and locks with less waiting are left out. The last lines then say what --thorough
would add.

A lock is left as it is if all waiting for it, plus the transfers of its word to and from its holders, takes less than a quarter of
a percent of the run's time: no other lock could gain more. --lock replaces it anyway.

Finished runs are reused, so an interrupted command resumes where it stopped. A trace with more threads than the machine has CPUs
needs --set workload.threads=round_robin.)";

void print(const std::vector<LockComparison>& machines, const std::vector<trace::WordLock>& words, bool replaced,
           const std::vector<std::string>& missing) {
  const Painter paint = painter_for_stdout();
  std::cout << limits_text(machines.front().limits, 2, paint) << basis_text(machines.front().basis, 2, paint);
  for (const LockComparison& machine : machines) std::cout << paragraph(advice(machine), 2, Colour::bold, paint);
  std::cout << "\n";
  for (const LockComparison& machine : machines) std::cout << lock_comparison_table(machine, paint) << "\n";
  if (!words.empty()) std::cout << word_locks_table(words, replaced, paint) << "\n";
  if (const std::string unseen = not_seen_text(trace::missing_beside_limits(missing), paint); !unseen.empty())
    std::cout << unseen << "\n";
  for (const LockComparison& machine : machines) std::cout << assumptions_text(machine.assumptions, paint);
  std::cout << results_line(machines.front().directory.parent_path().string(), paint);
}

// Says on the first of `machines` how long the comparison takes on all of them, if it takes long.
void foretell_all(CompareArguments& arguments, const std::size_t& machines) {
  arguments.foretell = [&machines, at_once = arguments.at_once, trace = arguments.trace, told = false](
                           double replay_s, std::size_t replays) mutable {
    if (!std::exchange(told, true)) print_foretold_replays(trace, replay_s, replays, machines, at_once);
  };
}

ExitCode print_comparison(CompareArguments arguments, bool thorough, const std::vector<std::string>& argv) {
  std::size_t count = 1;
  foretell_all(arguments, count);
  const LocksOfTrace trace(arguments);
  ExitCode code = ExitCode::done;
  std::vector<LockComparison> machines;
  const std::vector<std::string> names = machines_for(arguments.machines, trace.reader(), arguments.sets);
  count = names.size();
  const double most_instructions =
      thorough ? std::numeric_limits<double>::infinity() : kMinuteOfReplays / static_cast<double>(names.size());
  for (const std::string& machine : names) {
    if (auto comparison = compare_locks(trace, machine, {.most_instructions = most_instructions}, argv, code))
      machines.push_back(std::move(*comparison));
    if (code == ExitCode::interrupted) return code;
  }
  if (machines.empty()) return code;
  const std::vector<std::string>& missing = trace.missing();
  const std::string document =
      visible(lock_comparison_json(trace.arguments().trace, machines, trace.words(), trace.replaced(), missing).dump(1)) + "\n";
  replace_file(fs::path(arguments.directory) / "compare_locks.json", document);
  if (arguments.json) {
    std::cout << document;
  } else {
    print(machines, trace.words(), trace.replaced(), missing);
  }
  return code;
}

}  // namespace

void add_compare_locks(Command& program) {
  auto arguments = std::make_shared<CompareArguments>();
  auto thorough = std::make_shared<bool>(false);
  Command command =
      program.subcommand("compare-locks", "Replay a trace with each lock replaced by every suitable one", HelpGroup::programs);
  add_machines(command, arguments->machines);
  command.option("--lock", "NAME", &arguments->locks, "Only these locks; default: up to four with the most waiting")
      .one_value_each();
  command.flag("--word-locks", arguments->word_locks, "Treat words that behave like locks as locks, and replace them, too");
  command
      .option("--with", "FILE", &arguments->files,
              "A lock of your own in Lua or C, beside those of `list locks`; may be repeated")
      .one_value_each();
  command.flag("--thorough", *thorough, "Try every lock in every order, even for a long trace");
  add_orders(command, arguments->orders);
  add_study_options(command, *arguments, "out/compare_locks");
  command.footer(kCompareLocksFooter);
  command.action([=](const std::vector<std::string>& argv) { return print_comparison(*arguments, *thorough, argv); });
}

}  // namespace linebounce::sim
