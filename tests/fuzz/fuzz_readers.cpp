// Runs libFuzzer on one reader of readers.cpp:
//
//   LINEBOUNCE_READER=protocol build/fuzzer/fuzz_readers -max_total_time=600 FOLDER
//
// It starts from the files in FOLDER, and adds inputs that reach new code. test_readers.py runs it for every reader.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/readers.hpp"

namespace {

using namespace linebounce::fuzz;

const Reader& chosen_reader() {
  const char* wanted = std::getenv("LINEBOUNCE_READER");
  const Reader* reader = wanted == nullptr ? nullptr : reader_called(wanted);
  if (reader != nullptr) return *reader;
  std::fputs("LINEBOUNCE_READER must name a reader:", stderr);
  for (const Reader& known : all_readers()) fmt::print(stderr, " {}", known.name);
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace

// Stack traces for allocations cost more than most readers; to investigate a finding, set ASAN_OPTIONS=malloc_context_size=30.
extern "C" const char* __asan_default_options() {
  return "malloc_context_size=1:quarantine_size_mb=8";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Reader& reader = chosen_reader();
  const std::string bug = verdict_on(reader, std::string(reinterpret_cast<const char*>(data), size)).bug;
  if (bug.empty()) return 0;
  fmt::print(stderr, "{}\n", bug);
  std::abort();
}
