#include "record/collector/read_back.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "trace/writer.hpp"

namespace linebounce::record {
namespace {

using trace::Kind;
using trace::Operation;

constexpr const char* kRefused = "the trace was read back, and other commands will refuse it: ";

// What is said of a trace of two streams, the first of which has these operations, without the file's name. `counted`: the
// number of operations that are said to have been written, beyond those that were.
struct Written {
  std::vector<Operation> operations = {{.kind = Kind::acquire}, {.kind = Kind::release}};
  trace::Lock lock = {};
  std::uint64_t counted = 0;
  bool interrupted = false;
};

std::string said_of(const Written& written) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() /
      (std::string("read_back_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".lbt");
  {
    trace::Writer writer(file);
    trace::Object object;
    object.name = "flag";
    object.size = 1;
    writer.define(object);
    writer.define(written.lock);
    writer.append(writer.define(trace::Stream{.name = "main"}), written.operations);
    writer.append(writer.define(trace::Stream{.name = "worker"}), {.kind = Kind::fence});
    writer.finish({});
  }
  const std::uint64_t count = written.operations.size() + 1 + written.counted;
  std::string said = read_back(file, file, count, [&written] { return written.interrupted; });
  std::filesystem::remove(file);
  const std::string name = file.string();
  for (std::size_t at = said.find(name); at != std::string::npos; at = said.find(name)) said.erase(at, name.size());
  return said;
}

TEST(ReadingBack, FindsNothingInASoundTrace) {
  EXPECT_EQ(said_of({}), "");
}

TEST(ReadingBack, FindsASymbolThatTheReaderRefuses) {
  const std::string said = said_of({.lock = {.object = 0, .word_bytes = 4}});
  EXPECT_TRUE(said.starts_with(kRefused)) << said;
  EXPECT_NE(said.find("its 4 bytes at 0 are outside \"flag\", which has 1"), std::string::npos) << said;
}

TEST(ReadingBack, FindsOperationsThatTheCheckRefuses) {
  const std::string said = said_of({.operations = {{.kind = Kind::fence}, {.kind = Kind::acquire}}});
  EXPECT_TRUE(said.starts_with(kRefused)) << said;
  EXPECT_TRUE(said.ends_with("stream 0 (main), operation 1: the stream ends here and holds ")) << said;
}

TEST(ReadingBack, FindsThatOperationsAreMissing) {
  EXPECT_EQ(said_of({.counted = 2}), std::string(kRefused) + ": has 3 operations; 5 were written");
}

TEST(ReadingBack, EndsWhenItIsInterrupted) {
  EXPECT_EQ(said_of({.interrupted = true}),
            ": is complete, but was not checked, because a signal came: linebounce trace info --check ");
}

TEST(ReadingBack, SaysThatADeviceCannotBeReadBack) {
  EXPECT_EQ(read_back("/dev/null", "/dev/null", 0, [] { return false; }),
            "/dev/null: is no regular file, so the trace was not read back and checked");
}

}  // namespace
}  // namespace linebounce::record
