// Finds out whether a program uses the result of an atomic addition, from the code after the call that performed it.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>
#include <set>
#include <unordered_map>

#include "record/collector/program_image.hpp"

namespace linebounce::record {

class ResultUse {
 public:
  explicit ResultUse(ProgramImage& image) : image_(&image) {}
  ~ResultUse();
  ResultUse(const ResultUse&) = delete;
  ResultUse& operator=(const ResultUse&) = delete;

  // Returns false only if, on every path, rax (the result's register) is overwritten or lost before the code reads it. Returns
  // true for code in no known file, and for paths that are too long to follow.
  bool is_used(std::uint64_t return_address);

 private:
  // `seen`: addresses already visited, on any path.
  bool may_read(std::uint64_t address, std::set<std::uint64_t>& seen);

  ProgramImage* image_;
  csh decoder_ = 0;
  std::unordered_map<std::uint64_t, bool> known_;  // by return address
};

}  // namespace linebounce::record
