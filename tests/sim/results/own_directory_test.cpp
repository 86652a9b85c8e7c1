#include "sim/results/own_directory.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sim/point/config_error.hpp"
#include "sim/results/manifest.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class OwnDirectory : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  // A folder with a file of someone else's.
  fs::path strangers(const std::string& name) const {
    fs::create_directories(folder_ / name);
    write_file(folder_ / name / "precious", "mine");
    return folder_ / name;
  }
  static bool is_whole(const fs::path& folder) { return read_file(folder / "precious") == "mine"; }

  fs::path folder_ = fs::temp_directory_path() / ("linebounce_own_directory_test_" + std::to_string(::getpid()));
};

std::string problem(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST_F(OwnDirectory, AStrangersDirectoryIsRefusedWithoutAChange) {
  const fs::path theirs = strangers("theirs");
  EXPECT_THAT(problem([&] { require_own_directory(theirs); }), HasSubstr("holds precious, and Linebounce did not make this"));
  EXPECT_THAT(problem([&] { make_own_directory(theirs); }), HasSubstr(theirs.string()));
  EXPECT_THAT(problem([&] { make_results_directory(theirs); }), HasSubstr(theirs.string()));
  EXPECT_EQ(std::distance(fs::directory_iterator(theirs), {}), 1);
}

TEST_F(OwnDirectory, AnEmptyDirectoryAMarkedOneAndOneOfResultsAreOurs) {
  make_own_directory(folder_);
  write_file(folder_ / "precious", "mine");
  EXPECT_NO_THROW(make_own_directory(folder_));
  const fs::path results = strangers("results");
  write_file(results / "manifest.json", manifest_text({}));
  EXPECT_NO_THROW(make_own_directory(results));
  const fs::path others = strangers("others");
  write_file(others / "manifest.json", R"({"schema": "of another program"})");
  EXPECT_THROW(make_own_directory(others), ConfigError);
}

TEST_F(OwnDirectory, LocksAndTemporaryFilesOfKilledProcessesAreNoFiles) {
  write_file(folder_ / ".linebounce-lock", "1");
  fs::create_directories(folder_ / ".linebounce-tmp-1");
  EXPECT_NO_THROW(make_own_directory(folder_));
}

TEST_F(OwnDirectory, AMarkIsARegularFile) {
  const fs::path theirs = strangers("theirs");
  fs::create_symlink(theirs / "precious", theirs / ".linebounce");
  EXPECT_THROW(require_own_directory(theirs), ConfigError);
  fs::remove(theirs / ".linebounce");
  fs::create_directories(theirs / ".linebounce");
  EXPECT_THROW(require_own_directory(theirs), ConfigError);
}

TEST_F(OwnDirectory, ParentsThatAreMadeAreOursAndThoseThatWereThereAreNot) {
  const fs::path theirs = strangers("theirs");
  make_results_directory(theirs / "out" / "run");
  EXPECT_TRUE(fs::exists(theirs / "out" / ".linebounce"));
  EXPECT_FALSE(fs::exists(theirs / "out" / "run" / ".linebounce")) << "the manifest will be its mark";
  EXPECT_FALSE(fs::exists(theirs / ".linebounce"));
}

TEST_F(OwnDirectory, AMarkGoesWhenTheManifestComesUnlessItListsFolders) {
  make_own_directory(folder_ / "a");
  leave_mark_to_manifest(folder_ / "a");
  EXPECT_TRUE(fs::is_empty(folder_ / "a"));
  make_own_directory(folder_ / "b");
  emptied_folder(folder_ / "b", "source");
  leave_mark_to_manifest(folder_ / "b");
  EXPECT_TRUE(fs::exists(folder_ / "b" / ".linebounce"));
}

TEST_F(OwnDirectory, AFolderIsEmptiedOnlyIfLinebounceMadeIt) {
  make_own_directory(folder_);
  const fs::path theirs = strangers("theirs");
  EXPECT_THAT(problem([&] { emptied_folder(folder_, "theirs"); }), HasSubstr("Linebounce did not make this"));
  EXPECT_TRUE(is_whole(theirs));
  const fs::path ours = emptied_folder(folder_, "ours");
  strangers("ours");  // our folder may be filled by a program that we run
  EXPECT_EQ(emptied_folder(folder_, "ours"), ours);
  EXPECT_TRUE(fs::is_empty(ours));
  write_file(folder_ / "file", "mine");
  EXPECT_THROW(emptied_folder(folder_, "file"), ConfigError);
  fs::create_directory_symlink(theirs, folder_ / "link");
  EXPECT_THROW(emptied_folder(folder_, "link"), OutputError);
  EXPECT_TRUE(is_whole(theirs));
}

TEST_F(OwnDirectory, AFolderThatReplacedAListedOneByALinkIsRefused) {
  make_own_directory(folder_ / "out");
  fs::remove(emptied_folder(folder_ / "out", "source"));
  const fs::path theirs = strangers("theirs");
  fs::create_directory_symlink(theirs, folder_ / "out" / "source");
  EXPECT_THROW(emptied_folder(folder_ / "out", "source"), OutputError);
  EXPECT_TRUE(is_whole(theirs));
}

TEST_F(OwnDirectory, UnfinishedFoldersLeaveTheEarlierOnesUntilAllAreComplete) {
  make_own_directory(folder_);
  const auto make = [&](const std::string& text, bool to_the_end) {
    UnfinishedFolders made(folder_, {"a", "b"});
    for (const char* name : {"a", "b"}) {
      make_directories(made.path() / name);
      write_file(made.path() / name / "text", text);
    }
    if (to_the_end) made.finish();
  };
  make("first", true);
  make("second", false);
  EXPECT_EQ(read_file(folder_ / "a" / "text"), "first");
  make("third", true);
  EXPECT_EQ(read_file(folder_ / "a" / "text"), "third");
  EXPECT_EQ(read_file(folder_ / "b" / "text"), "third");
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_)) left.push_back(entry.path().filename());
  EXPECT_THAT(left, testing::UnorderedElementsAre(".linebounce", "a", "b")) << "temporary folders are deleted";
}

