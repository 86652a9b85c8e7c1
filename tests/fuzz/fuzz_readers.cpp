// Every reader of a file that may be a stranger's, for libFuzzer: whatever the file holds, it is taken or refused with a
// reason.
//
//   LINEBOUNCE_READER=protocol build/fuzzer/fuzz_readers -max_total_time=600 FOLDER
//
// goes on from the files of FOLDER, and keeps there what reached new code. test_readers.py gives each reader its turn.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sim/config/experiment.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/pahole.hpp"
#include "sim/config/protocol_file.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/seed_file.hpp"
#include "sim/sources/formats.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "sim/studies/calibrate/latency_matrix.hpp"
#include "sim/studies/calibrate/probe_file.hpp"
#include "trace/check.hpp"
#include "trace/reader.hpp"
#include "trace/recover.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// The bytes of one case, and a file that holds them.
struct Input {
  std::string text;
  fs::path file;
};

fs::path scratch(std::string_view suffix) {
  return fs::temp_directory_path() / fmt::format("linebounce_fuzz_{}{}", ::getpid(), suffix);
}

void read_trace(const Input& input) {
  trace::Reader recovered(input.file, {.recover = true});
  trace::keep_what_makes_sense(recovered);
  trace::Reader whole(input.file);
  trace::check(whole);
}

template <std::size_t kFormat>
void read_foreign(const Input& input) {
  convert_foreign(kSourceFormats[kFormat], input.file, scratch(".lbt"));
}

struct Reader {
  std::string_view name, suffix;
  void (*read)(const Input& input);
};
constexpr std::array kReaders = {
    Reader{"experiment", ".toml", [](const Input& input) { expand(load_experiment(input.file, {})); }},
    Reader{"machine", ".toml", [](const Input& input) { load_machine(input.file); }},
    Reader{"protocol", ".md", [](const Input& input) { load_protocol(input.file); }},
    Reader{"layout", ".toml", [](const Input& input) { load_layout_file(input.file, ""); }},
    Reader{"pahole", ".pahole", [](const Input& input) { parse_pahole(input.text, "file.pahole"); }},
    Reader{"matrix", ".csv", [](const Input& input) { parse_latency_matrix(input.text, "matrix.csv"); }},
    Reader{"probe", ".json", [](const Input& input) { parse_probe_file(input.text, "probe.json"); }},
    Reader{"trace", ".lbt", read_trace},
    Reader{"dinero", ".din", read_foreign<0>},
    Reader{"lackey", ".log", read_foreign<1>},
    Reader{"champsim", ".trace", read_foreign<2>},
    Reader{"perf_script", ".txt", read_foreign<3>},
    Reader{"drmemtrace", ".txt", read_foreign<4>},
    Reader{"lock_statistics", ".txt", [](const Input& input) { read_lock_statistics(input.file); }},
    Reader{"manifest", ".json", [](const Input& input) { read_manifest(input.text); }},
    Reader{"seed_file", ".json", [](const Input& input) { read_seed_file(input.text); }},
};

const Reader& chosen_reader() {
  const char* wanted = std::getenv("LINEBOUNCE_READER");
  for (const Reader& reader : kReaders) {
    if (wanted != nullptr && reader.name == wanted) return reader;
  }
  std::fputs("LINEBOUNCE_READER must name a reader:", stderr);
  for (const Reader& reader : kReaders) fmt::print(stderr, " {}", reader.name);
  std::fputs("\n", stderr);
  std::exit(2);
}

void read(const Reader& reader, std::string_view bytes) {
  const Input input{std::string(bytes), scratch(reader.suffix)};
  std::ofstream(input.file, std::ios::binary) << bytes;
  try {
    reader.read(input);
  } catch (...) {
    const Failure failure = describe_current_exception();
    if (failure.code != ExitCode::internal_bug && !failure.message.empty()) return;
    fmt::print(stderr, "{}\n", failure.message);
    std::abort();
  }
}

}  // namespace
}  // namespace linebounce::sim

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const linebounce::sim::Reader& reader = linebounce::sim::chosen_reader();
  linebounce::sim::read(reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}

// SystemC's library asks for it; nothing is simulated here.
extern "C" int sc_main(int, char**) {
  return 0;
}
