// Means by CPU: the form of the text, and what is refused.
#include <gmock/gmock.h>

#include <stdexcept>

#include "workloads/program/duration.hpp"

namespace linebounce::workloads {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CyclesByCpu, CpusThatAreNotNamedHaveTheOthersMean) {
  EXPECT_THAT(cycles_by_cpu("outside_by_cpu", "", 1000, 3), ElementsAre(1000, 1000, 1000));
  EXPECT_THAT(cycles_by_cpu("outside_by_cpu", "0:50000 2-3:0", 1000, 5), ElementsAre(50000, 1000, 0, 0, 1000));
}

TEST(CyclesByCpu, AnotherFormIsRefusedWithTheLegalOne) {
  for (const char* text : {"0", "4:5", "0-4:5", "2-1:5", "0:", ":5", "0:-1", "0:5,1:6", "a:5", "0:2000000000", "-:1"}) {
    EXPECT_THAT([text] { cycles_by_cpu("outside_by_cpu", text, 1000, 4); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("CPU or first-last, from 0 to 3")))
        << text;
  }
}

TEST(CyclesByCpu, ACpuIsNamedOnce) {
  EXPECT_THAT([] { cycles_by_cpu("outside_by_cpu", "0-2:5 1:6", 1000, 4); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("CPU 1 is named twice")));
}

}  // namespace
}  // namespace linebounce::workloads
