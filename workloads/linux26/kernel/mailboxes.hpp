// One list per CPU, in simulated memory, of objects sent to that CPU. Any CPU may add an object; the owner takes the whole
// list. The links are words of the objects.
#pragma once

#include <string>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

class Mailboxes {
 public:
  // Places each mailbox on its CPU's node, as a structure `mailbox`.
  Mailboxes(Kernel& kernel, const std::string& name) : first_(kernel.field("mailbox", "first")) {
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
  // Puts objects into a mailbox before the simulation starts. Its owner takes them in the order from `links.back()` to
  // `links.front()`.
  void preset(Kernel& kernel, int to, const std::vector<Address>& links) const {
    Address before = 0;
    for (const Address link : links) {
      kernel.memory().preset(link, before);
      before = link;
    }
    kernel.memory().preset(first(to), before);
  }
  // Takes the whole list. Returns the address of the first link; 0 if the mailbox is empty. Each link holds the address of the
  // next one, and the last holds 0.
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
