// Whether a program uses the result of an atomic addition, from the code after the call that performed it.
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

  // False only if the result's register (rax) is overwritten or lost before it is read, on each path. Code that is in no file,
  // or that goes on for long without either, may use it.
  bool is_used(std::uint64_t return_address);

 private:
  // `seen`: addresses visited on all paths.
  bool may_read(std::uint64_t address, std::set<std::uint64_t>& seen);

  ProgramImage* image_;
  csh decoder_ = 0;
  std::unordered_map<std::uint64_t, bool> known_;  // by return address
};

}  // namespace linebounce::record
