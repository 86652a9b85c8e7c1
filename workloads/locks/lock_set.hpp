// Creates and owns all locks of a run, and collects their figures.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/locks/cpu_objects.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/metered_lock.hpp"
#include "workloads/locks/sleepers.hpp"
#include "workloads/locks/waits_in.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// A lock's name as it appears in metrics. Dots become "_", because a metric's name has dots between its parts: "tcp_ehash.lock"
// becomes "tcp_ehash_lock".
std::string name_in_figures(std::string name);

class LockSet {
 public:
  // `places`: as for CpuObjects. `from_files`: locks in addition to all_locks(), named by the paths of their files.
  // `seed`: the run's.
  LockSet(AddressSpace& memory, int cpus, std::vector<CpuPlace> places = {}, std::vector<LockEntry> from_files = {},
          std::uint64_t seed = CpuObjects::kDefaultSeed)
      : memory_(&memory),
        per_cpu_(memory, cpus, std::move(places), seed),
        from_files_(std::move(from_files)),
        holders_(memory, cpus, per_cpu_.places()) {}

  struct Options {
    std::optional<Address> word = {};  // as LockPlace::word
    WaitsIn waits_in = {};             // as LockPlace::waits_in
    int word_bytes = 8;                // size of `word`; a lock that needs more gets a separate line instead
    std::string figures = {};          // name in the figures, shared by locks that are counted together; empty: the lock's own
  };
  // `algorithm` is a file's path or a name in all_locks(). Errors: std::invalid_argument, which lists the legal names.
  [[nodiscard]] const LockEntry& find(const std::string& algorithm) const;
  // Creates a lock that lives as long as this set. Errors: as for find(), and std::invalid_argument if the machine has too many
  // CPUs for the lock.
  MeteredLock& create(const std::string& algorithm, const std::string& name, const Options& options) {
    return create(find(algorithm), name, options);
  }
  MeteredLock& create(const std::string& algorithm, const std::string& name) { return create(algorithm, name, Options{}); }

  // The same, for a lock that is not in all_locks() or a file.
  MeteredLock& create(const LockEntry& entry, const std::string& name, const Options& options);

  // The locks in the order of their creation, each with the range of objects that it placed. A trace records this, so that its
  // replay can create the same locks.
  struct Created {
    std::string algorithm;
    Options options;
    const MeteredLock* lock;
    std::size_t first_object, end_object;  // the range of the lock's objects in AddressSpace::objects()
  };
  [[nodiscard]] const std::vector<Created>& created() const { return created_; }

  // Like Cpu::sleep(), for a program that may hold a mutex: CPUs that wait for that mutex then sleep, too, instead of spinning.
  void sleep(Cpu& cpu) const;

  // sleepers() tells which CPUs sleep; empty unless a lock that sleeps has been created. per_cpu() has the per-CPU objects of
  // locks and counters.
  [[nodiscard]] const std::optional<Sleepers>& sleepers() const { return sleepers_; }
  [[nodiscard]] CpuObjects& per_cpu() { return per_cpu_; }

  // Adds holds and waits that last beyond the measured time to the figures. Call once. REQUIRES: the simulation is over.
  void finish(std::span<const Cpu* const> cpus, Tick end);
  // Keyed by name_in_figures().
  [[nodiscard]] const std::map<std::string, LockFigures>& figures() const { return figures_; }
  // Describes which CPU holds and awaits which lock, for a failure report.
  [[nodiscard]] std::string describe() const { return holders_.describe(); }

 private:
  AddressSpace* memory_;
  CpuObjects per_cpu_;
  std::vector<LockEntry> from_files_;
  std::optional<Sleepers> sleepers_;  // empty unless a lock that sleeps has been created
  LockHolders holders_;
  std::map<std::string, LockFigures> figures_;
  std::vector<std::unique_ptr<MeteredLock>> locks_;
  std::vector<Created> created_;
};

}  // namespace linebounce::workloads
