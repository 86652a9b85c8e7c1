// The tables from name to factory: one line a workload, one line a lock.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/program/parameters.hpp"

namespace linebounce {

class Workload;
class Lock;
class AddressSpace;

struct WorkloadEntry {
  std::string name;
  std::string title;
  std::vector<ParameterDeclaration> parameters;
  std::unique_ptr<Workload> (*create)(const Parameters&);
};

struct LockEntry {
  std::string name;
  std::string title;
  std::unique_ptr<Lock> (*create)(AddressSpace&, const std::string& lock_name, int cpus);
};

// In the order in which `list` shows them.
std::span<const WorkloadEntry> workloads();
std::span<const LockEntry> locks();

}  // namespace linebounce
