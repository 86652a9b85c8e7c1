// All locks of a run: makes them by the name of an algorithm, keeps them, and has their figures at the end.
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

// By what name a run's figures have a lock. A metric's name is dotted, so a lock's has no dots: tcp_ehash_lock, not
// "tcp_ehash.lock".
std::string name_in_figures(std::string name);

class LockSet {
 public:
  // `places`: where the CPUs are; empty: what locks keep for each CPU goes where the machine's policy puts it.
  // `from_files`: locks beyond those of all_locks(), by their file's path.
  LockSet(AddressSpace& memory, int cpus, std::vector<CpuPlace> places = {}, std::vector<LockEntry> from_files = {})
      : memory_(&memory),
        per_cpu_(memory, cpus, std::move(places)),
        from_files_(std::move(from_files)),
        holders_(memory, cpus) {}

  struct Options {
    std::optional<Address> word = {};  // LockPlace::word
    WaitsIn waits_in = {};             // LockPlace::waits_in
    int word_bytes = 8;                // of `word`; a lock that needs more gets a line of its own instead
    std::string figures = {};          // locks that have the same are counted together; empty: its name
  };
  // What `algorithm` names: a file's path or one of all_locks(). Errors: std::invalid_argument, with the legal names.
  [[nodiscard]] const LockEntry& find(const std::string& algorithm) const;
  // The lock lives as long as this set. Errors: as of find().
  MeteredLock& create(const std::string& algorithm, const std::string& name, const Options& options) {
    return create(find(algorithm), name, options);
  }
  MeteredLock& create(const std::string& algorithm, const std::string& name) { return create(algorithm, name, Options{}); }

  // The same of a lock that is in no table.
  MeteredLock& create(const LockEntry& entry, const std::string& name, const Options& options);

  // The locks in the order of their creation, with the objects that each has placed for itself: for who creates them again.
  struct Created {
    std::string algorithm;
    Options options;
    const MeteredLock* lock;
    std::size_t first_object, end_object;  // in AddressSpace::objects()
  };
  [[nodiscard]] const std::vector<Created>& created() const { return created_; }

  // Cpu::sleep() for a program that may hold a mutex: who waits for it then goes to sleep, too.
  void sleep(Cpu& cpu) const;

  // Which CPUs sleep, once there is a lock that sleeps. / What locks and counters keep for every CPU.
  [[nodiscard]] const std::optional<Sleepers>& sleepers() const { return sleepers_; }
  [[nodiscard]] CpuObjects& per_cpu() { return per_cpu_; }

  // Counts what is under way at the end of the measured time. REQUIRES: the simulation is over; called once.
  void finish(std::span<const Cpu* const> cpus, Tick end);
  // By name.
  [[nodiscard]] const std::map<std::string, LockFigures>& figures() const { return figures_; }
  // Who holds and who awaits what, for a report of failure.
  [[nodiscard]] std::string describe() const { return holders_.describe(); }

 private:
  AddressSpace* memory_;
  CpuObjects per_cpu_;
  std::vector<LockEntry> from_files_;
  std::optional<Sleepers> sleepers_;  // once there is a lock that sleeps
  LockHolders holders_;
  std::map<std::string, LockFigures> figures_;
  std::vector<std::unique_ptr<MeteredLock>> locks_;
  std::vector<Created> created_;
};

}  // namespace linebounce::workloads
