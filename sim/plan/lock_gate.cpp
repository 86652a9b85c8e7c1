#include "sim/plan/lock_gate.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "models/text/shell_word.hpp"
#include "sim/interleavings/lock_cases.hpp"
#include "sim/plan/exit_code.hpp"
#include "sim/point/config_error.hpp"
#include "workloads/native/native_lock.hpp"

namespace linebounce::sim {
namespace {

// Errors: ConfigError, also for a mistake in the lock's setup().
std::string quick_check_of_file(const workloads::LockEntry& lock, const std::vector<Consistency>& consistencies) {
  try {
    return quick_check(lock, consistencies);
  } catch (const std::invalid_argument& error) {
    throw ConfigError(error.what());
  }
}

}  // namespace

void refuse_if_broken(const workloads::LockEntry& lock, const std::vector<Consistency>& consistencies) {
  const std::string broken = quick_check_of_file(lock, consistencies);
  if (broken.empty()) return;
  throw FailedElsewhere(
      {ExitCode::check_failed,
       fmt::format("the lock {} is broken: {}To use it all the same: --unchecked\nMore: linebounce check-lock {}", lock.name,
                   broken, shell_word(lock.name))});
}

void refuse_broken_locks(const Plan& plan) {
  for (const auto& [path, file] : plan.lock_files)
    refuse_if_broken(workloads::lock_entry_of_file(file.source), {file.consistencies.begin(), file.consistencies.end()});
}

}  // namespace linebounce::sim
