#include "workloads/linux24/dcache/client_tree.hpp"

namespace linebounce::workloads {

std::optional<std::size_t> ClientDirectory::draw(Random& random, bool exists) const {
  const std::size_t first = random.below(files_.size());
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::size_t file = (first + i) % files_.size();
    if ((files_[file] != 0) == exists) return file;
  }
  return std::nullopt;
}

Address ClientDirectory::create(std::size_t file) {
  files_[file] = free_.back();
  free_.pop_back();
  return files_[file];
}

void ClientDirectory::unlink(std::size_t file) {
  free_.insert(free_.begin(), files_[file]);
  files_[file] = 0;
}

void ClientDirectory::rename(std::size_t from, std::size_t to) {
  files_[to] = files_[from];
  files_[from] = 0;
}

}  // namespace linebounce::workloads
