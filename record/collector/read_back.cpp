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

std::string read_back(const std::filesystem::path& file, const std::string& name, std::uint64_t operations,
                      const std::function<bool()>& interrupted) {
  if (!trace::replaceable(file)) return name + ": is no regular file, so the trace was not read back and checked";
  std::atomic<bool> is_over = false;
  try {
    const trace::Reader reader(file);
    trace::check(reader, [&] {
      if (is_over || interrupted()) is_over = true;
      if (is_over) throw Interrupted();
    });
    if (reader.operations() == operations) return "";
    return refused(fmt::format("{}: has {} operations; {} were written", name, reader.operations(), operations));
  } catch (const Interrupted&) {
    return fmt::format("{}: is complete, but was not checked, because a signal came: linebounce trace info --check {}", name,
                       shell_word(name));
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return refused(what.starts_with(file.string()) ? name + what.substr(file.string().size()) : what);
  }
}

}  // namespace linebounce::record
