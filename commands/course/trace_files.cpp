#include "commands/course/trace_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "commands/course/course_trace.hpp"
#include "commands/course/typed_accesses.hpp"
#include "forms/own_forms.hpp"
#include "forms/recognised.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/machine_files.hpp"
#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr int kKibibyte = 1024;

// Refuses to replace a trace that is not an earlier conversion of these files: the user has named the results, not this file.
void require_conversion(const fs::path& trace, const std::vector<std::string>& files) {
  if (!is_there(trace)) return;
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(fs::path(file).filename().string());
  const auto is_conversion = [&](const trace::Summary& summary) {
    return summary.program == fmt::format("{}", fmt::join(names, " ")) && summary.recorder.starts_with("linebounce import ");
  };
  try {
    if (is_conversion(trace::Reader(trace).summary())) return;
  } catch (const trace::TraceError&) {
    // It is no trace, or a damaged one.
  }
  throw ConfigError(fmt::format("{}: is there already, and the converted trace would replace it; move it, or choose another -o",
                                trace.string()));
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

const Form& form_of(const TraceOptions& options, const Excerpt& excerpt, const std::string& subcommand) {
  if (options.as.empty() && options.files.size() > 1) {
    if (const Form* const form = form_of_all(options.files)) return *form;
  }
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

// True for a file of typed accesses. A trace may look like one.
bool is_exercise(const std::string& word) {
  constexpr std::uintmax_t kLargest = 1 << 20;
  std::error_code failed;
  if (!fs::is_regular_file(word, failed) || fs::file_size(word, failed) > kLargest) return false;
  return are_typed_accesses(read_text(word));
}

}  // namespace

bool is_trace(const std::string& word) {
  std::error_code ignored;
  const fs::path file = word;
  const bool is_own = file.extension() == ".toml" || file.extension() == ".lua" || file.extension() == ".md";
  if (is_own || !fs::is_regular_file(file, ignored)) return false;
  const std::vector<std::string> experiments = file_names(kExperimentFiles);
  // An experiment's name takes precedence over a file of that name.
  if (std::ranges::find(experiments, word) != experiments.end()) return false;
  const Excerpt excerpt = excerpt_of(file);
  if (is_own_trace(excerpt)) return true;
  const Recognised recognised = recognise(excerpt);
  return std::ranges::any_of(recognised.candidates,
                             [](const FormCandidate& candidate) { return candidate.form->kind == FormKind::trace; });
}

bool is_meant_as_trace(const std::string& word, const TraceOptions& options) {
  std::error_code ignored;
  const fs::path file = word;
  const bool is_own = file.extension() == ".toml" || file.extension() == ".lua" || file.extension() == ".md";
  return is_trace(word) || (has_trace_options(options) && !is_own && fs::is_regular_file(file, ignored));
}

std::optional<std::string> accesses_of(const TraceOptions& options, const std::string& input) {
  if (options.accesses.empty() && input.empty()) throw UsageError("give an EXPERIMENT, a trace, or --accesses");
  if (!options.accesses.empty() && !input.empty())
    throw UsageError(fmt::format("--accesses takes the place of a trace; leave out {}", input));
  if (!options.accesses.empty()) return options.accesses;
  const bool is_file = has_trace_options(options) && !is_trace(input) && is_exercise(input);
  return is_file ? std::optional(read_text(input)) : std::nullopt;
}

ConvertedTrace::ConvertedTrace(const TraceOptions& options, const std::string& subcommand, const fs::path& keep) {
  const std::vector<std::string>& files = options.files;
  const Excerpt excerpt = excerpt_of(files.front());
  if (is_own_trace(excerpt)) {
    refuse_options_of_other_tools(options);
    path_ = files.front();
    return;
  }
  const Form& form = form_of(options, excerpt, subcommand);
  if (!keep.empty()) {
    require_conversion(keep, files);
    make_parents(keep);
  }
  temporary_.emplace(keep.empty() ? fs::temp_directory_path() / fmt::format("linebounce-{}.lbt", getpid()) : keep);
  say_what_counts_lack(convert_files(form, {files.begin(), files.end()}, temporary_->path()));
  path_ = keep.empty() ? temporary_->path() : keep;
  if (keep.empty()) return;
  temporary_->finish();
  temporary_.reset();
}

std::string machine_of(const TraceOptions& options, const trace::Reader& reader) {
  if (!options.overrides.machine.empty()) return options.overrides.machine;
  return reader.summary().machine.empty() ? kCourseMachine : reader.summary().machine;
}

workloads::RecordedMemory memory_of(const trace::Reader& reader, const TraceOptions& options, const AtomicCacheSpec& spec) {
  const auto seed = static_cast<std::uint64_t>(options.overrides.seed.value_or(kDefaultSeed));
  try {
    return {reader,
            {.seed = workloads::RecordedMemory::frames_seed(seed, 0),
             .index_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(spec.size_bytes / spec.ways - 1)))}};
  } catch (const std::invalid_argument& refused) {
    throw ConfigError(fmt::format("{}: {}", reader.file().string(), refused.what()));
  }
}

int caches_in(const trace::Reader& reader) {
  const std::vector<int> cpus = cpus_of_streams(reader);
  const int caches = cpus.empty() ? 1 : 1 + *std::ranges::max_element(cpus);
  if (caches > kMostAtomicCaches)
    throw ConfigError(
        fmt::format("{}: has {} CPUs; an atomic bus takes at most {}", reader.file().string(), caches, kMostAtomicCaches));
  return caches;
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
  if (!options.protocol.empty()) sets.push_back("machine.bus.protocol=" + options.protocol);
  // Each thread runs on the CPU that its stream names, or else on the CPU with the stream's number.
  sets.push_back(fmt::format("workload.threads=\"{}\"", fmt::join(cpus_of_streams(reader), " ")));
  if (counters) sets.emplace_back("run.counters=true");
  sets.insert(sets.end(), options.overrides.sets.begin(), options.overrides.sets.end());
  for (const auto& [path, value] : split_sets(options.overrides.sets)) study.options.erase(path);
  return study;
}

}  // namespace linebounce::sim
