// What a client knows of its directories and files: the content of its part of the disk. Only one CPU's program uses it.
#pragma once

#include <optional>
#include <vector>

#include "workloads/linux24/dcache/dcache.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

class ClientDirectory final : public DiskDirectory {
 public:
  // `inodes`: first the directory's own, then one for each file that it can hold.
  explicit ClientDirectory(std::vector<Address> inodes) : own_(inodes.front()), files_(inodes.size() - 1, 0) {
    free_.assign(inodes.begin() + 1, inodes.end());
  }

  [[nodiscard]] Address own_inode() const { return own_; }
  [[nodiscard]] std::size_t names() const { return files_.size(); }
  static Name name(std::size_t file) { return name_of(kFirstFile + file); }
  [[nodiscard]] Address inode(const Name& name) const override { return files_[name.text - kFirstFile]; }

  // Draws a random name: of an existing file if `exists`, otherwise of a missing one. Empty if there is no such name.
  [[nodiscard]] std::optional<std::size_t> draw(Random& random, bool exists) const;

  // Creates the file and returns its inode.
  Address create(std::size_t file);
  void unlink(std::size_t file);
  void rename(std::size_t from, std::size_t to);

 private:
  static constexpr std::uint64_t kFirstFile = 1000;
  Address own_;
  std::vector<Address> files_;  // each file's inode, by name; 0: no such file
  std::vector<Address> free_;
};

}  // namespace linebounce::workloads
