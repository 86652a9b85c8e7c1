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

// Only the page at the stack's end is protected; all others can be written.
TEST(ReusedStack, CanBeWrittenButForItsLastPage) {
  constexpr std::size_t kPage = 4096;
  ReusedStack<kBytes> stacks;
  auto stack = stacks.allocate();
  char* const end = static_cast<char*>(stack.sp) - stack.size;
  std::memset(end + kPage, 1, stack.size - kPage);
  EXPECT_DEATH(*static_cast<volatile char*>(end) = 1, "");
  stacks.deallocate(stack);
}

}  // namespace
}  // namespace linebounce::test
