#include "tests/fuzz/readers.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>
#include <vector>

#include "commands/calibrate/latency_matrix.hpp"
#include "commands/calibrate/probe_file.hpp"
#include "forms/forms.hpp"
#include "forms/perf_c2c.hpp"
#include "litmus/read_test.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/load_experiment.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/measured_tables.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/plan/results_json.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/seed_file.hpp"
#include "trace/fingerprint.hpp"

namespace linebounce::fuzz {

using namespace sim;

namespace {

// A trace's or lock table's form, by its place in the table of those that read files themselves.
void read_form(const char* name, const std::string& bytes) {
  const Form& form = *form_named(name);
  if (form.convert) convert_files(form, {in_memory(bytes)}, "/dev/null");
  if (form.read_locks) form.read_locks(in_memory(bytes));
}

// Reads the file in whatever form the program recognises.
void recognise_and_read(const std::string& bytes) {
  for (const FormCandidate& candidate : recognise(excerpt_of_text(bytes, "in")).candidates) {
    // Linebounce has perf itself read this form.
    if (candidate.form->name != "perf-data") read_form(candidate.form->name.data(), bytes);
  }
}

void read_manifest_and_change_it(const std::string& text) {
  const auto manifest = read_manifest(text);
  if (manifest) with_status(with_files(text, manifest->files), RunStatus::failed);
}

// Experiments name machines, and those name protocols, so this small project provides them quickly. It also has files that are
// named by a path, such as a trace.
constexpr const char* kProject = LINEBOUNCE_SOURCE_DIR "/tests/fuzz/project";
void use_small_project() {
  static const int kSet = ::setenv("LINEBOUNCE_ROOT", kProject, 1);
  if (kSet != 0) throw std::bad_alloc();
}

std::string file_in_project(const char* name) {
  return std::string(kProject) + "/" + name;
}

// Tries only the first points of a large sweep, because all points are read in the same way.
void read_small_experiment(const std::string& text) {
  constexpr std::size_t kMostPoints = 3;
  const Experiment experiment = read_unexpanded(text, file_in_project("experiment.toml"), {});
  const PointMaker make_point = point_maker(experiment);
  const auto points = static_cast<int>(std::min(point_count(experiment), kMostPoints));
  for (int number = 0; number < points; ++number) make_point(number);
}

// Adds the first line, if it is missing, and then a right fingerprint in the last, which random bytes would not have.
void read_seeds(const std::string& text) {
  if (text.starts_with(kSeedFileHead)) {
    read_seed_file(text);
  } else {
    const std::string whole = std::string(kSeedFileHead) + text;
    read_seed_file(whole + trace::fingerprint_of(whole) + "\n");
  }
}

constexpr std::array kReaders = {
    Reader{"experiment", read_small_experiment},
    Reader{"machine", [](const std::string& text) { read_machine(text, file_in_project("machine.toml")); }},
    Reader{"protocol", [](const std::string& text) { read_protocol(text, file_in_project("protocol.md")); }},
    Reader{"layout", [](const std::string& text) { read_layout_file(text, file_in_project("layout.toml")); }},
    Reader{"pahole", [](const std::string& text) { read_layout_file(text, "file.pahole"); }},
    Reader{"matrix", [](const std::string& text) { parse_measured_matrix(text, "matrix.csv"); }},
    Reader{"measured_rows", [](const std::string& text) { read_measured_rows(text, "table.csv", "a_structure"); }},
    Reader{"probe", [](const std::string& text) { parse_probe_file(text, "probe.json"); }},
    Reader{"library", call_library},
    Reader{"lua", read_lua},
    Reader{"lock", read_lock},
    Reader{"trace", read_trace},
    Reader{"trace_frames", read_trace_frames},
    Reader{"dinero", [](const std::string& bytes) { read_form("dinero", bytes); }},
    Reader{"lackey", [](const std::string& bytes) { read_form("lackey", bytes); }},
    Reader{"champsim", [](const std::string& bytes) { read_form("champsim", bytes); }},
    Reader{"perf_script", [](const std::string& bytes) { read_form("perf-script", bytes); }},
    Reader{"drmemtrace", [](const std::string& bytes) { read_form("drmemtrace", bytes); }},
    Reader{"lock_statistics", [](const std::string& bytes) { read_form("lock_stat", bytes); }},
    Reader{"ordered", [](const std::string& bytes) { read_form("ordered", bytes); }},
    Reader{"perf_lock", [](const std::string& bytes) { read_form("perf-lock", bytes); }},
    Reader{"perf_lock_csv", [](const std::string& bytes) { read_form("perf-lock-csv", bytes); }},
    Reader{"klockstat", [](const std::string& bytes) { read_form("klockstat", bytes); }},
    Reader{"perf_c2c", [](const std::string& bytes) { read_c2c_report(in_memory(bytes)); }},
    Reader{"litmus", [](const std::string& text) { linebounce::sim::litmus::read_test(text, "in.litmus"); }},
    Reader{"recognised", recognise_and_read},
    Reader{"manifest", read_manifest_and_change_it},
    Reader{"results", [](const std::string& text) { read_points(text); }},
    Reader{"seed_file", read_seeds},
};

}  // namespace

std::span<const Reader> all_readers() {
  return kReaders;
}

const Reader* reader_called(std::string_view name) {
  const auto* found = std::find_if(kReaders.begin(), kReaders.end(), [&](const Reader& one) { return one.name == name; });
  return found == kReaders.end() ? nullptr : found;
}

Verdict verdict_on(const Reader& reader, const std::string& bytes) {
  use_small_project();
  try {
    reader.read(bytes);
  } catch (...) {
    const Failure failure = describe_current_exception();
    if (failure.code == ExitCode::internal_bug) return {false, failure.message};
    if (failure.message.empty()) return {false, "it is refused without a reason"};
    return {false, ""};
  }
  return {true, ""};
}

std::filesystem::path in_memory(std::string_view bytes) {
  static const int kDescriptor = ::memfd_create("linebounce_fuzz", MFD_CLOEXEC);
  const auto size = static_cast<ssize_t>(bytes.size());
  if (::pwrite(kDescriptor, bytes.data(), bytes.size(), 0) != size || ::ftruncate(kDescriptor, size) != 0)
    throw std::system_error(errno, std::generic_category(), "a file in memory");
  return fmt::format("/proc/self/fd/{}", kDescriptor);
}

}  // namespace linebounce::fuzz
