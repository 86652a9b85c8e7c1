// `linebounce advise`
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "commands/advise/advised_changes.hpp"
#include "commands/advise/count_finder.hpp"
#include "commands/advise/plain_build.hpp"
#include "commands/advise/recheck.hpp"
#include "commands/advise/sharing_finder.hpp"
#include "commands/common/command.hpp"
#include "commands/compare_locks/lock_comparer.hpp"
#include "models/text/visible.hpp"
#include "sim/replay/replay_study.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "sim/simulation/simulate.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdviseFooter = R"(Examples:
  linebounce-record -- ./server && linebounce advise server.lbt
      at most three changes of the program that are worth making, on two machines
  linebounce advise server.lbt --machine mine.toml --machine p3_xeon_8way --json
      on machines of your own, as JSON
  linebounce-record --times 5 -- ./server && linebounce advise server.lbt server-*.lbt
      changes that most of five recordings advise: threads interleave differently each time
  linebounce advise server.lbt --machine mine.toml --plain ./server_plain
      on the computer that mine.toml describes: how much of the time of the program without instrumentation the replay explains
  linebounce advise server.lbt --recheck "make server"
      makes the first change in a copy, builds it with linebounce's compilers, and asks before it runs the program

The page begins with what limits a verdict from this recording: if the program died, for example, "nothing is worth changing" is no
verdict, and if it shares memory with another process there is none. A sentence says how computation was recorded: its speed on the
simulated machine is known only as a range, so that each size comes with what it is if the program computes fast, and if slowly
(--set machine.cpu.cycles_per_instruction=N chooses one speed). Then it shows where the time of all threads goes (with --time it
ends there). Each tick of each thread is computation, a miss of its own, a lock, false sharing, true sharing of a word that several
threads write, communication, or waiting.

Then three kinds of changes are tried. Falsely shared lines get other layouts, as in find-sharing. Locks are replaced, including
those that the program builds from atomic operations, as in compare-locks --word-locks. Counts that many threads change become
per-thread, batched or striped ones; the advice says which properties of the count the program must not rely on. A change is
advised if, on at least one machine, it gains at least 1 % by more than chance in orders of the operations that had no part in
choosing it, and loses on no machine where it was tried. A change of layout comes as a diff of the source, if the declaration is
plain enough and the file has not changed since the recording. The page ends with what no recording has.

With --plain, a machine that linebounce-probe and linebounce calibrate have made on this computer is needed, and the trace has to be
of a whole run. If the replay's processor time differs from the plain program's by more than a factor of 1.5, no size is shown on
that machine, only an order. Functions are named in which the time and the plain program's instructions do not fit.

With --recheck, a prediction holds if the gain lies in its interval, or is between half and twice as large. The exit code is 1 if
one did not hold, and 2 if it could not be tested.)";

struct AdviseArguments : StudyArguments {
  std::vector<std::string> machines;
  int orders = 3;
  bool only_time = false;
  std::string build;              // the build command that --recheck gives; empty without --recheck
  std::string plain;              // the program compiled without linebounce-cc; empty without --plain
  bool may_run = false;           // permission to execute the trace's own command line
  std::vector<std::string> more;  // further recordings of the same program
};

// The arguments for one of the two studies; its results go into `folder`.
template <class Arguments>
Arguments study_arguments(const AdviseArguments& arguments, const char* folder) {
  Arguments study;
  const StudyArguments& shared = arguments;
  static_cast<StudyArguments&>(study) = shared;
  study.directory = inner_path(arguments.directory, folder).string();
  if constexpr (requires { study.orders; }) study.orders = arguments.orders;
  return study;
}

// The operations of a recording, without how long its threads computed and waited, which differs from run to run.
std::uint64_t operations_beside_time(const trace::Reader& trace) {
  std::uint64_t count = 0;
  for (std::uint32_t stream = 0; stream < trace.symbols().streams.size(); ++stream) {
    trace::Reader::Cursor cursor = trace.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      count += static_cast<std::uint64_t>(std::ranges::count_if(frame, [](const trace::Operation& it) {
        return it.kind != trace::Kind::execute && it.kind != trace::Kind::compute && it.kind != trace::Kind::blocked;
      }));
    }
  }
  return count;
}

