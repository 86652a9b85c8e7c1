#include "record/collector/read_back.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>

#include "models/text/shell_word.hpp"
#include "trace/check.hpp"
#include "trace/files.hpp"
#include "trace/reader.hpp"

namespace linebounce::record {
namespace {

class Interrupted : public std::exception {};

std::string refused(const std::string& why) {
  return "the trace was read back, and other commands will refuse it: " + why;
}

}  // namespace

std::string read_back(const std::filesystem::path& file, std::uint64_t operations, const std::function<bool()>& interrupted) {
  if (!trace::replaceable(file)) return file.string() + ": is no regular file, so the trace was not read back and checked";
  std::atomic<bool> is_over = false;
  try {
    const trace::Reader reader(file);
    trace::check(reader, [&] {
      if (is_over || interrupted()) is_over = true;
      if (is_over) throw Interrupted();
    });
    if (reader.operations() == operations) return "";
    return refused(fmt::format("{}: has {} operations; {} were written", file.string(), reader.operations(), operations));
  } catch (const Interrupted&) {
    const std::string word = shell_word(file.string());
    return fmt::format("{}: is complete, but was not checked, because a signal came: linebounce trace info --check {}",
                       file.string(), word);
  } catch (const std::exception& error) {
    return refused(error.what());
  }
}

}  // namespace linebounce::record
