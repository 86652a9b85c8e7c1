// A machine with disks, and processes that submit I/Os in batches and wait for them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/layout_file.hpp"
#include "tests/workloads/kernel_machine.hpp"
#include "workloads/linux26/io/block_layer.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;
using namespace sim;

// A finished I/O.
struct Done {
  int cpu = 0;
  Tick at = 0;
  friend bool operator==(const Done&, const Done&) = default;
};

struct Load {
  int batches = 4;  // on each CPU
  int batch = 8;
  bool sync = false;
  bool unplug = true;
  bool batch_deletes = false;  // of timers
};

class BlockMachine {
 public:
  BlockMachine(const MachineSpec& spec, const BlockOptions& options, const Load& load, const EngineSpec& engine = {},
               std::uint64_t seed = 1)
      : spec_(spec),
        load_(load),
        small(spec_, engine),
        space(small.machine.store(), &small.machine.homes()),
        locks(space, spec_.cpus),
        layouts(load_layout_file("linux_2_6_20", "").layouts),
        kernel({space, locks, spec_, small.machine.layout(), seed, &layouts}, {.base_cpi = 0.75}),
        slab(kernel, {}),
        timers(kernel, {.jiffy_us = 100, .batch_deletes = load.batch_deletes}),
        barrier_(space, "barrier", spec_.cpus),
        seed_(seed) {
    BlockOptions mine = options;
    mine.done = [this](Cpu& cpu, Io& io) { done(cpu, io); };
    devices_ = static_cast<int>(options.topology.devices.size());
    block = make_block_layer(kernel, timers, slab, mine);
    tick_ = kernel.interrupts().add_handler([this](Cpu& cpu, FunctionId) {
      timers.tick(cpu);
      cpu.set_timer(100000, tick_);
    });
    const int ios = load.batches * load.batch;
    for (int cpu = 0; cpu < spec_.cpus; ++cpu) {
      pending_.push_back(space.place_array(fmt::format("pending[{}]", cpu), 8));
      for (int i = 0; i < ios; ++i) {
        Io& io = ios_.emplace_back();
        io.sync = load.sync;
        io.bio = kernel.place("bio", fmt::format("bio[{}]", ios_.size()), kernel.node_of(cpu));
        io.owner = reinterpret_cast<void*>(ios_.size() - 1);
      }
    }
    completions.resize(ios_.size());
  }

  // Every CPU submits its batches; `at_end` runs on CPU 0 when all have completed.
  void run(const std::function<void(Cpu&)>& at_end = [](Cpu&) {}) {
    small.machine.set_functions(space.functions().size());
    small.run(std::vector<Core::Program>(static_cast<std::size_t>(spec_.cpus), [this, &at_end](Cpu& cpu) {
      kernel.interrupts().start(cpu);
      cpu.set_timer(100000, tick_);
      submit_all(cpu);
      barrier_.wait(cpu);
      cpu.compute(1000000);  // owners learn of the end before the layers are done with an I/O
      if (cpu.id().value == 0) at_end(cpu);
      barrier_.wait(cpu);
    }));
  }

  [[nodiscard]] int submitter_of(std::size_t io) const { return static_cast<int>(io) / (load_.batches * load_.batch); }
  [[nodiscard]] Io& io(std::size_t number) { return ios_[number]; }
  [[nodiscard]] std::size_t ios() const { return ios_.size(); }
  // An object's address. Errors: std::logic_error if it is not in the first part of the memory.
  [[nodiscard]] Address address_of(const std::string& object) {
    constexpr Address kEnd = 0x400000;
    for (; !addresses_.contains(object) && scanned_ < kEnd; scanned_ += 8) {
      const AddressSpace::Place place = space.find(scanned_);
      if (place.object != AddressSpace::kNoObject) addresses_.try_emplace(space.symbol(place).object, scanned_);
    }
    if (!addresses_.contains(object)) throw std::logic_error("no object is called " + object);
    return addresses_.at(object);
  }
  // The value of a field, or whether a list is empty.
  Value value(Cpu& cpu, const std::string& structure, int number, const std::string& field) {
    const FieldPlace place = kernel.field(structure, field);
    return cpu.load(address_of(fmt::format("{}[{}]", structure, number)) + static_cast<Address>(place.offset), place.size);
  }
  bool empty(Cpu& cpu, const std::string& structure, int number, const std::string& list) {
    const FieldPlace place = kernel.list_field(structure, list);
    return list64::empty(cpu, address_of(fmt::format("{}[{}]", structure, number)) + static_cast<Address>(place.offset));
  }
  // The symbol of a miss's address.
  [[nodiscard]] Symbol symbol(const Miss& miss) const { return space.symbol(space.find(miss.address)); }