// Builds and records the program again with the first change that has a diff. Compares on machines where this change was tried
// as a whole and confirmed. Errors: ConfigError.
std::vector<Rechecked> recheck_first(const AdvicePage& page, const std::vector<MachineAdvice>& before,
                                     const AdviseArguments& arguments, const trace::Reader& reader,
                                     const std::vector<std::string>& argv, ExitCode& code) {
  const auto change = std::ranges::find_if(page.changes, [](const AdvisedChange& it) { return !it.diff.empty(); });
  if (change == page.changes.end()) throw ConfigError("--recheck: no change is advised that could be made in the source");
  const fs::path trace = recorded_again({inner_path(arguments.directory, "recheck"), arguments.directory, arguments.build},
                                        reader, change->edited);
  const trace::Reader again(trace.string());
  std::vector<Rechecked> rechecked;
  for (const PredictedGain& gain : change->gains) {
    if (!gain.confirmed || !gain.part.empty()) continue;
    const auto old = std::ranges::find_if(before, [&](const auto& it) { return it.sharing.machine == gain.machine; });
    auto study = study_arguments<SharingArguments>(arguments, "recheck");
    study.trace = trace.string();
    study.machine = old->given;
    study.top = 1;
    const auto now = find_sharing(study, again, argv, code);
    if (!now) return rechecked;
    rechecked.push_back({.machine = gain.machine,
                         .change = static_cast<std::size_t>(change - page.changes.begin()) + 1,
                         .predicted = gain.change,
                         .gain_pct = 100 * (now->throughput_per_s / old->sharing.throughput_per_s - 1),
                         .operations_before = operations_beside_time(reader),
                         .operations = operations_beside_time(again)});
  }
  return rechecked;
}

// Replays the trace once, and divides its time by cause. None if the replay failed, which find_sharing() has then already
// reported.
std::optional<TimeAccount> time_on(const AdviseArguments& arguments, const std::string& machine, const trace::Reader& reader) {
  ReplayStudy study{
      .name = "time", .title = "Where the time goes", .machine = machine, .trace = reader.file(), .sets = arguments.sets};
  try {
    const SimulationInput input = plan_of(study).make_point(0).input;
    TimeAccount account = account_time(input, reader.symbols());
    if (const auto range = pace_range(reader.summary(), input.machine.cpu, study.sets))
      add_pace_range(account, input, reader.symbols(), *range);
    name_roles(account, reader);
    return account;
  } catch (const SimulationFailure&) {
    return std::nullopt;
  }
}

MachineSpec machine_of(const AdviseArguments& arguments, const std::string& machine, const trace::Reader& reader) {
  const ReplayStudy study{.name = "recorded", .title = "", .machine = machine, .trace = reader.file(), .sets = arguments.sets};
  return plan_of(study).make_point(0).input.machine;
}

std::string basis_of(const AdviseArguments& arguments, const std::string& machine, const trace::Reader& reader) {
  const CpuSpec cpu = machine_of(arguments, machine, reader).cpu;
  return pace_sentence(reader.summary(), pace_range(reader.summary(), cpu, arguments.sets));
}

// The result of --plain.
struct PlainCheck {
  PlainRuns runs;
  std::vector<OddFunction> odd;
  std::set<std::string> machines;  // those that describe this computer
};

// Runs the plain program, and records it as it is. Errors: ConfigError.
std::optional<PlainCheck> check_plain(const AdviseArguments& arguments, const trace::Reader& reader) {
  if (arguments.plain.empty()) return std::nullopt;
  require_plain_comparable(reader);
  PlainCheck check;
  std::optional<MachineSpec> here;
  for (const std::string& name : machines_for(arguments.machines, reader, arguments.sets)) {
    MachineSpec machine = machine_of(arguments, name, reader);
    if (!is_this_computer(machine.title)) continue;
    check.machines.insert(name);
    here = std::move(machine);
  }
  if (!here)
    throw ConfigError(
        "--plain: no machine describes this computer, on which the plain program runs: linebounce-probe && "
        "linebounce calibrate --from mine.probe -o mine.toml, then --machine mine.toml");
  if (!arguments.may_run) confirm_plain(arguments.plain, reader);
  const fs::path directory = inner_path(arguments.directory, "plain");
  check.runs = run_plain(arguments.plain, reader, directory);
  const trace::Reader plain(record_plain(arguments.plain, reader, directory));
  check.odd = odd_functions(reader, plain, here->cpu);
  return check;
}

