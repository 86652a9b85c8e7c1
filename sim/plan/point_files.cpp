#include "sim/plan/point_files.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "sim/config/toml_text.hpp"
#include "sim/plan/family_range_file.hpp"
#include "sim/plan/output_directory.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/result_files.hpp"
#include "sim/results/seed_file.hpp"
#include "trace/fingerprint.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigurationFile = "config.toml";

// Throws if a metric is not finite: better in the process that computed it than later in the merge.
void require_finite(const PointData& data) {
  for (const auto& [name, metric] : data.metrics) {
    if (!std::isfinite(as_double(metric.value))) throw std::logic_error("the metric " + name + " is not a finite number");
  }
}

// The point as results.json states it, with rounded numbers.
ReportedPoint as_written(ReportedPoint point) {
  for (auto& [name, metric] : point.metrics) {
    if (auto* real = std::get_if<double>(&metric.value)) *real = rounded(*real);
    if (metric.ci95) metric.ci95 = rounded(*metric.ci95);
  }
  return point;
}

// Reads the seed files. Merges each file's rows of lines.csv at once, because they need more memory than everything else.
std::vector<PointData> read_seeds(const Plan& plan, const fs::path& directory, Manifest& manifest, ResultsSubject& subject) {
  std::vector<PointData> runs;
  std::vector<LineRow> lines;
  for (int i = 0; i < plan.experiment.seeds; ++i) {
    const std::uint64_t seed = plan.experiment.seed + static_cast<std::uint64_t>(i);
    SeedFile file = read_seed_file(read_file(seed_path(directory, seed)));
    manifest.simulation_s += file.wall_s;
    manifest.references += file.data.references;
    subject = {file.workload, static_cast<int>(file.cpus)};
    add_line_rows(lines, std::exchange(file.data.lines, {}));
    runs.push_back(std::move(file.data));
  }
  runs.front().lines = std::move(lines);
  return runs;
}

void remove_stale(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) throw OutputError(path.string() + ": cannot be deleted: " + error.message());
}

void write_csv_files(const fs::path& directory, const std::vector<CsvFile>& files) {
  for (const CsvFile& file : files) write_if_changed(directory / file.name, file.content);
  for (const std::string& name : csv_names()) {
    const bool kept = std::ranges::any_of(files, [&](const CsvFile& file) { return file.name == name; });
    if (!kept) remove_stale(directory / name);
  }
}

// Returns a function that looks up a metric by point and seed. It reads each point's file once.
SeedsOfPoint seeds_in(const Plan& plan, const fs::path& directory) {
  return [&plan, directory, known = std::map<int, SeedValues>()](int point, const std::string& metric) mutable {
    const fs::path file = point_directory(directory, plan.swept(), point) / "seeds.csv";
    if (!known.contains(point)) known[point] = is_there(file) ? read_seeds_csv(read_file(file))[point] : SeedValues();
    return known[point][metric];
  };
}

Results results_of(const Plan& plan, const ResultsSubject& subject, std::vector<ReportedPoint> points, SeedsOfPoint seeds) {
  const Experiment& experiment = plan.experiment;
  const std::vector<HeadlineMetric> headlines = headlines_of(subject.workload, points);
  const Answer answer = answer_of({experiment.question, headlines, points, std::move(seeds), subject.cpus});
  return {.experiment = experiment.name,
          .machine = experiment.machine_name,
          .seed = experiment.seed,
          .headlines = headlines,
          .points = std::move(points),
          .paper = {},
          .question = experiment.question,
          .answer = answer,
          .assumptions = experiment.assumptions};
}

// Merges the CSV files of all points that are done.
std::vector<CsvFile> merge_csv(const std::vector<int>& points, const fs::path& directory) {
  std::vector<CsvFile> files;
  for (const std::string& name : csv_names()) {
    std::vector<std::string> contents;
    for (const int point : points) {
      const fs::path file = point_directory(directory, true, point) / name;
      if (is_there(file)) contents.push_back(read_file(file));
    }
    if (!contents.empty()) files.push_back({name, concatenate_csv(contents)});
  }
  return files;
}

