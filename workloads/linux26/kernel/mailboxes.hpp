// Objects on their way to a CPU, in simulated memory: a list for each CPU. Any CPU adds to it, and its owner takes it as a
// whole. The links are words of the objects.
#pragma once

#include <string>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

class Mailboxes {
 public:
  // Places each mailbox on its CPU's node, as a structure `mailbox`.
  Mailboxes(const Kernel& kernel, const std::string& name) : first_(kernel.field("mailbox", "first")) {
    for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
      const std::string object = name + "[" + std::to_string(cpu) + "]";
      boxes_.push_back(kernel.place("mailbox", object, kernel.node_of(cpu)));
    }
  }

  void send(Cpu& cpu, int to, Address link) const {
    const Address box = first(to);
    Value before = cpu.load(box);
    for (;;) {
      cpu.store(link, before);
      const Value found = cpu.compare_exchange(box, before, link);
      if (found == before) return;
      before = found;
    }
  }
  // Before the simulation: fills the mailbox so that objects will be taken in this order, from the last on.
  void preset(Kernel& kernel, int to, const std::vector<Address>& links) const {
    Address before = 0;
    for (const Address link : links) {
      kernel.memory().preset(link, before);
      before = link;
    }
    kernel.memory().preset(first(to), before);
  }
  // The first link of the list, each of which holds the next; 0: none.
  [[nodiscard]] Address take_all(Cpu& cpu) const {
    const Address box = first(cpu.id().value);
    return cpu.load(box) == 0 ? 0 : cpu.exchange(box, 0);
  }

 private:
  [[nodiscard]] Address first(int cpu) const { return boxes_[cpu].at(first_, 0); }
  FieldPlace first_;
  std::vector<Object> boxes_;  // by CPU
};

}  // namespace linebounce::workloads