// Forgets the sizes of all that was tried on the machine.
void forget_sizes(MachineAdvice& advice) {
  for (TriedProposal& tried : advice.sharing.tried) tried.change.has_size = false;
  if (advice.sharing.again) advice.sharing.again->change.has_size = false;
  if (advice.sharing.all) advice.sharing.all->has_size = false;
  for (TriedCount& tried : advice.counts) tried.change.has_size = false;
  if (advice.locks) {
    for (LockRanking& ranking : advice.locks->locks) {
      for (LockTrial& trial : ranking.trials) trial.change.has_size = false;
    }
    if (advice.locks->again) advice.locks->again->change.has_size = false;
  }
}

// Says how much of the plain program's time the replay explains. If that is too little or too much, nothing on the machine has
// a size.
void judge_by_plain(const std::optional<PlainCheck>& check, const std::string& machine, std::optional<TimeAccount>& time,
                    std::vector<Explained>& explained) {
  if (!check || !time || !check->machines.contains(machine)) return;
  explained.push_back(explained_by(*time, check->runs));
  time->has_sizes = explained.back().tells_sizes();
}

// Without changes, which the user did not ask for or the recording does not support: shows where the time goes, by one replay
// for each machine.
AdvicePage time_page(const AdviseArguments& arguments, const trace::Reader& reader, const trace::Limits& limits,
                     const std::optional<PlainCheck>& plain) {
  auto of_locks = study_arguments<CompareArguments>(arguments, "locks");
  of_locks.word_locks = true;
  const LocksOfTrace locks(std::move(of_locks));
  AdvicePage page;
  page.trace = reader.file().string();
  page.only_time = true;
  page.missing = locks.missing();
  page.limits = limits;
  const std::vector<std::string> machines = machines_for(arguments.machines, reader, arguments.sets);
  for (const std::string& machine : machines) {
    auto time = time_on(arguments, machine, locks.reader());
    page.machines.push_back(time ? time->machine : machine);
    judge_by_plain(plain, machine, time, page.explained);
    if (time) page.time.push_back(std::move(*time));
  }
  if (plain) page.odd = plain->odd;
  page.basis = basis_of(arguments, machines.front(), reader);
  return page;
}

struct Advised {
  AdvicePage page;
  std::vector<MachineAdvice> machines;
};

// Tries each confirmed lock on the other machines, too: their first look at a long trace may have left it out, and it may lose
// there.
void try_on_all_machines(const LocksOfTrace& locks, std::vector<MachineAdvice>& machines, const std::vector<std::string>& argv,
                         ExitCode& code) {
  for (const MachineAdvice& from : machines) {
    if (!from.locks || !from.locks->again || !from.locks->again->change.is_gain()) continue;
    for (MachineAdvice& on : machines) {
      if (on.locks) try_as_well(locks, *on.locks, from.locks->again->replacement, argv, code);
    }
  }
}

// Says after the first replay how long the advice takes, if it takes long. REQUIRES: the other arguments outlive `sharing`.
void foretell_all(SharingArguments& sharing, const LocksOfTrace& locks, bool has_locks, const ComparisonLimit& limit,
                  std::size_t machines) {
  sharing.foretell = [&locks, has_locks, &limit, machines, at_once = sharing.at_once, trace = sharing.trace, told = false](
                         double replay_s, std::size_t replays) mutable {
    if (std::exchange(told, true)) return;
    if (has_locks) replays += replays_to_compare(locks, limit, replay_s);
    print_foretold_replays(trace, replay_s, replays, machines, at_once);
  };
}

