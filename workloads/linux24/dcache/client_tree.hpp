// A client's directories and files as the client knows them: the content of its part of the disk. One CPU's program owns it.
#pragma once

#include <optional>
#include <vector>

#include "workloads/linux24/dcache/dcache.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class ClientDirectory final : public DiskDirectory {
 public:
  // `inodes`: the directory's own, then one for each possible file.
  explicit ClientDirectory(std::vector<Address> inodes) : own_(inodes.front()), files_(inodes.size() - 1, 0) {
    free_.assign(inodes.begin() + 1, inodes.end());
  }

  [[nodiscard]] Address own_inode() const { return own_; }
  [[nodiscard]] std::size_t names() const { return files_.size(); }
  static Name name(std::size_t file) { return name_of(kFirstFile + file); }
  [[nodiscard]] Address inode(const Name& name) const override { return files_[name.text - kFirstFile]; }

  // A random name that exists, or doesn't; none if there is no such name.
  [[nodiscard]] std::optional<std::size_t> draw(Random& random, bool exists) const;

  // Creates the file and returns its inode.
  Address create(std::size_t file);
  void unlink(std::size_t file);
  void rename(std::size_t from, std::size_t to);

 private:
  static constexpr std::uint64_t kFirstFile = 1000;
  Address own_;
  std::vector<Address> files_;  // by name; 0: no file
  std::vector<Address> free_;
};

}  // namespace linebounce::workloads
