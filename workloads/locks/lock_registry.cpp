#include "workloads/locks/lock_registry.hpp"

#include <fmt/ranges.h>

#include <stdexcept>

#include "workloads/locks/lock.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {

std::span<const LockEntry> all_locks() {
  static const std::vector<LockEntry> kLocks = {
      {"tas", "Test-and-set: every attempt is an atomic exchange", {.fits_4_bytes = true}, make_tas_lock},
      {"ttas",
       "Reads until the lock looks free, then tries (Linux 2.4 and 2.6 on i386)",
       {.fits_4_bytes = true},
       make_ttas_lock},
      {"ttas_backoff",
       "Like ttas, with exponential back-off after a lost race",
       {.fits_4_bytes = true},
       make_ttas_backoff_lock},
      {"ticket", "First come, first served; all waiters watch one word", {.fifo = true}, make_ticket_lock},
      {"mcs", "A queue; each waiter watches a word on a line of its own", {.fifo = true}, make_mcs_lock},
      {"clh", "A queue; each waiter watches its predecessor's node", {.fifo = true}, make_clh_lock},
      {"qspinlock",
       "Linux since 4.2: four bytes; the first waiter watches them, the others queue",
       {.fits_4_bytes = true},
       make_qspinlock},
      {"rwlock",
       "Readers together, a writer alone, one counter (Linux 2.4 and 2.6 on i386)",
       {.readers = Readers::together},
       make_rwlock},
      {"brlock",
       "A reader acquires its own CPU's lock, a writer all CPUs' (Linux 2.4)",
       {.readers = Readers::together},
       make_brlock},
      {"seqlock",
       "Readers write nothing, and read again if a writer interfered",
       {.readers = Readers::read_again},
       make_seqlock},
      {"rcu",
       "Readers acquire nothing; writers take turns, publish copies and wait for grace periods",
       {.readers = Readers::never_wait},
       make_rcu_lock},
      {"mutex", "Spins while the holder runs, else sleeps in a queue (Linux 2.6.30)", {.sleeps = true}, make_mutex},
      {"none",
       "No lock: the bare cost of the section, with its races counted",
       {.excludes = false, .readers = Readers::together, .fits_4_bytes = true},
       make_no_lock},
  };
  return kLocks;
}

const LockEntry& find_lock(const std::string& name) {
  for (const LockEntry& entry : all_locks()) {
    if (entry.name == name) return entry;
  }
  throw std::invalid_argument(
      fmt::format("no lock is called {}; there are: {}", name, fmt::join(lock_names([](auto&) { return true; }), ", ")));
}

std::vector<std::string> lock_names(const std::function<bool(const LockTraits&)>& suits) {
  std::vector<std::string> names;
  for (const LockEntry& entry : all_locks()) {
    if (suits(entry.traits)) names.push_back(entry.name);
  }
  return names;
}

void lock_parameter(ParameterBinder& parameters, const char* name, std::string& option, const char* meaning,
                    const std::function<std::string(const LockTraits&)>& why_not) {
  std::vector<std::string> choices;
  std::map<std::string, std::string> refusals;
  for (const LockEntry& entry : all_locks()) {
    const bool needs_copies = entry.traits.readers == Readers::never_wait;
    const std::string reason =
        needs_copies ? "its readers keep nobody out: writers would have to publish copies, and here they write in place"
                     : why_not(entry.traits);
    if (reason.empty()) {
      choices.push_back(entry.name);
    } else {
      refusals[entry.name] = reason;
    }
  }
  parameters.text(name, option, meaning, choices, refusals);
  parameters.names_lock(why_not);
}

}  // namespace linebounce::workloads
