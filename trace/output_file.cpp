#include "trace/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "trace/error.hpp"

namespace linebounce::trace {

OutputFile::OutputFile(const std::filesystem::path& file) : path_(file), file_(std::fopen(file.c_str(), "wbe")) {
  if (!file_) fail();
}

void OutputFile::fail() const {
  throw WriteError(fmt::format("{}: the trace cannot be written: {}", path_.string(), std::strerror(errno)));
}

void OutputFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
  size_ += bytes.size();
}

void OutputFile::flush() {
  if (std::fflush(file_.get()) != 0) fail();
}

void OutputFile::close() {
  if (std::fclose(file_.release()) != 0) fail();
}

}  // namespace linebounce::trace
