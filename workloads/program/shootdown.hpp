// TLB shootdowns: a CPU that has changed page tables makes others drop translations, and waits until they have. The way of
// Linux (smp_call_function_many_cond, flush_tlb_func), with its lines: for each pair of CPUs a request on a line of its own
// near the receiver; for each receiver the head of a list of requests. A sender whose request finds the list empty sends an
// interrupt; the receiver takes the whole list, reads from the sender's line what to drop, drops it, and acknowledges by
// writing into the request, where the sender spins.
//
// Left out: CPUs that idle and drop their translations later, and the mask of CPUs that a process has run on, which the caller
// knows.
#pragma once

#include <span>
#include <vector>

#include "models/machine_layout.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/interrupts.hpp"

namespace linebounce::workloads {

class Shootdowns {
 public:
  // Before the simulation. `places`: where the CPUs are. Every CPU's program calls interrupts.start() before the first
  // shootdown.
  Shootdowns(AddressSpace& memory, std::span<const CpuPlace> places, Interrupts& interrupts);

  Shootdowns(const Shootdowns&) = delete;
  Shootdowns& operator=(const Shootdowns&) = delete;

  // `pages` pages from `first` on, on this CPU and on `targets`; this one may be among them. Returns when all have dropped
  // them. REQUIRES: interrupts are on: two that wait for each other with theirs off wait for ever.
  void shoot_down(Cpu& cpu, std::span<const CpuId> targets, Address first, std::int64_t pages);

 private:
  void send(Cpu& cpu, CpuId target);
  void receive(Cpu& cpu);
  [[nodiscard]] Address request(int sender, int receiver) const {
    return requests_[static_cast<std::size_t>(sender) * heads_.size() + static_cast<std::size_t>(receiver)];
  }

  std::vector<Address> orders_;    // by sender
  std::vector<Address> heads_;     // by receiver
  std::vector<Address> requests_;  // by sender and receiver
  FunctionId flush_ = 0;
  FunctionId wait_ = 0;
  FunctionId receive_ = 0;
  int vector_ = 0;
};

}  // namespace linebounce::workloads
