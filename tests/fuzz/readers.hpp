// Every reader of a file that may be a stranger's, by name: for libFuzzer (fuzz_readers.cpp) and for the test of the corpus.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace linebounce::fuzz {

struct Reader {
  std::string_view name;
  // Errors: those that the program has for users, which are no bugs.
  void (*read)(const std::string& bytes);
};

std::span<const Reader> all_readers();
const Reader* reader_called(std::string_view name);  // nullptr: there is none

// Whatever the bytes are, they are taken or refused with a reason. Returns what happened instead; empty: nothing.
std::string bug_in(const Reader& reader, const std::string& bytes);

// A file with these bytes that is on no disk, for readers that take a path; the next call changes it.
std::filesystem::path in_memory(std::string_view bytes);

// Those with a file of their own here.
void call_library(const std::string& bytes);
void read_lua(const std::string& text);
void read_lock(const std::string& text);
void read_trace_frames(const std::string& bytes);
void read_trace(const std::string& bytes);

}  // namespace linebounce::fuzz
