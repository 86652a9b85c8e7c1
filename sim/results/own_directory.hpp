// Which directories Linebounce may fill, empty and delete: those that it made.
//
// A directory of results has a manifest.json. Any other directory that Linebounce makes has the file .linebounce, which lists
// the folders that Linebounce has made in it, one a line. A directory without either is a stranger's: nothing is written there,
// unless it is empty. A folder that its parent's .linebounce does not list is not deleted, and nothing in it is.
//
// This is the only file that deletes directories with their content (tools/lint_deletions.py).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/results/signals_wait.hpp"

namespace linebounce::sim {

// Why a name that a file has chosen can't name a place in a directory: it is absolute, has a part that is empty, "." or "..",
// or a character that acts on a terminal. Empty if it can.
std::string name_problem(const std::string& name);

// DIRECTORY/NAME, for a name that a file may have chosen: one or more parts, separated by slashes. What is written there is in
// the directory. Errors: ConfigError, with the name's problem; OutputError if a part is a symbolic link.
std::filesystem::path inner_path(const std::filesystem::path& directory, const std::string& name);

// Refuses a directory that has files and that Linebounce did not make. Looks at nothing else, and writes nothing. Errors:
// ConfigError; InputError if a manifest can't be read, which may be that of results on a broken disk.
void require_own_directory(const std::filesystem::path& directory);

// Makes the directory, as well as its parents, and marks all that it makes. Errors: those of require_own_directory();
// OutputError.
void make_own_directory(const std::filesystem::path& directory);

// make_own_directory(), undone if the command then refuses its work: the destructor removes the directories that it has made,
// unless keep() was called or something else is in them by then.
class NewOwnDirectory {
 public:
  // Errors: as for make_own_directory().
  explicit NewOwnDirectory(const std::filesystem::path& directory);
  ~NewOwnDirectory();
  NewOwnDirectory(const NewOwnDirectory&) = delete;
  NewOwnDirectory& operator=(const NewOwnDirectory&) = delete;

  void keep() { made_.clear(); }

 private:
  std::vector<std::filesystem::path> made_;  // the innermost first
};

// The same as make_own_directory() for a directory of results, which gets no mark: the manifest that is to be written next is
// one. leave_mark_to_manifest() removes a mark from earlier, unless it lists folders. Errors: as above.
void make_results_directory(const std::filesystem::path& directory);
void leave_mark_to_manifest(const std::filesystem::path& directory);

// Removes the directories that this process made by the functions above and below and that hold nothing but their marks: a
// refused command leaves no empty folders.
void remove_unused_directories();

// Makes the directories above this path, and marks those that were not there. Errors: OutputError.
void make_parents(const std::filesystem::path& path);

// Writes a file into a folder that may be the user's. Replaces only a file that Linebounce wrote: one that has `sign` in its
// first 4 KiB. Errors: ConfigError; OutputError.
void replace_own_file(const std::filesystem::path& path, std::string_view content, std::string_view sign);

// DIRECTORY/NAME as an empty folder, in place of the one that Linebounce made there earlier. REQUIRES: make_own_directory() was
// called for the directory. Errors: ConfigError if Linebounce did not make the folder; OutputError.
std::filesystem::path emptied_folder(const std::filesystem::path& directory, const std::string& name);

// Folders of a directory that are filled elsewhere and get their names only when all of them are complete: no folder is ever
// there in part. Signals wait meanwhile; what a killed process leaves, the next one deletes.
class UnfinishedFolders {
 public:
  // `names`: the folders that may be put in place. REQUIRES and errors: as for emptied_folder(); also ConfigError if another
  // process is making folders there.
  UnfinishedFolders(std::filesystem::path directory, std::vector<std::string> names);
  // Deletes the folders that were not put in place.
  ~UnfinishedFolders();
  UnfinishedFolders(const UnfinishedFolders&) = delete;
  UnfinishedFolders& operator=(const UnfinishedFolders&) = delete;

  // Where the folders are filled: in a hidden folder of the directory.
  [[nodiscard]] const std::filesystem::path& path() const { return work_; }
  // Replaces the directory's folders. Errors: OutputError.
  void finish();

 private:
  SignalsWait signals_wait_;
  std::filesystem::path directory_, work_;
  std::vector<std::string> names_;
  int lock_ = -1;  // the directory's descriptor; holds its lock
};

// A folder in the system's place for temporary files. The destructor deletes it with its content.
class ScratchFolder {
 public:
  // `purpose`: a word for the folder's name. Errors: OutputError.
  explicit ScratchFolder(const std::string& purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace linebounce::sim
