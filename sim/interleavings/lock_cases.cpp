#include "sim/interleavings/lock_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/config/schema.hpp"

namespace linebounce::sim {

using workloads::LockEntry;
using workloads::Readers;

namespace {

// How many CPUs have each role. CPUs are numbered in this order: writers, readers, CPUs that try.
struct Mix {
  int writers = 0, readers = 0, tries = 0;
  int acquisitions = 1;
  bool is_extra = false;

  [[nodiscard]] int cpus() const { return writers + readers + tries; }
};

std::vector<Mix> mixes_of(const LockEntry& lock, const CaseOptions& options) {
  const Readers kind = lock.traits.readers;
  const bool reads = kind == Readers::together || kind == Readers::read_again;
  std::vector<Mix> mixes;
  if (options.cpus > 0 || options.acquisitions > 0) {
    const int cpus = std::max(options.cpus, 2), acquisitions = std::max(options.acquisitions, 1);
    mixes = {{.writers = cpus, .acquisitions = acquisitions}};
    if (reads) mixes.push_back({.writers = 1, .readers = cpus - 1, .acquisitions = acquisitions});
    if (reads && cpus > 2) mixes.push_back({.writers = 2, .readers = cpus - 2, .acquisitions = acquisitions});
    if (lock.traits.tries) mixes.push_back({.writers = cpus - 1, .tries = 1, .acquisitions = acquisitions});
    return mixes;
  }
  mixes = {{.writers = 2}};
  if (reads) mixes.push_back({.writers = 1, .readers = 1});
  if (lock.traits.tries) mixes.insert(mixes.end(), {{.writers = 1, .tries = 1}, {.tries = 2}});
  if (reads && lock.traits.tries) mixes.push_back({.readers = 1, .tries = 1});
  mixes.push_back({.writers = 2, .acquisitions = 2});
  if (reads) mixes.push_back({.writers = 1, .readers = 1, .acquisitions = 2});
  mixes.push_back({.writers = 3});
  if (reads) mixes.insert(mixes.end(), {{.writers = 1, .readers = 2}, {.writers = 2, .readers = 1}});
  if (lock.traits.tries) mixes.push_back({.writers = 2, .tries = 1});
  if (reads) mixes.push_back({.writers = 2, .readers = 2});
  for (Mix& mix : mixes) mix.is_extra = mix.cpus() > 2 || mix.acquisitions > 1 || mix.tries > 0;
  return mixes;
}

std::vector<Role> roles_of(const Mix& mix) {
  std::vector<Role> roles(mix.writers, Role::writes);
  roles.insert(roles.end(), mix.readers, Role::reads);
  roles.insert(roles.end(), mix.tries, Role::tries);
  return roles;
}

std::string steps_text(const SearchResult& result) {
  std::string text;
  int number = 0;
  for (const SearchStep& step : result.steps) text += fmt::format("  {:>3}  CPU {}: {}\n", ++number, step.cpu, step.text);
  return text;
}

}  // namespace

std::vector<LockCase> lock_cases(const LockEntry& lock, const CaseOptions& options) {
  std::vector<LockCase> cases;
  for (const Mix& mix : mixes_of(lock, options)) {
    if (lock.traits.most_cpus > 0 && mix.cpus() > lock.traits.most_cpus) continue;
    for (const workloads::MemoryModel model : options.models)
      cases.push_back(
          {.lock = &lock, .roles = roles_of(mix), .acquisitions = mix.acquisitions, .model = model, .is_extra = mix.is_extra});
  }
  return cases;
}

std::clock_t end_of_quick_check() {
  return std::clock() + kQuickSeconds * CLOCKS_PER_SEC;
}

std::string quick_check(const LockEntry& lock, const std::vector<Consistency>& consistencies) {
  if (!lock.traits.excludes) return {};
  const SearchLimits quick = {.states = kQuickStates, .until = end_of_quick_check()};
  try {
    CaseOptions options{.models = {}};
    for (const Consistency model : consistencies) options.models.push_back(memory_model(model));
    for (const LockCase& one : lock_cases(lock, options)) {
      const SearchResult result = search(one, quick);
      if (result.violation.empty()) continue;
      return fmt::format("{}\n{}, under {}:\n{}", result.violation, case_text(one), name_of_model(one.model),
                         steps_text(result));
    }
  } catch (const NotCheckable&) {
    return {};
  }
  return {};
}

std::string case_text(const LockCase& one) {
  const auto number = [&one](Role role) { return std::ranges::count(one.roles, role); };
  if (number(Role::writes) == one.cpus())
    return fmt::format("{} CPUs, {} acquisition{} each", one.cpus(), one.acquisitions, one.acquisitions == 1 ? "" : "s");
  std::string text;
  const auto add = [&](Role role, const char* one_does, const char* several_do) {
    if (number(role) > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number(role), number(role) == 1 ? one_does : several_do);
  };
  add(Role::writes, "writes", "write");
  add(Role::reads, "reads", "read");
  add(Role::tries, "tries first", "try first");
  return text + (one.acquisitions == 1 ? "; once each" : fmt::format("; {} times each", one.acquisitions));
}

}  // namespace linebounce::sim
