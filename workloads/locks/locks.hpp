// The factories of all locks, for the table in workloads/registry.cpp.
#pragma once

#include <memory>
#include <string>

#include "workloads/locks/lock.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce {

// Each places the lock's words, named after the lock, on lines of their own.
std::unique_ptr<Lock> make_test_and_set_lock(AddressSpace& memory, const std::string& name, int cpus);
std::unique_ptr<Lock> make_test_and_test_and_set_lock(AddressSpace& memory, const std::string& name, int cpus);
std::unique_ptr<Lock> make_ticket_lock(AddressSpace& memory, const std::string& name, int cpus);
std::unique_ptr<Lock> make_mcs_lock(AddressSpace& memory, const std::string& name, int cpus);

}  // namespace linebounce
