#include "commands/course/trace_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "forms/line_file.hpp"
#include "forms/own_forms.hpp"
#include "forms/recognised.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/machine_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "trace/error.hpp"
#include "trace/fingerprint.hpp"
#include "trace/read_problem.hpp"
#include "workloads/replay/recorded_memory.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr int kKibibyte = 1024;

// The name of a conversion, which depends on all that it is made of: conversions of other files have other names.
std::string conversion_name(const Form& form, const std::vector<std::string>& files) {
  constexpr std::size_t kPart = 1 << 20;
  trace::Fingerprint fingerprint;
  fingerprint.add(form.name);
  std::string part(kPart, '\0');
  for (const std::string& file : files) {
    fingerprint.add(fs::path(file).filename().string());
    std::ifstream in = open_input(file);
    while (in.read(part.data(), static_cast<std::streamsize>(kPart)) || in.gcount() > 0)
      fingerprint.add({part.data(), static_cast<std::size_t>(in.gcount())});
    refuse_unreadable(in, file);
  }
  return fmt::format("trace-{}.lbt", fingerprint.text());
}

void refuse_options_of_other_tools(const TraceOptions& options) {
  if (options.files.size() > 1)
    throw ConfigError(fmt::format("{}: this trace has all CPUs; further files are for traces with a file for each CPU",
                                  options.files.front()));
  if (!options.as.empty() && options.as != "trace")
    throw ConfigError(
        fmt::format("--as {}: {} is a trace of Linebounce's own, which has one form", options.as, options.files.front()));
}

std::vector<const Form*> possible_forms(const Excerpt& excerpt) {
  std::vector<const Form*> forms;
  for (const FormCandidate& one : recognise(excerpt).candidates) {
    if (one.form->kind == FormKind::trace) forms.push_back(one.form);
  }
  return forms;
}

// The only form that all files may have; nullptr if several fit. Errors: ConfigError if none fits all.
const Form* form_of_all(const std::vector<std::string>& files) {
  std::vector<const Form*> fitting = possible_forms(excerpt_of(files.front()));
  for (const std::string& file : files) {
    const std::vector<const Form*> possible = possible_forms(excerpt_of(file));
    const std::vector<const Form*> before = fitting;
    std::erase_if(fitting, [&possible](const Form* form) { return std::ranges::find(possible, form) == possible.end(); });
    if (fitting.empty() && !before.empty() && !possible.empty())
      throw ConfigError(fmt::format("{}: may be {}, but {} may be {}; name a form that all files have, with --as", file,
                                    possible.front()->name, files.front(), before.front()->name));
  }
  return fitting.size() == 1 ? fitting.front() : nullptr;
}

// Of the limits that `import` lists, those of which a course's counts must not be silent.
void say_what_counts_lack(const Losses& losses) {
  constexpr std::array kOfCounts = {Loss::digits_alone,  Loss::filtered_by_caches, Loss::write_backs_as_stores,
                                    Loss::tasks_dropped, Loss::calls_dropped,      Loss::other_packets,
                                    Loss::cut_off};
  for (const FoundLoss& found : losses.all()) {
    if (std::ranges::find(kOfCounts, found.loss) != kOfCounts.end()) std::cerr << "linebounce: " << found.sentence << "\n";
  }
}

// Errors: ConfigError for a text in no form, with the forms of traces and, besides, that of an exercise.
void require_form(const std::string& file, const Excerpt& excerpt) {
  const Recognised recognised = recognise(excerpt);
  if (recognised.candidates.empty())
    throw ConfigError(
        fmt::format("{}: this is {}\n  (exercise)    accesses as they are typed: a CPU, R or W, and a place in "
                    "each line, \"P1 R x\"",
                    file, recognised.why_none));
}