ReportedPoint read_point(const fs::path& directory) {
  const fs::path file = directory / "results.json";
  std::vector<ReportedPoint> points;
  try {
    points = read_points(read_file(file));
  } catch (const InputError& error) {
    throw InputError(file.string() + ": " + error.what());
  }
  if (points.size() != 1)
    throw InputError(file.string() + ": holds " + std::to_string(points.size()) + " points instead of one");
  return std::move(points.front());
}

// Adds one point to the merge: its metrics, or the fact that it failed or is missing.
ReportedPoint take_point(const Plan& plan, int number, const fs::path& directory, const FinishedPoints& finished,
                         Merged& merged) {
  ReportedPoint unfinished{plan.points[number].at, {}, false};
  const PointFiles found = look_at_point(directory, plan.hashes[number]);
  if (!found.damage.empty()) merged.damaged.push_back({number, found.damage});
  const auto& manifest = found.manifest;
  if (!found.done && !(manifest && manifest->status == RunStatus::failed)) {
    merged.missing.push_back(number);
    return unfinished;
  }
  Manifest& sum = merged.manifest;
  sum.peak_memory_kib = std::max(sum.peak_memory_kib, manifest->peak_memory_kib);
  if (manifest->status == RunStatus::failed) {
    sum.failed_points.insert(sum.failed_points.end(), manifest->failed_points.begin(), manifest->failed_points.end());
    return unfinished;
  }
  merged.done.push_back(number);
  sum.simulation_s += manifest->simulation_s;
  sum.references += manifest->references;
  ++sum.points_done;
  const auto known = finished.find(number);
  ReportedPoint point = known == finished.end() ? read_point(directory) : known->second;
  point.at = plan.points[number].at;
  return point;
}

// Writes the timeline directly to its file, because it is too large for the seed file and the merge.
void write_timeline(const fs::path& directory, const std::string& content) {
  if (content.empty()) {
    remove_stale(directory / kTimelineFile);
  } else {
    replace_file(directory / kTimelineFile, content);
  }
}

void write_configuration(const fs::path& directory, const toml::table& resolved) {
  write_if_changed(directory / kConfigurationFile, to_toml(resolved));
}

FileRecord record_of(const fs::path& file) {
  FileRecord record;
  trace::Fingerprint fingerprint;
  read_parts(file, [&](std::string_view part) {
    record.bytes += part.size();
    fingerprint.add(part);
  });
  record.checksum = fingerprint.text();
  return record;
}

}  // namespace

void simulate_seed(const Simulation& simulation, const Plan& plan, int point, std::uint64_t seed, const fs::path& directory,
                   const std::function<void(double)>& progress) {
  Point made = plan.make_point(point);
  SimulationInput& input = made.input;
  input.seed = seed;
  const auto started = std::chrono::steady_clock::now();
  SeedFile file;
  file.data = simulation(input, progress);
  file.hash = plan.hashes[point];
  file.workload = input.workload;
  file.cpus = input.machine.cpus;
  file.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  require_finite(file.data);
  if (seed == plan.experiment.seed) {
    write_timeline(directory, file.data.timeline);
    if (plan.swept()) write_configuration(directory, made.resolved);
  }
  replace_file(seed_path(directory, seed), write_seed_file(file));
}

bool seed_is_done(const Plan& plan, int point, std::uint64_t seed, const fs::path& directory) {
  const fs::path path = seed_path(directory, seed);
  if (!is_there(path)) return false;
  try {
    return read_seed_file(read_file(path)).hash == plan.hashes[point];
  } catch (const InputError&) {
    return false;
  }
}

