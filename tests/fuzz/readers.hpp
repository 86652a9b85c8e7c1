// Every reader of files that may be untrusted, by name: for libFuzzer (fuzz_readers.cpp) and for the test of the corpus.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace linebounce::fuzz {

struct Reader {
  std::string_view name;
  // Errors: the exceptions that the program reports to users; they are not bugs.
  void (*read)(const std::string& bytes);
};

std::span<const Reader> all_readers();
const Reader* reader_called(std::string_view name);  // nullptr if there is none

struct Verdict {
  bool is_taken;    // false: refused with a reason, or a bug
  std::string bug;  // what else has happened; empty if nothing
};

// Runs the reader, which must take the bytes or refuse them with a reason.
Verdict verdict_on(const Reader& reader, const std::string& bytes);

// An in-memory file with these bytes, for readers that take a path; the next call replaces it.
std::filesystem::path in_memory(std::string_view bytes);

// Readers in files of their own.
void call_library(const std::string& bytes);
void read_lua(const std::string& text);
void read_lock(const std::string& text);
void read_trace_frames(const std::string& bytes);
void read_trace(const std::string& bytes);

}  // namespace linebounce::fuzz