const Form& form_of(const TraceOptions& options, const Excerpt& excerpt, const std::string& subcommand) {
  if (options.as.empty() && options.files.size() > 1) {
    if (const Form* const form = form_of_all(options.files)) return *form;
  }
  if (options.as.empty()) require_form(options.files.front(), excerpt);
  const FormQuestion question{.file = options.files.front(),
                              .as = options.as,
                              .kinds = {FormKind::trace},
                              .option = "--as",
                              .command = fmt::format("linebounce {} {}", subcommand, shell_word(options.files.front()))};
  return *choose_form(question, excerpt).form;
}

void add_cache(const TraceOptions& options, const std::string& machine_name, ReplayStudy& study) {
  const MachineFiles machine = read_machine_files(machine_name, "");
  if (machine.spec.caches.size() != 1) {
    throw ConfigError(
        fmt::format("--cache-bytes and --ways describe one cache of each CPU, but {} has {} levels; "
                    "set each with --set machine.cache.NAME.size_kib=N, or use --machine {}",
                    machine_name, machine.spec.caches.size(), kCourseMachine));
  }
  const std::string cache = "machine.cache." + machine.spec.caches.front().name;
  if (options.cache_bytes && *options.cache_bytes % kKibibyte != 0)
    throw ConfigError(
        fmt::format("--cache-bytes {}: a machine's caches have whole KiB; a protocol of an atomic bus "
                    "takes any size",
                    *options.cache_bytes));
  study.options.emplace(cache + ".size_kib", "--cache-bytes");
  study.options.emplace(cache + ".ways", "--ways");
  if (options.cache_bytes) study.sets.push_back(fmt::format("{}.size_kib={}", cache, *options.cache_bytes / kKibibyte));
  if (options.ways) study.sets.push_back(fmt::format("{}.ways={}", cache, *options.ways));
}

// Places the trace's objects, so that the same lines are in the same sets as in a replay on a machine with such caches. Errors:
// ConfigError.
workloads::RecordedMemory memory_of(const trace::Reader& reader, const TraceOptions& options, const AtomicCacheSpec& spec) {
  const auto seed = static_cast<std::uint64_t>(options.overrides.seed.value_or(kDefaultSeed));
  try {
    return {reader,
            {.seed = workloads::RecordedMemory::frames_seed(seed, 0),
             .index_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(spec.size_bytes / spec.ways - 1)))}};
  } catch (const std::invalid_argument& refused) {
    throw ConfigError(fmt::format("{}: {}", options.files.front(), refused.what()));
  }
}

[[noreturn]] void refuse_without_accesses(const TraceOptions& options) {
  throw trace::TraceError(fmt::format("{}: has no loads and stores, so there is nothing to count", options.files.front()));
}

}  // namespace

bool has_own_name(const std::string& word) {
  const fs::path extension = fs::path(word).extension();
  return extension == ".toml" || extension == ".lua" || extension == ".md" || extension == ".c";
}

bool is_trace(const std::string& word) {
  std::error_code ignored;
  const fs::path file = word;
  if (has_own_name(word) || !fs::is_regular_file(file, ignored)) return false;
  // An experiment's name takes precedence over a file of that name.
  if (shipped_file(kExperimentFiles, word)) return false;
  const Excerpt excerpt = excerpt_of(file);
  if (is_own_trace(excerpt)) return true;
  const Recognised recognised = recognise(excerpt);
  return std::ranges::any_of(recognised.candidates,
                             [](const FormCandidate& candidate) { return candidate.form->kind == FormKind::trace; });
}

bool is_meant_as_trace(const std::string& word, const TraceOptions& options) {
  std::error_code ignored;
  const fs::path file = word;
  if (is_trace(word)) return true;
  if (has_own_name(word) || shipped_file(kExperimentFiles, word)) return false;
  const bool is_file = has_trace_options(options) || file.has_extension();
  if (is_file && !fs::exists(file, ignored)) throw trace::TraceError(read_problem(word, ENOENT));
  return has_trace_options(options) && fs::is_regular_file(file, ignored);
}