ReportedPoint finish_point(const Plan& plan, int number, const fs::path& directory, Manifest manifest) {
  ResultsSubject subject;
  std::vector<PointData> runs = read_seeds(plan, directory, manifest, subject);
  std::optional<CsvFile> of_seeds;
  if (runs.size() > 1) of_seeds = seeds_csv(number, plan.experiment.seed, runs);
  MergedPoint merged = merge_seeds(std::move(runs));
  std::vector<CsvFile> files = csv_files(number, merged.tables);
  if (of_seeds) files.push_back(std::move(*of_seeds));
  write_csv_files(directory, files);
  // In a sweep, the process that simulated the point's first seed has already written its configuration.
  if (!plan.swept()) {
    write_configuration(directory, plan.experiment.resolved);
  } else if (!is_there(directory / kConfigurationFile)) {
    write_configuration(directory, plan.make_point(number).resolved);
  }
  std::vector<ReportedPoint> points(1);
  points.front() = {plan.points[number].at, std::move(merged.metrics), true};
  ReportedPoint written = as_written(points.front());
  Results results = results_of(plan, subject, std::move(points), {});
  if (results.answer.point) results.answer.point = number;
  if (!plan.swept()) results.paper = evaluate_paper(plan, {written});
  write_if_changed(directory / "results.json", results_text(results));
  manifest.hash = plan.hashes[number];
  manifest.seed = plan.experiment.seed;
  manifest.seeds = plan.experiment.seeds;
  manifest.status = RunStatus::complete;
  manifest.points = 1;
  manifest.points_done = 1;
  manifest.files = records_of(directory);
  replace_file(directory / "manifest.json", manifest_text(manifest));
  remove_seeds(directory);
  return written;
}

void write_failed_point(const Plan& plan, const FailedPoint& failed, const fs::path& directory, Manifest manifest) {
  manifest.hash = plan.hashes[failed.point];
  manifest.seed = plan.experiment.seed;
  manifest.seeds = plan.experiment.seeds;
  manifest.status = RunStatus::failed;
  manifest.points = 1;
  manifest.points_done = 0;
  manifest.failed_points = {failed};
  replace_file(directory / "manifest.json", manifest_text(manifest));
}

Merged merge_points(const Plan& plan, const fs::path& directory, const FinishedPoints& finished) {
  Merged merged;
  merged.manifest.hash = plan.hash;
  merged.manifest.seed = plan.experiment.seed;
  merged.manifest.seeds = plan.experiment.seeds;
  merged.manifest.points = static_cast<int>(plan.points.size());
  std::vector<ReportedPoint> points;
  for (const PointPlace& point : plan.points) {
    const fs::path of_point = point_directory(directory, plan.swept(), point.number);
    points.push_back(take_point(plan, point.number, of_point, finished, merged));
  }
  merged.manifest.status = !merged.missing.empty()                  ? RunStatus::interrupted
                           : !merged.manifest.failed_points.empty() ? RunStatus::failed
                                                                    : RunStatus::complete;
  const ResultsSubject subject = plan.subject ? *plan.subject : subject_of(plan.make_point(0));
  merged.results = results_of(plan, subject, std::move(points), seeds_in(plan, directory));
  merged.results.paper = evaluate_paper(plan, merged.results.points);
  if (const auto range = read_family_range(directory, plan.hash)) merged.results.answer.text += " " + *range;
  return merged;
}

void write_merged(const Plan& plan, const Merged& merged, const fs::path& directory) {
  write_configuration(directory, plan.experiment.resolved);
  write_if_changed(directory / "results.json", results_text(merged.results));
  if (plan.swept()) write_csv_files(directory, merge_csv(merged.done, directory));
}

const std::vector<std::string>& result_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = csv_names();
    all.insert(all.end(), {kTimelineFile, "results.json", kConfigurationFile, kFamilyRangeFile});
    return all;
  }();
  return names;
}

FileRecords records_of(const fs::path& directory) {
  FileRecords records;
  for (const std::string& name : result_names()) {
    if (is_there(directory / name)) records[name] = record_of(directory / name);
  }
  return records;
}

std::string damage_of(const fs::path& directory, const FileRecords& records) {
  if (records.empty()) return "manifest.json does not say what its files hold";
  for (const std::string& name : result_names()) {
    const fs::path file = directory / name;
    const auto known = records.find(name);
    if (known == records.end()) {
      if (is_there(file)) return name + " is not of this run";
      continue;
    }
    if (!is_there(file)) return name + " is missing";
    std::error_code unreadable;
    const bool same_size = !fs::is_regular_file(file, unreadable) || fs::file_size(file, unreadable) == known->second.bytes;
    try {
      if (!same_size || record_of(file) != known->second) return name + " has changed since it was written";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  return "";
}

}  // namespace linebounce::sim
