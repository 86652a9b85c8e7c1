#include "sim/plan/exit_code.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "sim/config/experiment.hpp"
#include "sim/results/result_files.hpp"
#include "sim/simulation/simulate.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

template <class Thrown>
Failure described(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return describe_current_exception();
  }
}

TEST(Failure, EachKindOfErrorHasItsExitCode) {
  EXPECT_EQ(described(ConfigError("x")).code, ExitCode::usage);
  EXPECT_EQ(described(OutputError("x")).code, ExitCode::usage);
  EXPECT_EQ(described(InputError("x")).code, ExitCode::unreadable_input);
  EXPECT_EQ(described(SimulationFailure("x")).code, ExitCode::simulation_failed);
  EXPECT_EQ(described(std::bad_alloc()).code, ExitCode::simulation_failed);
  EXPECT_EQ(described(std::filesystem::filesystem_error("x", "loop", {})).code, ExitCode::usage);
  EXPECT_EQ(described(std::logic_error("x")).code, ExitCode::internal_bug);
  EXPECT_EQ(described(42).code, ExitCode::internal_bug);
}

TEST(Failure, ABugAsksToBeReportedAndNeverShowsATypesName) {
  EXPECT_THAT(described(std::logic_error("the cause")).message, HasSubstr("the cause"));
  EXPECT_THAT(described(std::logic_error("the cause")).message, HasSubstr("report"));
  EXPECT_THAT(described(std::bad_alloc()).message, Not(HasSubstr("std::")));
}

TEST(Failure, AKilledProcessMayHaveRunOutOfMemory) {
  EXPECT_THAT(describe_signal(SIGKILL).message, HasSubstr("memory"));
  EXPECT_EQ(describe_signal(SIGKILL).code, ExitCode::simulation_failed);
  EXPECT_EQ(describe_signal(SIGSEGV).code, ExitCode::internal_bug);
  EXPECT_THAT(describe_signal(SIGSEGV).message, Not(HasSubstr("memory:")));
}

TEST(Failure, AProcessWhoseTimeWasUpIsNotABug) {
  for (const int signal : {SIGPROF, SIGXCPU}) {
    EXPECT_EQ(describe_signal(signal).code, ExitCode::simulation_failed);
    EXPECT_THAT(describe_signal(signal).message, HasSubstr("time"));
  }
}

TEST(Failure, OfAnotherProcessIsSaidAsItWasThere) {
  const Failure bug = described(std::logic_error("the cause"));
  EXPECT_EQ(described(FailedElsewhere(bug)).code, ExitCode::internal_bug);
  EXPECT_EQ(described(FailedElsewhere(bug)).message, bug.message);
}

TEST(Failure, TheLargerExitCodeWins) {
  EXPECT_EQ(larger(ExitCode::usage, ExitCode::simulation_failed), ExitCode::simulation_failed);
  EXPECT_EQ(larger(ExitCode::interrupted, ExitCode::internal_bug), ExitCode::interrupted);
}

}  // namespace
}  // namespace linebounce::sim