// Refuses a machine or a setting before anything is written. Errors: ConfigError, TraceError.
void check_replays(const AdviseArguments& arguments, const trace::Reader& reader) {
  for (const std::string& machine : machines_for(arguments.machines, reader, arguments.sets)) {
    const ReplayStudy study{
        .name = "recorded", .title = "", .machine = machine, .trace = reader.file(), .sets = arguments.sets};
    check_set_up(plan_of(study).make_point(0).input);
  }
}

// The advice from one recording. None if there is nothing to advise or the user interrupted; `code` tells which.
std::optional<Advised> advised_by(const AdviseArguments& arguments, const trace::Reader& reader,
                                  const std::vector<std::string>& argv, ExitCode& code) {
  const trace::Limits limits = trace::limits_of(reader);
  const std::optional<PlainCheck> plain = check_plain(arguments, reader);
  if (limits.may_reverse()) return Advised{time_page(arguments, reader, limits, plain), {}};
  auto of_locks = study_arguments<CompareArguments>(arguments, "locks");
  of_locks.word_locks = true;
  of_locks.foretell = [](double, std::size_t) {};  // foretell_all() does
  const LocksOfTrace locks(std::move(of_locks));
  const bool has_locks = !recorded_locks(locks.reader()).empty();
  auto of_sharing = study_arguments<SharingArguments>(arguments, "sharing");
  std::vector<MachineAdvice> found;
  std::vector<Explained> explained;
  const std::vector<std::string> machines = machines_for(arguments.machines, reader, arguments.sets);
  const ComparisonLimit limit{.most_instructions = kMinuteOfReplays / 2 / static_cast<double>(machines.size()),
                              .leaves_out_locks = false};
  foretell_all(of_sharing, locks, has_locks, limit, machines.size());
  for (const std::string& machine : machines) {
    of_sharing.machine = machine;
    auto sharing = find_sharing(of_sharing, reader, argv, code);
    if (!sharing) return std::nullopt;
    MachineAdvice& advice =
        found.emplace_back(MachineAdvice{.given = machine, .sharing = std::move(*sharing), .has_locks = has_locks});
    const bool is_known = advice.sharing.time && !locks.replaced();
    advice.time = is_known ? advice.sharing.time : time_on(arguments, machine, locks.reader());
    judge_by_plain(plain, machine, advice.time, explained);
    if (advice.time)
      advice.counts = try_counts(study_arguments<StudyArguments>(arguments, "counts"), arguments.orders, machine, *advice.time,
                                 locks.reader(), argv, code);
    if (has_locks) advice.locks = compare_locks(locks, machine, limit, argv, code);
    if (code == ExitCode::interrupted) return std::nullopt;
  }
  try_on_all_machines(locks, found, argv, code);
  if (code == ExitCode::interrupted) return std::nullopt;
  for (MachineAdvice& advice : found) {
    if (advice.time && !advice.time->has_sizes) forget_sizes(advice);
  }
  const std::vector<trace::WordLock> words = locks.replaced() ? locks.words() : std::vector<trace::WordLock>();
  Advised advised{advice_page(reader, found, words, locks.missing()), std::move(found)};
  advised.page.limits = limits;
  advised.page.explained = std::move(explained);
  if (plain) advised.page.odd = plain->odd;
  advised.page.basis = basis_of(arguments, machines.front(), reader);
  return advised;
}

// Writes each change's diff as change-1.diff and so on, after removing those of earlier runs.
void write_diffs(AdvicePage& page, const fs::path& directory) {
  for (std::size_t old = 1; fs::remove(directory / fmt::format("change-{}.diff", old)); ++old) continue;
  for (std::size_t i = 1; i <= page.changes.size(); ++i) {
    AdvisedChange& change = page.changes[i - 1];
    if (change.diff.empty()) continue;
    change.diff_file = directory / fmt::format("change-{}.diff", i);
    replace_file(change.diff_file, change.diff);
  }
}

