// The rest of a program's memory, as far as it misses the caches: the kernel's other structures, or the database's own data.
// Lines that all CPUs write, lines that a node's CPUs write, and memory that no cache has any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {

// Misses of one visit, mean, and among how many lines they are spread.
struct OtherMemoryShape {
  double shared = 0;         // of lines that all CPUs write, homes spread over the nodes
  double node_shared = 0;    // of lines that the CPUs of the node write
  double local_memory = 0;   // of the node's memory
  double remote_memory = 0;  // of the next node's
  int shared_lines = 1;
  int node_lines = 1;
};

class OtherMemory {
 public:
  // Before the simulation. Its lines are arrays called NAME_...: they are not told apart.
  OtherMemory(Kernel& kernel, const std::string& name, const OtherMemoryShape& shape, const Pace& pace);

  // These instructions, and the misses of one visit spread over them.
  void visit(Cpu& cpu, Random& random, std::int64_t instructions);

 private:
  // Lines of one CPU's that come one after the other, from so few sets that none is in a cache when its turn comes again.
  struct Stream {
    Address begin = 0;
    std::uint64_t next = 0;
  };
  enum Kind { kShared, kNodeShared, kLocalMemory, kRemoteMemory, kKinds };

  void miss(Cpu& cpu, Random& random, Kind kind);
  [[nodiscard]] Address next_line(Stream& stream) const;

  Kernel& kernel_;
  OtherMemoryShape shape_;
  Pace pace_;
  std::vector<Address> shared_;
  std::vector<std::vector<Address>> node_shared_;  // by node
  std::vector<Stream> local_, remote_;             // by CPU
  std::uint64_t set_stride_ = 0;                   // bytes from one line to the next of the same set
};

}  // namespace linebounce::workloads
