#include "models/core/fiber_stack.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace linebounce::test {
namespace {

constexpr std::size_t kBytes = 64 * 1024;

TEST(ReusedStack, OfAFiberThatHasEndedIsTheNextOnes) {
  ReusedStack<kBytes> stacks;
  auto first = stacks.allocate();
  const void* const place = first.sp;
  stacks.deallocate(first);
  auto second = stacks.allocate();
  auto third = stacks.allocate();
  EXPECT_EQ(second.sp, place);
  EXPECT_NE(third.sp, place);
  stacks.deallocate(second);
  stacks.deallocate(third);
}

// The page at its end is protected; all others are there.
TEST(ReusedStack, CanBeWrittenButForItsLastPage) {
  constexpr std::size_t kPage = 4096;
  ReusedStack<kBytes> stacks;
  auto stack = stacks.allocate();
  char* const top = static_cast<char*>(stack.sp);
  std::memset(top - kBytes + kPage, 1, kBytes - kPage);
  EXPECT_DEATH(*static_cast<volatile char*>(top - kBytes) = 1, "");
  stacks.deallocate(stack);
}

}  // namespace
}  // namespace linebounce::test