TEST_F(OwnDirectory, UnfinishedFoldersReplaceNoStrangersFolder) {
  make_own_directory(folder_);
  const fs::path theirs = strangers("a");
  EXPECT_THROW(UnfinishedFolders(folder_, {"a"}), ConfigError);
  EXPECT_TRUE(is_whole(theirs));
}

TEST_F(OwnDirectory, OfTwoCommandsThatMakeFoldersTheSecondIsRefused) {
  make_own_directory(folder_);
  const UnfinishedFolders first(folder_, {"a"});
  EXPECT_THAT(problem([&] { UnfinishedFolders(folder_, {"a"}); }), HasSubstr("another command is writing into this directory"));
}

TEST_F(OwnDirectory, WhatAKilledProcessLeftIsDeletedByTheNext) {
  make_own_directory(folder_);
  if (const pid_t child = ::fork(); child == 0) {
    UnfinishedFolders made(folder_, {"a"});
    make_directories(made.path() / "a");
    std::ofstream(folder_ / (std::string(kTemporaryPrefix) + "1-lock.c")) << "half";  // as replace_file() names it
    ::raise(SIGKILL);
  } else {
    int status = 0;
    ::waitpid(child, &status, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3) << "the mark, the temporary folder and file";
  { const UnfinishedFolders next(folder_, {"a"}); }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(OwnDirectory, AScratchFolderIsGoneAtTheEnd) {
  fs::path file;
  {
    const ScratchFolder scratch("test");
    file = scratch.file("text");
    write_file(file, "text");
  }
  EXPECT_FALSE(fs::exists(file.parent_path()));
}

TEST_F(OwnDirectory, AFileIsReplacedOnlyIfItHasOurSign) {
  const fs::path file = folder_ / "file";
  replace_own_file(file, "made by Linebounce: first", "made by Linebounce");
  replace_own_file(file, "made by Linebounce: second", "made by Linebounce");
  EXPECT_EQ(read_file(file), "made by Linebounce: second");
  write_file(file, "mine");
  EXPECT_THROW(replace_own_file(file, "made by Linebounce: third", "made by Linebounce"), ConfigError);
  EXPECT_EQ(read_file(file), "mine");
}

TEST_F(OwnDirectory, ANameIsJoinedOnlyIfItStaysInside) {
  EXPECT_EQ(inner_path(folder_, "a"), folder_ / "a");
  EXPECT_EQ(inner_path(folder_, "what_if/a.b-c"), folder_ / "what_if" / "a.b-c");
  EXPECT_EQ(inner_path(folder_, "..a/a.."), folder_ / "..a" / "a..");
  for (const char* name : {"", "/", "/etc/passwd", "..", ".", "a/../b", "../a", "a/..", "a//b", "a/", "./a", "a\nb", "a\tb",
                           "a\x1b[2J", "a\x7f", "a\u202eb", "a\xff"}) {
    EXPECT_THROW(inner_path(folder_, name), ConfigError) << name;
    EXPECT_NE(name_problem(name), "") << name;
  }
}

TEST_F(OwnDirectory, ANameIsNotJoinedThroughALink) {
  const fs::path theirs = strangers("theirs");
  fs::create_directory_symlink(theirs, folder_ / "link");
  fs::create_symlink(theirs / "precious", folder_ / "file");
  for (const char* name : {"link", "link/precious", "link/new", "file"})
    EXPECT_THAT([&] { inner_path(folder_, name); },
                ThrowsMessage<OutputError>(HasSubstr("is a symbolic link, and nothing is written elsewhere")))
        << name;
}

}  // namespace
}  // namespace linebounce::sim
