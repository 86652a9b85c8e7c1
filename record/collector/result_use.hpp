// Whether a program looks at what an atomic addition returns: told by the code behind the call that did it.
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

  // False only if the register with the result (rax) is written or lost before it is read, on each way from there. Code that is
  // not in a file, or that goes on for long without either, may use it.
  bool is_used(std::uint64_t return_address);

 private:
  // `seen`: where it has been already, on all ways.
  bool may_read(std::uint64_t address, std::set<std::uint64_t>& seen);

  ProgramImage* image_;
  csh decoder_ = 0;
  std::unordered_map<std::uint64_t, bool> known_;  // by return address
};

}  // namespace linebounce::record
