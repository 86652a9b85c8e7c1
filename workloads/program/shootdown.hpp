// TLB shootdowns: a CPU that has changed page tables makes others drop translations, and waits for them. Modelled after Linux
// (smp_call_function_many_cond, flush_tlb_func) with its lines. Each pair of CPUs has a request on a separate line near the
// receiver; each receiver has a list of requests. A sender that finds the list empty sends an interrupt. The receiver takes the
// whole list, reads the pages to drop from the sender's line, drops them, and acknowledges by writing into the request, on
// which the sender spins.
//
// Not modelled: idle CPUs that drop translations later, and the mask of CPUs on which a process has run, which the caller
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
  // REQUIRES: the simulation has not started; every CPU's program calls interrupts.start() before the first shootdown.
  Shootdowns(AddressSpace& memory, std::span<const CpuPlace> places, Interrupts& interrupts);

  Shootdowns(const Shootdowns&) = delete;
  Shootdowns& operator=(const Shootdowns&) = delete;

  // Drops `pages` pages from `first` on, on this CPU and on `targets`, which may include it. Returns when all have dropped
  // them. REQUIRES: interrupts are on; two CPUs that wait for each other with theirs off would deadlock.
  void shoot_down(Cpu& cpu, std::span<const CpuId> targets, Address first, std::int64_t pages);

 private:
  void send(Cpu& cpu, CpuId target);
  void receive(Cpu& cpu);
  [[nodiscard]] Address request(int sender, int receiver) const { return requests_[sender * heads_.size() + receiver]; }

  std::vector<Address> orders_;    // by sender
  std::vector<Address> heads_;     // by receiver
  std::vector<Address> requests_;  // by sender and receiver
  FunctionId flush_ = 0;
  FunctionId wait_ = 0;
  FunctionId receive_ = 0;
  int vector_ = 0;
};

}  // namespace linebounce::workloads
