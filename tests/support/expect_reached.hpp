// Fails the test if the path with this mark (models/reached.hpp) did not run while the object lived.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "models/reached.hpp"

namespace linebounce::test {

class ExpectReached {
 public:
  explicit ExpectReached(std::string name) : name_(std::move(name)) { reached_marks().erase(name_); }
  ~ExpectReached() { EXPECT_TRUE(reached_marks().contains(name_)) << "this test must reach REACHED(" << name_ << ")"; }
  ExpectReached(const ExpectReached&) = delete;
  ExpectReached& operator=(const ExpectReached&) = delete;

 private:
  std::string name_;
};

}  // namespace linebounce::test
