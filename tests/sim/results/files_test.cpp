#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "sim/results/manifest.hpp"
#include "sim/results/result_files.hpp"
#include "sim/results/seed_file.hpp"
#include "trace/fingerprint.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  fs::path folder = fs::temp_directory_path() / ("linebounce_files_test_" + std::to_string(::getpid()));
};

TEST_F(Files, WritingReplacesAsAWholeAndLeavesNoTemporaryFile) {
  write_file(folder / "a", "a long first text");
  write_file(folder / "a", "second");
  EXPECT_EQ(read_file(folder / "a"), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

// Each child writes without a pause until a timer's signal ends it.
TEST_F(Files, ASignalThatEndsTheProcessLeavesNoTemporaryFile) {
  write_file(folder / "a", "text");
  for (int child = 0; child < 20; ++child) {
    const pid_t id = ::fork();
    if (id == 0) {
      const itimerval soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 2000 + 100 * child}};
      ::setitimer(ITIMER_REAL, &soon, nullptr);
      while (true) write_file(folder / "a", "text");
    }
    int status = 0;
    ::waitpid(id, &status, 0);
    EXPECT_EQ(WTERMSIG(status), SIGALRM);
    EXPECT_EQ(read_file(folder / "a"), "text");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  }
}

TEST_F(Files, AnEmptyFileIsReadAsEmpty) {
  write_file(folder / "empty", "");
  EXPECT_EQ(read_file(folder / "empty"), "");
}

