#include "workloads/program/shootdown.hpp"

#include <fmt/format.h>

#include <string>

namespace linebounce::workloads {
namespace {

// Offsets of a request's fields, as in Linux's call_single_data. `next` is the address of the next request, or 0.
constexpr Address kRequestNext = 0;
constexpr Address kRequestPending = 8;
constexpr Address kRequestSender = 16;
// Offsets of an order's fields, as in Linux's flush_tlb_info.
constexpr Address kOrderFirst = 0;
constexpr Address kOrderPages = 8;

}  // namespace

Shootdowns::Shootdowns(AddressSpace& memory, std::span<const CpuPlace> places, Interrupts& interrupts)
    : flush_(memory.function("flush_tlb_range", Mode::kernel)),
      wait_(memory.function("shootdown_wait", Mode::kernel)),
      receive_(memory.function("flush_tlb_func", Mode::kernel)),
      vector_(interrupts.add_handler([this](Cpu& cpu, FunctionId) { receive(cpu); })) {
  const int line = memory.line_bytes();
  const Layout order{.name = "flush_tlb_info", .size = 16, .fields = {{"first", 0}, {"pages", 8}}};
  const Layout head{.name = "call_single_queue", .size = 8, .fields = {{"first", 0}}};
  const Layout request{.name = "call_single_data", .size = 24, .fields = {{"next", 0}, {"pending", 8}, {"sender", 16}}};
  for (std::size_t cpu = 0; cpu < places.size(); ++cpu) {
    const Home here = Home::near(places[cpu]);
    orders_.push_back(memory.place(order, fmt::format("flush_tlb_info[{}]", cpu), line, here));
    heads_.push_back(memory.place(head, fmt::format("call_single_queue[{}]", cpu), line, here));
  }
  for (std::size_t sender = 0; sender < places.size(); ++sender) {
    for (std::size_t receiver = 0; receiver < places.size(); ++receiver) {
      const Home there = Home::near(places[receiver]);
      const std::string name = fmt::format("call_single_data[{}][{}]", sender, receiver);
      requests_.push_back(memory.place(request, name, line, there));
      memory.preset(requests_.back() + kRequestSender, sender);
    }
  }
}

void Shootdowns::shoot_down(Cpu& cpu, std::span<const CpuId> targets, Address first, std::int64_t pages) {
  const FunctionScope flushing(cpu, flush_);
  const Address order = orders_[cpu.id().value];
  cpu.store(order + kOrderFirst, first);
  cpu.store(order + kOrderPages, static_cast<Value>(pages));
  for (const CpuId target : targets) {
    if (target != cpu.id()) send(cpu, target);
  }
  cpu.invalidate_pages(first, pages);
  const FunctionScope waiting(cpu, wait_);
  for (const CpuId target : targets) {
    if (target == cpu.id()) continue;
    cpu.spin_until_acquire(request(cpu.id().value, target.value) + kRequestPending, [](Value pending) { return pending == 0; });
  }
}

// The compare-exchange that links the request is also a fence, so a receiver that sees the request sees the whole order.
void Shootdowns::send(Cpu& cpu, CpuId target) {
  const Address mine = request(cpu.id().value, target.value);
  const Address head = heads_[target.value];
  cpu.store(mine + kRequestPending, 1);
  Value first = cpu.load(head);
  for (;;) {
    cpu.store(mine + kRequestNext, first);
    const Value found = cpu.compare_exchange(head, first, mine);
    if (found == first) break;
    first = found;
  }
  if (first == 0) cpu.send_ipi(target, vector_);
}

void Shootdowns::receive(Cpu& cpu) {
  const FunctionScope receiving(cpu, receive_);
  for (Address next = cpu.exchange(heads_[cpu.id().value], 0); next != 0;) {
    const Address request = next;
    // Reads the order before the acknowledgement, which lets the sender reuse the request.
    next = cpu.load(request + kRequestNext);
    const Address order = orders_[cpu.load(request + kRequestSender)];
    const Address first = cpu.load(order + kOrderFirst);
    cpu.invalidate_pages(first, static_cast<std::int64_t>(cpu.load(order + kOrderPages)));
    cpu.store_release(request + kRequestPending, 0);
  }
}

}  // namespace linebounce::workloads
