// struct array_cache: a stack of free objects' addresses, with a limit. A CPU's own, a node's shared one, or the objects of
// another node that wait for their way home (an alien array).
#pragma once

#include <string>

#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::workloads {

struct ArrayFields {
  FieldPlace avail, limit, batchcount, touched, entry;
};

class ArrayCache {
 public:
  // `structure`: array_cache, shared_array_cache or alien_array_cache. Errors: std::invalid_argument, if it has no room for the
  // limit.
  ArrayCache(Kernel& kernel, const std::string& structure, const std::string& object, int node, int limit, int batchcount);

  Value avail(Cpu& cpu) const { return object_.load(cpu, fields_.avail); }
  void set_avail(Cpu& cpu, Value avail) const { object_.store(cpu, fields_.avail, avail); }
  Value limit(Cpu& cpu) const { return object_.load(cpu, fields_.limit); }
  Value batchcount(Cpu& cpu) const { return object_.load(cpu, fields_.batchcount); }
  Value touched(Cpu& cpu) const { return object_.load(cpu, fields_.touched); }
  void touch(Cpu& cpu) const { object_.store(cpu, fields_.touched, 1); }
  [[nodiscard]] Address entry(const Cpu& cpu, Value index) const {
    return object_.at(fields_.entry, cpu) + index * kPointerBytes;
  }
  Address object_at(Cpu& cpu, Value index) const { return cpu.load(entry(cpu, index)); }

  // REQUIRES: it is not full. / not empty.
  void push(Cpu& cpu, Address object) const {
    const Value avail = this->avail(cpu);
    cpu.store(entry(cpu, avail), object);
    set_avail(cpu, avail + 1);
  }
  Address pop(Cpu& cpu) const {
    const Value avail = this->avail(cpu) - 1;
    set_avail(cpu, avail);
    return object_at(cpu, avail);
  }

  [[nodiscard]] Address address() const { return object_.address(); }
  [[nodiscard]] const Object& object() const { return object_; }

  static constexpr int kPointerBytes = 8;

 private:
  Object object_;
  ArrayFields fields_;
};

}  // namespace linebounce::workloads