TEST_F(Files, AFileThatCannotBeWrittenIsNamedWithTheReason) {
  try {
    write_file(folder / "no" / "such" / "file", "x");
    FAIL();
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no/such/file"));
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
}

// As `-o /dev/full`: a rename would put a file in the device's place.
TEST_F(Files, ADeviceOrPipeIsWrittenAndStaysWhatItIs) {
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  write_file(pipe, "text");
  std::array<char, 8> got{};
  EXPECT_EQ(::read(reader, got.data(), got.size()), 4);
  EXPECT_STREQ(got.data(), "text");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(Files, BehindASymbolicLinkItsTargetIsReplaced) {
  write_file(folder / "target", "old");
  fs::create_symlink("target", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "target"), "new");
}

TEST_F(Files, AFileThatIsNotRegularIsRefused) {
  fs::create_symlink("loop", folder / "loop");
  for (const char* path : {"/dev/zero", "loop", "."}) EXPECT_THROW(read_file(folder / path), InputError) << path;
  EXPECT_TRUE(is_there(folder / "loop"));
  EXPECT_FALSE(is_there(folder / "nothing"));
}

TEST_F(Files, ADirectoryInAFilesPlaceIsAnError) {
  write_file(folder / "taken", "mine");
  EXPECT_THROW(make_directories(folder / "taken"), OutputError);
  EXPECT_THROW(make_directories(folder / "taken" / "below"), OutputError);
  EXPECT_EQ(read_file(folder / "taken"), "mine");
}

TEST(SeedFile, GivesBackEveryDigitOfEveryTable) {
  SeedFile file;
  file.hash = "0123456789abcdef";
  file.data.metrics["cost.x"] = {1.0 / 3, "ns"};
  file.data.metrics["count"] = {std::int64_t{9007199254740993}, ""};
  file.data.latency = {{"kernel", "l2", 9, 90.0 / 7, 5}};
  file.data.lines = {{"rq", "rq[0]", 1, 2, "lock", "schedule", "atomic", 3, "upgrade", 4, 50, 0.1}};
  file.data.locks = {{"dcache_lock", "d_lookup", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
  file.data.transitions = {{"cache", "I", "Load", 12}};
  file.data.references = 13;
  const SeedFile again = read_seed_file(write_seed_file(file));
  EXPECT_EQ(again.hash, file.hash);
  EXPECT_EQ(std::get<double>(again.data.metrics.at("cost.x").value), 1.0 / 3);
  EXPECT_EQ(std::get<std::int64_t>(again.data.metrics.at("count").value), 9007199254740993);
  EXPECT_EQ(again.data.latency[0].latency_ns, 90.0 / 7);
  EXPECT_EQ(write_seed_file(again), write_seed_file(file));
}

TEST(SeedFile, ATruncatedSeedFileIsAnInputError) {
  const std::string text = write_seed_file({});
  EXPECT_THROW(read_seed_file(text.substr(0, text.size() / 2)), InputError);
  EXPECT_THROW(read_seed_file("{}"), InputError);
}

TEST(SeedFile, ARowOfLinesThatIsMissingIsAnInputError) {
  SeedFile file;
  file.data.lines = {{"rq", "rq[0]", 1, 40, "idle", "say \"x\"\n", "load", 0, "remote_c2c", 799, 100.0 / 3, 412.5}};
  file.data.lines.push_back(file.data.lines[0]);
  const std::string text = write_seed_file(file);
  const SeedFile again = read_seed_file(text);
  ASSERT_EQ(again.data.lines.size(), 2U);
  EXPECT_EQ(again.data.lines[0].function, "say \"x\"\n");
  EXPECT_EQ(again.data.lines[0].remote_pct, 100.0 / 3);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(read_seed_file(text.substr(0, size)), InputError) << size;
  }
}

std::string with_checksum(const std::string& content) {
  return content + trace::fingerprint_of(content) + "\n";
}

// In a damaged file, a table's length can be any number. A length beyond the file's end must only make the file unreadable.
TEST(SeedFile, LengthsBeyondTheFileAreAnInputError) {
  SeedFile file;
  file.hash = "4711";
  file.data.metrics["count"] = {std::int64_t{5}, "ns"};
  file.data.matrix = {{0, 17, 0, "Modified", 5}};
  const std::string text = write_seed_file(file);
  const std::string content = text.substr(0, text.size() - 17);
  int refused = 0;
  for (std::size_t at = 0; at < content.size(); ++at) {
    std::string changed = content;
    changed[at] = '\x7f';
    try {
      read_seed_file(with_checksum(changed));
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 8 * 8);  // at least the bytes of eight empty tables' lengths
}

TEST(SeedFile, AnotherVersionsFileAndBytesBehindTheEndAreAnInputError) {
  const std::string text = write_seed_file({});
  std::string content = text.substr(0, text.size() - 17);
  EXPECT_NO_THROW(read_seed_file(with_checksum(content)));
  EXPECT_THROW(read_seed_file(with_checksum(content + '\0')), InputError);
  content.replace(content.find('2'), 1, "1");
  EXPECT_THROW(read_seed_file(with_checksum(content)), InputError);
}

TEST(Manifest, NumbersThatFitIntoNoIntegerMakeItNoManifest) {
  Manifest manifest;
  manifest.references = 4711;
  std::string text = manifest_text(manifest);
  ASSERT_TRUE(read_manifest(text));
  text.replace(text.find("4711"), 4, "22222222222222222222222222222222222");
  EXPECT_FALSE(read_manifest(text));
}

// Writing such a deeply nested value again, or showing it in an error, would exhaust the stack.
TEST(Manifest, ValuesWithinValuesWithoutEndMakeItNoManifest) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  std::string text = manifest_text(Manifest{});
  text.insert(1, "\"other\": " + deep + ",");
  EXPECT_FALSE(read_manifest(text));
}

TEST(Manifest, IsKnownAgainByItsHashAndStatus) {
  Manifest manifest;
  manifest.hash = "0123456789abcdef";
  manifest.status = RunStatus::failed;
  manifest.failed_points = {{2, 4, "deadlock"}};
  manifest.files["lines.csv"] = {12, "00000000000000aa"};
  const auto again = read_manifest(manifest_text(manifest));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->hash, manifest.hash);
  EXPECT_EQ(again->status, RunStatus::failed);
  EXPECT_EQ(again->failed_points.at(0).reason, "deadlock");
  EXPECT_EQ(again->files, manifest.files);
  EXPECT_EQ(read_manifest(with_files(manifest_text(manifest), {}))->files, FileRecords{});
}

TEST(Manifest, AForeignManifestIsNotTakenForOurs) {
  EXPECT_FALSE(read_manifest(R"({"name": "an app", "schema": "other"})"));
  EXPECT_FALSE(read_manifest("no JSON"));
}

TEST(Manifest, ArgumentsThatAreNotUtf8DoNotStopARun) {
  Manifest manifest;
  manifest.argv = {"linebounce", "\xff\xfe"};
  EXPECT_TRUE(read_manifest(manifest_text(manifest)));
}

}  // namespace
}  // namespace linebounce::sim
