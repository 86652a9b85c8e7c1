// Measures Linebounce's own speed in three cases. Each case is also run in the functional-only mode, in the same process.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/machine/machine_protocols.hpp"
#include "models/machine_spec.hpp"
#include "models/units.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::sim {

// ---- reference streams, which the timed and the functional-only mode share ----

using namespace workloads;

struct BenchCase {
  std::string name;
  int shared_per_mille = 0;     // references to shared lines, of 1000; half of them are stores
  int atomic_per_mille = 0;     // atomic operations, of 1000 such stores
  std::int64_t references = 0;  // total over all CPUs, for each run
};

// Generates one CPU's references. Of eight private references, seven go to 8 KiB that stay in L1, and one goes to 64 KiB that
// stay in L2. Three of ten are stores. As in a program, the next reference depends on a loaded value.
class ReferenceStream {
 public:
  static constexpr std::int64_t kNearBytes = 8 * 1024;
  static constexpr std::int64_t kFarBytes = 64 * 1024;
  static constexpr std::int64_t kSharedLines = 16;

  ReferenceStream(const BenchCase& bench_case, int cpu, Address private_area, Address shared_area, int line_bytes)
      : shared_per_mille_(static_cast<std::uint64_t>(bench_case.shared_per_mille)),
        atomic_per_mille_(static_cast<std::uint64_t>(bench_case.atomic_per_mille)),
        random_(1, static_cast<std::uint64_t>(cpu), 0),
        private_(private_area),
        shared_(shared_area),
        line_(static_cast<Address>(line_bytes)) {}

  static std::int64_t private_bytes() { return kNearBytes + kFarBytes; }

  // Makes one reference. `Processor` is Cpu or FunctionalCpu.
  template <class Processor>
  void step(Processor& processor) {
    const std::uint64_t draw = random_.next() ^ last_;
    const std::uint64_t choice = ((draw & 0xFFFF) * 1000) >> 16;
    const std::uint64_t kind = (draw >> 16) & 0xFF;
    if (choice < shared_per_mille_) {
      const Address address = shared_ + ((draw >> 24) % kSharedLines) * line_;
      shared_reference(processor, address, kind, ((draw >> 40) * 1000) >> 24);
      return;
    }
    const Address address = private_ + private_offset(draw >> 24);
    if (kind < 77) {
      processor.store(address, draw >> 60);
    } else {
      last_ = processor.load(address);
    }
  }

 private:
  template <class Processor>
  void shared_reference(Processor& processor, Address address, std::uint64_t kind, std::uint64_t atomic) {
    if (kind >= 128) {
      last_ = processor.load(address);
    } else if (atomic < atomic_per_mille_) {
      last_ = processor.fetch_add(address, 1);
    } else {
      processor.store(address, kind);
    }
  }
  static Address private_offset(std::uint64_t bits) {
    if ((bits & 7) != 0) return (bits >> 3) % (kNearBytes / 8) * 8;
    return kNearBytes + (bits >> 3) % (kFarBytes / 8) * 8;
  }

  std::uint64_t shared_per_mille_;
  std::uint64_t atomic_per_mille_;
  Random random_;
  Value last_ = 0;
  Address private_;
  Address shared_;
  Address line_;
};

struct BenchResult {
  std::string name;
  int cpus = 0;
  double timed_refs_per_s = 0;
  double functional_refs_per_s = 0;          // 0: not run
  double ratio = 0;                          // 0: not run
  double transactions_per_s = 0;             // accesses that left the core's caches, per second of host time
  double kernel_events_per_transaction = 0;  // 0 if there are almost none
};

// private, mixed, contended.
std::span<const BenchCase> bench_cases();

// Runs one case on all of the machine's CPUs: timed, and unless `timed_only` also functional-only.
BenchResult run_bench_case(const BenchCase& bench_case, const MachineSpec& spec, const MachineProtocols& protocols,
                           bool timed_only);

}  // namespace linebounce::sim
