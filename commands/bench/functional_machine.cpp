#include "commands/bench/functional_machine.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>

namespace linebounce::sim {

// The interface of one line to the protocol's rows. Without time, the data step follows the order step at once.
class FunctionalMachine::Line {
 public:
  Line(FunctionalMachine& machine, LineAddr line) : machine_(machine), slot_(machine.store_.slot(line)) {}

  [[nodiscard]] const std::vector<int>& snoopers(MessageId) const { return machine_.holders_; }
  [[nodiscard]] StateId state(int cpu) const { return found(cpu)->state; }
  void set_state(int cpu, StateId state) { agent(cpu).set_state(*found(cpu), state); }
  [[nodiscard]] StateId memory_state() const { return 0; }
  void set_memory_state(StateId) {}
  void copy_to_bus(int cpu) {
    data_ = agent(cpu).data(*found(cpu));
    version_ = found(cpu)->version;
  }
  void memory_to_bus() {
    data_ = machine_.store_.memory_data(slot_);
    version_ = machine_.store_.memory_version(slot_);
  }
  void bus_to_copy(int cpu) {
    std::memcpy(agent(cpu).data(*found(cpu)), data_, machine_.store_.line_bytes());
    found(cpu)->version = version_;
  }
  void bus_to_memory() { machine_.store_.write_memory(slot_, data_, version_); }
  void complete(int) {}
  void send_word(int) {}  // no update to send: Processor stores the word itself, at once
  void apply_word(int cpu) { machine_.word_takers_.emplace_back(cpu, found(cpu)); }
  void operate(int) {}  // nothing to do: here an atomic operation is a plain store
  void issue(int, MessageId message) { issued_ = message; }
  void free(int cpu) { agent(cpu).drop(*found(cpu)); }
  void on_transition(Controller, int, StateId, EventId, StateId) {}

  [[nodiscard]] MessageId issued() const { return issued_; }

 private:
  [[nodiscard]] Copy* found(int cpu) const { return machine_.found_[cpu]; }
  [[nodiscard]] CacheAgent& agent(int cpu) const { return machine_.agents_[cpu]; }

  FunctionalMachine& machine_;
  Slot slot_;
  const std::byte* data_ = nullptr;
  Version version_ = 0;
  MessageId issued_ = 0;
};

struct FunctionalMachine::Gate {
  FunctionalMachine& machine;
  int cpu;
  [[nodiscard]] static bool may_leave(const Copy&) { return true; }
  void leave(Copy& copy) {
    const LineAddr line_addr = copy.line;
    Line line(machine, line_addr);
    machine.found_[cpu] = &copy;
    if (access_step(machine.protocol_, line, cpu, kEvict) == AccessResult::freed) return;
    machine.agents_[cpu].detach(copy);
    machine.transact(cpu, line_addr, line.issued());
  }
};

FunctionalMachine::FunctionalMachine(const MachineSpec& spec, const Protocol& protocol)
    : store_(spec.caches.back().line_bytes), protocol_(protocol), found_(spec.cpus) {
  for (const Message& message : protocol_.messages) {
    if (!message.absent_ignores) throw std::invalid_argument("functional mode: every cache would have to be asked");
  }
  for (int cpu = 0; cpu < spec.cpus; ++cpu)
    agents_.emplace_back(cpu, spec.caches, protocol_.cache, store_, spec.cpu.write_back_buffers);
}

Copy& FunctionalMachine::access_slowly(int cpu, Address address, Access access) {
  CacheAgent& agent = agents_[cpu];
  Gate gate{*this, cpu};
  CacheAgent::Lookup lookup = agent.look_up(address);
  if (lookup.copy == nullptr) lookup.copy = agent.allocate(store_.line_of(address), age_, gate);
  Line line(*this, lookup.copy->line);
  found_[cpu] = lookup.copy;
  if (access_step(protocol_, line, cpu, access == kReadAccess ? kLoad : kStore) == AccessResult::issued) {
    transact(cpu, lookup.copy->line, line.issued());
  }
  if (lookup.level > 0) agent.use(address, lookup.level, age_);
  if (lookup.level != 0) agent.promote(*lookup.copy, address, age_, gate);
  return *lookup.copy;
}

void FunctionalMachine::transact(int cpu, LineAddr line_addr, MessageId message) {
  holders_.clear();
  for (std::uint64_t rest = store_.holders(store_.slot(line_addr)); rest != 0; rest &= rest - 1) {
    const int holder = std::countr_zero(rest);
    found_[holder] = agents_[holder].find(line_addr);
    holders_.push_back(holder);
  }
  Line line(*this, line_addr);
  const OrderOutcome outcome = order_step(protocol_, line, message, cpu);
  std::optional<MessageId> again = outcome.reissued;
  if (outcome.needs_data_step) again = data_step(protocol_, line, cpu);
  if (again) transact(cpu, line_addr, *again);
}

void FunctionalMachine::apply_word(Version version, Address address, Value value) {
  for (const auto& [cpu, copy] : word_takers_) {
    if (copy->version + 1 != version) stale();
    write_word(word(cpu, *copy, address), 8, value);
    copy->version = version;
  }
  word_takers_.clear();
}

void FunctionalMachine::stale() {
  throw std::logic_error("functional mode: a stale copy was used");
}

}  // namespace linebounce::sim
