// TLB shootdowns: a CPU that has changed page tables makes other CPUs drop translations, and waits until they have. The
// algorithm and its cache lines are those of Linux (smp_call_function_many_cond, flush_tlb_func). Each pair of CPUs has a
// request on a separate line homed at the receiver's node, and each receiver has a list of requests. A sender that finds the
// list empty sends an interrupt. The receiver takes the whole list, reads from each sender's order which pages to drop, drops
// their translations, and acknowledges by writing into the request, on which the sender spins.
//
// Not modelled: idle CPUs that drop translations later, and the mask of CPUs on which a process has run. The caller gives the
// CPUs instead.
#pragma once

#include <span>
#include <vector>

#include "models/machine_layout.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/interrupts.hpp"

namespace linebounce::workloads {

class Shootdowns {
 public:
  // REQUIRES: the simulation has not started; every CPU's program calls interrupts.start() before the first shootdown.
  Shootdowns(AddressSpace& memory, std::span<const CpuPlace> places, Interrupts& interrupts);

  Shootdowns(const Shootdowns&) = delete;
  Shootdowns& operator=(const Shootdowns&) = delete;

  // Drops the translations of `pages` pages, beginning with the one at `first`, on `cpu` and on `targets`, which may include
  // `cpu`. Returns when all have dropped them. REQUIRES: interrupts are on; two CPUs that wait for each other with interrupts
  // off would deadlock.
  void shoot_down(Cpu& cpu, std::span<const CpuId> targets, Address first, std::int64_t pages);

 private:
  void send(Cpu& cpu, CpuId target);
  void receive(Cpu& cpu);
  [[nodiscard]] Address request(int sender, int receiver) const { return requests_[sender * heads_.size() + receiver]; }

  std::vector<Address> orders_;    // each sender's order: the pages to drop
  std::vector<Address> heads_;     // the head of each receiver's list of requests
  std::vector<Address> requests_;  // the requests, sorted by sender and then receiver
  FunctionId flush_ = 0;
  FunctionId wait_ = 0;
  FunctionId receive_ = 0;
  int vector_ = 0;
};

}  // namespace linebounce::workloads