ConvertedTrace::ConvertedTrace(const TraceOptions& options, const std::string& subcommand, const fs::path& directory) {
  const std::vector<std::string>& files = options.files;
  const Excerpt excerpt = excerpt_of(files.front());
  if (is_own_trace(excerpt)) {
    refuse_options_of_other_tools(options);
    path_ = files.front();
    return;
  }
  const Form& form = form_of(options, excerpt, subcommand);
  const std::vector<fs::path> paths{files.begin(), files.end()};
  if (directory.empty()) {
    temporary_.emplace(fs::temp_directory_path() / fmt::format("linebounce-{}.lbt", getpid()));
    path_ = temporary_->path();
    say_what_counts_lack(convert_files(form, paths, path_));
    return;
  }
  path_ = directory / conversion_name(form, files);
  make_own_directory(directory);
  is_new_ = !is_there(path_);
  UnfinishedFile file(path_);
  say_what_counts_lack(convert_files(form, paths, file.path()));
  file.finish();
}

ConvertedTrace::~ConvertedTrace() {
  std::error_code ignored;
  if (is_new_) fs::remove(path_, ignored);
}

std::string machine_of(const TraceOptions& options, const trace::Reader& reader) {
  if (!options.overrides.machine.empty()) return options.overrides.machine;
  return reader.summary().machine.empty() ? kCourseMachine : reader.summary().machine;
}

int caches_in(const TraceOptions& options, const trace::Reader& reader) {
  const std::vector<int> cpus = cpus_of_streams(reader);
  if (cpus.empty()) refuse_without_accesses(options);
  const int last = std::ranges::max(cpus);
  if (last >= kMostAtomicCaches)
    throw ConfigError(
        fmt::format("{}: has CPU {}; an atomic bus has the CPUs 0 to {}", options.files.front(), last, kMostAtomicCaches - 1));
  return last + 1;
}

void visit_accesses(const TraceOptions& options, const trace::Reader& reader, const AtomicCacheSpec& spec,
                    const std::function<void(const CourseAccess&)>& visit) {
  std::int64_t accesses = 0;
  const workloads::RecordedMemory memory = memory_of(reader, options, spec);
  try {
    for_each_access(reader, memory, spec.line_bytes, [&](const CourseAccess& access) {
      ++accesses;
      visit(access);
    });
  } catch (const trace::TraceError& refused) {
    // The user knows the trace's own file, not its conversion.
    std::string what = refused.what();
    const std::string converted = reader.file().string();
    if (what.starts_with(converted)) what.replace(0, converted.size(), options.files.front());
    throw trace::TraceError(what);
  }
  if (accesses == 0) refuse_without_accesses(options);
}

ReplayStudy study_of(const TraceOptions& options, const trace::Reader& reader, bool counters) {
  ReplayStudy study{.name = "trace",
                    .title = "Trace " + fs::path(options.files.front()).filename().string(),
                    .machine = machine_of(options, reader),
                    .trace = reader.file(),
                    .seed = options.overrides.seed};
  std::vector<std::string>& sets = study.sets;
  study.options = {{"machine.line_bytes", "--line-bytes"}, {"machine.bus.protocol", "--protocol"}};
  if (options.line_bytes) sets.push_back(fmt::format("machine.line_bytes={}", *options.line_bytes));
  if (options.cache_bytes || options.ways) add_cache(options, study.machine, study);
  if (!options.protocol.empty()) sets.push_back("machine.bus.protocol=" + protocol_file(options.protocol));
  // Each thread runs on the CPU that its stream names, or else on the CPU with the stream's number.
  sets.push_back(fmt::format("workload.threads=\"{}\"", fmt::join(cpus_of_streams(reader), " ")));
  if (counters) sets.emplace_back("run.counters=true");
  sets.insert(sets.end(), options.overrides.sets.begin(), options.overrides.sets.end());
  for (const auto& [path, value] : split_sets(options.overrides.sets)) study.options.erase(path);
  return study;
}

}  // namespace linebounce::sim
