#include "sim/plan/exit_code.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "models/failure.hpp"
#include "sim/config/experiment.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/results/result_files.hpp"
#include "sim/simulation/simulate.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kMemoryRanOut =
    "the memory ran out: try a smaller -j, or a machine, workload or trace that needs less; ulimit -v may limit it";

std::string bug_text(const std::string& what) {
  return "a bug in Linebounce: please report it with the command line and the files that it used (" + what + ")";
}

}  // namespace

static Failure describe_exception() {
  try {
    throw;
  } catch (const FailedElsewhere& error) {
    return error.failure();
  } catch (const ConfigError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const ProtocolError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const OutputError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const trace::WriteError& error) {
    return {ExitCode::usage, error.what()};
  } catch (const trace::TraceError& error) {
    return {ExitCode::unreadable_input, error.what()};
  } catch (const UnreadableConfig& error) {
    return {ExitCode::unreadable_input, error.what()};
  } catch (const InputError& error) {
    return {ExitCode::unreadable_input, error.what()};
  } catch (const SimulationFailure& error) {
    return {ExitCode::simulation_failed, error.what()};
  } catch (const ModelFailure& error) {
    return {ExitCode::simulation_failed, error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::simulation_failed, kMemoryRanOut};
  } catch (const std::filesystem::filesystem_error& error) {
    return {ExitCode::usage, "cannot use " + error.path1().string() + ": " + error.code().message()};
  } catch (const std::system_error& error) {
    return {ExitCode::usage, "the system refuses: " + std::string(error.what())};
  } catch (const std::exception& error) {
    return {ExitCode::internal_bug, bug_text(error.what())};
  } catch (...) {
    return {ExitCode::internal_bug, bug_text("an error without a text")};
  }
}

Failure describe_current_exception() {
  Failure failure = describe_exception();
  failure.message = with_nearest_file(std::move(failure.message));
  return failure;
}

Failure describe_signal(int signal) {
  const std::string what = std::string("the simulation's process was ended by signal ") + ::strsignal(signal);
  if (signal == SIGKILL)
    return {ExitCode::simulation_failed, what + "; the system may have run out of memory: try a smaller -j"};
  if (signal == SIGPROF)
    return {ExitCode::simulation_failed, "the simulation took more processor time than it was given; it may never end"};
  if (signal == SIGXCPU) return {ExitCode::simulation_failed, what + ": a limit on its time (ulimit -t)"};
  return {ExitCode::internal_bug, bug_text(what)};
}

ExitCode larger(ExitCode left, ExitCode right) {
  return std::max(left, right);
}

}  // namespace linebounce::sim