 private:
  void submit_all(Cpu& cpu) {
    const int me = cpu.id().value;
    Random random(seed_, static_cast<std::uint64_t>(me), 7);
    const Address pending = pending_[static_cast<std::size_t>(me)];
    const std::size_t of_cpu = static_cast<std::size_t>(load_.batches) * static_cast<std::size_t>(load_.batch);
    std::size_t next = static_cast<std::size_t>(me) * of_cpu;
    for (int batch = 0; batch < load_.batches; ++batch) {
      std::vector<int> used;
      cpu.fetch_add(pending, static_cast<Value>(load_.batch));
      for (int i = 0; i < load_.batch; ++i) {
        Io& io = ios_[next++];
        io.device = static_cast<int>(random.below(static_cast<std::uint64_t>(devices_)));
        io.write = random.below(4) == 0;
        used.push_back(io.device);
        block->submit(cpu, io);
      }
      for (const int device : used) {
        if (load_.unplug) block->unplug(cpu, device);
      }
      cpu.spin_until_acquire(pending, [](Value left) { return left == 0; });
      cpu.compute(static_cast<std::int64_t>(random.below(20000)) + 1);
    }
  }
  void done(Cpu& cpu, Io& io) {
    const auto number = reinterpret_cast<std::size_t>(io.owner);
    completions[number].push_back({cpu.id().value, cpu.local_time()});
    cpu.fetch_add(pending_[static_cast<std::size_t>(submitter_of(number))], Value{0} - 1);
  }

  MachineSpec spec_;
  Load load_;

 public:
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  LayoutSet layouts;
  Kernel kernel;
  SlabAllocator slab;
  Timers timers;
  std::unique_ptr<BlockLayer> block;
  std::vector<std::vector<Done>> completions;  // by I/O

 private:
  Barrier barrier_;
  std::uint64_t seed_;
  int devices_ = 0;
  int tick_ = 0;
  std::vector<Address> pending_;  // by CPU
  std::deque<Io> ios_;
  std::map<std::string, Address> addresses_;
  Address scanned_ = 0x10000;
};

// Two adapters, one on each node, each with `disks` disks on the other node; each interrupts two CPUs of one node and one of
// the other.
inline BlockOptions two_adapters(const MachineLayout& layout, int disks) {
  std::vector<std::vector<int>> cpus(2);
  for (std::size_t cpu = 0; cpu < layout.cpus.size(); ++cpu)
    cpus.at(static_cast<std::size_t>(layout.cpus[cpu].node)).push_back(static_cast<int>(cpu));
  BlockOptions options;
  options.most_ios = 600;
  options.topology.service_us = 50;
  for (int adapter = 0; adapter < 2; ++adapter) {
    const auto& near = cpus[0];
    const auto& far = cpus[1];
    options.topology.adapters.push_back(
        {.node = 1, .interrupt_cpus = {near[0], far[static_cast<std::size_t>(adapter) % far.size()], near[near.size() - 1]}});
    for (int disk = 0; disk < disks; ++disk) options.topology.devices.push_back({.adapter = adapter, .node = 0});
  }
  return options;
}

}  // namespace linebounce::test