ExitCode print_page(const AdvicePage& page, const AdviseArguments& arguments) {
  const std::string document = visible(advice_page_json(page).dump(1)) + "\n";
  make_own_directory(arguments.directory);
  replace_file(fs::path(arguments.directory) / "advise.json", document);
  std::cout << (arguments.json ? document : advice_page_text(page, painter_for_stdout()) + "\n") << std::flush;
  return ExitCode::done;
}

ExitCode advise(const AdviseArguments& arguments, const std::vector<std::string>& argv) {
  const trace::Reader reader(arguments.trace);
  if (arguments.only_time) {
    if (!arguments.more.empty()) throw UsageError("--time takes one trace: leave out " + arguments.more.front());
    return print_page(time_page(arguments, reader, trace::limits_of(reader), check_plain(arguments, reader)), arguments);
  }
  if (!arguments.build.empty()) {
    require_recheckable(reader);
    if (!arguments.may_run) confirm_recheck(arguments.build, reader);
  }
  check_replays(arguments, reader);
  for (const std::string& trace : arguments.more) const trace::Reader opened(trace);  // refused before the first is advised
  make_own_directory(arguments.directory);
  ExitCode code = ExitCode::done;
  auto first = advised_by(arguments, reader, argv, code);
  if (!first) return code;
  auto& [page, found] = *first;
  std::vector<AdvicePage> others;
  for (const std::string& trace : arguments.more) {
    AdviseArguments other = arguments;
    other.trace = trace;
    other.machines.clear();
    for (const MachineAdvice& machine : found) other.machines.push_back(machine.given);
    other.plain.clear();
    other.directory = inner_path(arguments.directory, fmt::format("recording_{}", others.size() + 2)).string();
    auto advised = advised_by(other, trace::Reader(trace), argv, code);
    if (!advised) return code;
    others.push_back(std::move(advised->page));
  }
  if (!others.empty()) join_recordings(page, others);
  write_diffs(page, arguments.directory);
  std::string failure;
  if (!arguments.build.empty()) {
    try {
      page.rechecked = recheck_first(page, found, arguments, reader, argv, code);
    } catch (const ConfigError& error) {
      failure = error.what();  // reported after the page, which is useful without this part
    }
    if (code == ExitCode::interrupted) return code;
  }
  print_page(page, arguments);
  if (!failure.empty()) {
    print_error(failure);
    return larger(code, ExitCode::usage);
  }
  const bool held = std::ranges::all_of(page.rechecked, [](const Rechecked& it) { return it.comparable() && it.held(); });
  return held ? code : larger(code, ExitCode::check_failed);
}

}  // namespace

void add_advise(Command& program) {
  auto arguments = std::make_shared<AdviseArguments>();
  Command command =
      program.subcommand("advise", "Say which changes of a recorded program are worth making", HelpGroup::programs);
  command.try_first("linebounce advise server.lbt", "find changes of a recorded program that are worth it");
  add_machines(command, arguments->machines);
  add_orders(command, arguments->orders).excludes({"--time"});
  command.flag("--time", arguments->only_time,
               "Only show where the threads' time goes: one replay per machine, without trying changes");
  command
      .option("--recheck", "BUILD", &arguments->build,
              "Make the first change in a copy of this folder, build it by this shell command, record again, and say whether "
              "the prediction held")
      .excludes({"--time"});
  command.option(
      "--plain", "PROGRAM", &arguments->plain,
      "The program compiled without linebounce-cc: run it as the recorded one was, and say how much of its processor "
      "time the replay explains; with a machine that was calibrated here");
  command
      .flag("--yes", arguments->may_run,
            "With --recheck or --plain, run the program with the trace's arguments without asking, as scripts need")
      .belongs_to({"--recheck", "--plain"});
  add_study_options(command, *arguments, "out/advise");
  command.option("MORE", "TRACE ...", &arguments->more,
                 "Further recordings of the same program, as linebounce-record --times makes them: a change is advised if "
                 "most recordings advise it");
  command.footer(kAdviseFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return advise(*arguments, argv); });
}

}  // namespace linebounce::sim
