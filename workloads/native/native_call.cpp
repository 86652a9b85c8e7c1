#include "workloads/native/native_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "models/failure.hpp"

namespace linebounce::workloads {
namespace {

// gcc adds higher bits to memory orders, for lock elision.
constexpr int kOrderBits = 0x7fff7fff;

Value low_bytes_of(Value value, int bytes) {
  return value & ~Value{0} >> (64 - 8 * bytes);
}

std::uint64_t on_access(NativeCall* call, int access, const volatile void* at, int bytes, int order, std::uint64_t operand,
                        std::uint64_t expected, const void* site) {
  const char* const frame = static_cast<const char*>(__builtin_frame_address(0)) + 2 * sizeof(void*);
  return call->access(static_cast<NativeAccess>(access), at, bytes, order & kOrderBits, operand, expected, site, frame);
}
void on_range(NativeCall* call, int access, const volatile void* at, std::size_t bytes, const void* site) {
  call->range(static_cast<NativeAccess>(access), at, bytes, site);
}
void* on_thread_local(NativeCall* call, std::size_t offset) {
  if (call == nullptr) throw ModelFailure("a lock in C: init() uses a thread-local variable, but runs on no CPU");
  return call->thread_local_at(offset);
}
void on_fail(NativeCall* call, const char* what, const void* site) {
  if (call == nullptr) throw ModelFailure(fmt::format("a lock in C fails in init(): {}", what));
  call->fail(what, site);
}
int on_machine(NativeCall* call, int what, int argument) {
  return call == nullptr ? 0 : call->machine(what, argument);
}

std::uint64_t on_now_ns(NativeCall* call) {
  return call == nullptr ? 0 : call->now_ns();
}

bool on_fails_weakly(const NativeCall* call) {
  return call->fails_weakly();
}

void on_initialises(const LockObject* object, const void* site) {
  object->note_initial(site);
}

void* on_of_cpu(NativeCall* call, void* own, int cpu) {
  if (call == nullptr) throw ModelFailure("a lock in C: init() uses another CPU's variable");
  return call->of_cpu(own, cpu);
}

// The address sanitizer does not know the frames of the lock's code.
#if defined(__clang__) || defined(__GNUC__)
__attribute__((no_sanitize("address")))
#endif
bool equal_stacks(const char* a, const char* b, std::size_t bytes) {
  bool equal = true;
  for (std::size_t i = 0; i < bytes && equal; i += sizeof(Value))
    equal = *reinterpret_cast<const Value*>(a + i) == *reinterpret_cast<const Value*>(b + i);
  return equal;
}

#if defined(__clang__) || defined(__GNUC__)
__attribute__((no_sanitize("address")))
#endif
void copy_stack(char* to, const char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(Value))
    *reinterpret_cast<Value*>(to + i) = *reinterpret_cast<const Value*>(from + i);
}

// runtime.c puts the order of a compare-exchange that fails above that of one that succeeds.
constexpr int kFailureShift = 16, kSuccess = (1 << kFailureShift) - 1;

MemoryOrder memory_order(int order) {
  switch (order) {
    case NativeOrder::kRelaxed: return MemoryOrder::relaxed;
    case NativeOrder::kConsume:
    case NativeOrder::kAcquire: return MemoryOrder::acquire;
    case NativeOrder::kRelease: return MemoryOrder::release;
    case NativeOrder::kBoth: return MemoryOrder::both;
    default: return MemoryOrder::sequential;
  }
}

// The new value of a word for a change that Cpu has no operation for.
Value changed_by(NativeAccess access, Value before, Value operand) {
  switch (access) {
    case NativeAccess::fetch_and: return before & operand;
    case NativeAccess::fetch_or: return before | operand;
    case NativeAccess::fetch_xor: return before ^ operand;
    default: return ~(before & operand);
  }
}

// The value of a word after an atomic operation that has found `before`.
Value value_after(NativeAccess access, Value before, Value operand, Value expected) {
  switch (access) {
    case NativeAccess::store:
    case NativeAccess::exchange: return operand;
    case NativeAccess::fetch_add: return before + operand;
    case NativeAccess::compare_exchange:
    case NativeAccess::compare_exchange_weak: return before == expected ? operand : before;
    default: return changed_by(access, before, operand);
  }
}

}  // namespace

const NativeHooks& native_hooks() {
  static const NativeHooks kHooks = {on_access, on_range,  on_thread_local, on_fail,       on_machine,
                                     on_now_ns, on_of_cpu, on_fails_weakly, on_initialises};
  return kHooks;
}

NativeCall::NativeCall(Cpu& cpu, NativeMemory& memory, const WaitsIn* waits_in)
    : cpu_(&cpu), memory_(&memory), waits_in_(waits_in), level_(memory.running(cpu.id().value)++) {}

NativeCall::~NativeCall() {
  --memory_->running(cpu_->id().value);
  if (stack_is_published_) own_stack().forget(0, NativeMemory::kStackBytes);
  memory_->object().resume(nullptr);
}

std::uintptr_t NativeCall::run(LockObject::Function function, Address lock) {
  if (level_ >= NativeMemory::kLevels) fail("more than four of its functions run at once on this CPU", nullptr);
  const std::uintptr_t result = memory_->object().run(function, NativeMemory::host(lock), this, &top_);
  write_pending();
  charge(nullptr, false);
  if (caller_) cpu_->leave_function(*caller_);
  return result;
}

void NativeCall::fail(const std::string& what, const void* site) const {
  const NativeSite* const at = memory_->object().site(site);
  const std::string place = at == nullptr ? memory_->name() : fmt::format("{}:{}", at->file, at->line);
  fail_at(place, what);
}

void NativeCall::fail_at(const std::string& place, const std::string& what) const {
  throw ModelFailure(fmt::format("{}: CPU {}: {}", place, cpu_->id().value, what));
}

void* NativeCall::thread_local_at(std::size_t offset) {
  return NativeMemory::host(memory_->thread_locals(cpu_->id().value) + offset);
}

void* NativeCall::of_cpu(void* own, int cpu) const {
  const Address mine = memory_->thread_locals(cpu_->id().value);
  const Address offset = *memory_->simulated(own) - mine;
  if (cpu < 0 || cpu >= memory_->per_cpu().cpus())
    fail(fmt::format("uses a variable of CPU {}, which does not exist", cpu), nullptr);
  if (offset >= memory_->object().thread_local_bytes()) fail("linebounce_of_cpu: this is not a thread-local variable", nullptr);
  return NativeMemory::host(memory_->thread_locals(cpu) + offset);
}

int NativeCall::machine(int what, int argument) const {
  const CpuObjects& cpus = memory_->per_cpu();
  switch (what) {
    case 0: return cpu_->id().value;
    case 1: return cpus.cpus();
    default: {
      const auto cpu = static_cast<std::size_t>(argument);
      if (cpu >= cpus.places().size()) return 0;
      return what == 2 ? cpus.places()[cpu].os_node : cpus.places()[cpu].cache;
    }
  }
}

// ---- addresses and values ----

std::optional<Address> NativeCall::on_stack(const volatile void* at) const {
  const auto below_top = static_cast<std::size_t>(top_ - static_cast<const volatile char*>(at));
  if (below_top == 0 || below_top > NativeMemory::kStackBytes) return std::nullopt;
  return memory_->stack_end(cpu_->id().value, level_) - below_top;
}

NativeCall::Target NativeCall::target(NativeAccess access, const volatile void* at, int bytes, const void* site) const {
  if (const auto simulated = memory_->simulated(at)) {
    if ((*simulated & static_cast<Address>(bytes - 1)) != 0) fail(fmt::format("accesses {} unaligned bytes", bytes), site);
    return {*simulated, true};
  }
  if (const auto stack = on_stack(at)) return {*stack, stack_is_published_};
  if (access == NativeAccess::read && memory_->object().is_constant(at)) return {};
  fail(
      fmt::format("accesses 0x{:x}, which is neither the lock nor a variable of its file", reinterpret_cast<std::uint64_t>(at)),
      site);
}

// Called for each stored value. If it is a pointer to the code's own stack, other CPUs can see that part of the stack from
// now on.
Value NativeCall::stored(Value value, int bytes) {
  if (bytes < 8) return low_bytes_of(value, bytes);
  if (const auto stack = on_stack(reinterpret_cast<const void*>(value))) {
    publish_stack();
    return mirror() + *stack;
  }
  return memory_->stored(value);
}

Value NativeCall::loaded(Value value, int bytes) const {
  if (bytes < 8) return value;
  const Value below_end = mirror() + memory_->stack_end(cpu_->id().value, level_) - value;
  if (below_end - 1 < NativeMemory::kStackBytes) return reinterpret_cast<Value>(top_) - below_end;
  return memory_->loaded(value);
}

void NativeCall::publish_stack() {
  if (stack_is_published_) return;
  stack_is_published_ = true;
  memory_->share_stacks();
  for (const Pending& written : std::exchange(unpublished_, {})) write_back(written.at, *on_stack(written.at), written.bytes);
}

// Notes each place once, for write_back() takes its latest value: of a loop's stores to a local variable, the last one counts.
void NativeCall::note_unpublished(const Pending& written) {
  if (std::ranges::find(unpublished_, written) == unpublished_.end()) unpublished_.push_back(written);
}

// ---- stores to the code's own stack that the compiler has not reported ----

// Forgets what functions that have returned left on the stack. `frame`: the lowest address of the code's stack.
void NativeCall::forget_returned(const char* frame) {
  if (!stack_is_published_) return;
  const char* const bottom = top_ - NativeMemory::kStackBytes;
  if (lowest_ != nullptr && frame > std::max(lowest_, bottom)) {
    const char* const first = std::max(lowest_, bottom);
    own_stack().forget(static_cast<std::size_t>(first - bottom), static_cast<std::size_t>(frame - first));
  }
  lowest_ = frame;
}

void NativeCall::note_own(const volatile void* at, Address address, int bytes) {
  if (!stack_is_published_ || !on_stack(at)) return;
  own_stack().note_own(memory_->stack_byte(address).at, static_cast<const char*>(const_cast<const void*>(at)),
                       static_cast<std::size_t>(bytes));
}

void NativeCall::note_write(const volatile void* at, Address address, int bytes) {
  if (on_stack(at)) {
    note_own(at, address, bytes);
  } else if (const auto [stack, byte] = memory_->stack_byte(address); stack != nullptr) {
    stack->note_other(byte, static_cast<std::size_t>(bytes));
  }
}

bool NativeCall::lacks_store(const volatile void* at, Address address, int bytes) const {
  return stack_is_published_ && on_stack(at) &&
         !own_stack().is_newest(memory_->stack_byte(address).at, static_cast<const char*>(const_cast<const void*>(at)),
                                static_cast<std::size_t>(bytes));
}

// Returns the newest value of a word in which a load has found `seen`, in the form of simulated memory. If that memory lacks
// a store, makes it now, at the cost of any store.
Value NativeCall::newest(Value seen, const volatile void* at, Address address, int bytes) {
  if (!lacks_store(at, address, bytes)) return seen;
  Value value = 0;
  std::memcpy(&value, const_cast<const void*>(at), static_cast<std::size_t>(bytes));
  value = stored(value, bytes);
  if (value == seen) {
    note_own(at, address, bytes);
  } else {
    turn_.clear();
    write_back(at, address, static_cast<std::size_t>(bytes));
  }
  return value;
}

// ---- time ----

// Charges the time between two loads of a spin, as Cpu::spin does.
void NativeCall::charge(const void* site, bool is_next_turn) {
  const int pauses = memory_->object().take_pauses();
  if (is_next_turn) {
    cpu_->compute(Cpu::kSpinPause);
  } else if (const NativeSite* const known = memory_->object().site(site); known != nullptr && known->instructions > 0) {
    cpu_->execute(known->instructions);
  }
  if (pauses > 0) {
    note_wait();
    if (const std::int64_t cycles = std::int64_t{memory_->pause_cycles()} * pauses; cycles > 0) cpu_->compute(cycles);
  }
  loop_ = pauses > 0 ? Cpu::Loop::pauses : Cpu::Loop::tight;
  resume();
}

void NativeCall::note_wait() {
  waited_ = true;
  if (waits_in_ != nullptr && !caller_) caller_ = cpu_->enter_function(waits_in_->of(*cpu_));
}

// For the checker, which says what of the code it has run.
void NativeCall::note_run(const void* site) const {
  Draws* const draws = memory_->per_cpu().draws();
  if (draws == nullptr) return;
  if (const NativeSite* const known = memory_->object().site(site)) draws->ran(known->number);
}

// A look at the clock is an operation of Cpu, as an access is: other CPUs' code may run meanwhile. Time passes, so a loop that
// looks at the clock does not do the same again, and is no spin.
std::uint64_t NativeCall::now_ns() {
  write_pending();
  charge(nullptr, false);
  turn_.clear();
  const double now = cpu_->now_ns();
  resume();
  return static_cast<std::uint64_t>(now);
}

// ---- accesses ----

Value NativeCall::access(NativeAccess access, const volatile void* at, int bytes, int order, Value operand, Value expected,
                         const void* site, const char* frame) {
  write_pending();
  note_run(site);
  forget_returned(frame);
  if (access == NativeAccess::fence) {
    charge(site, false);
    turn_.clear();
    fence(memory_->object().order_at(memory_->object().site(site), NativeOrder::Kind::fence, order));
    resume();
    return 0;
  }
  const Target place = target(access, at, bytes, site);
  order = order_at(access, site, order);
  const bool looks = access == NativeAccess::read || access == NativeAccess::load;
  load_order_ = access == NativeAccess::load ? memory_order(order) : MemoryOrder::relaxed;
  charge(site, looks && place.is_simulated && is_next_turn(site, place.address, bytes));
  if (access <= NativeAccess::write) {
    plain(access, at, bytes, place, site, frame);
    return 0;
  }
  if (access == NativeAccess::load) {
    if (!place.is_simulated) {
      Value value = 0;
      std::memcpy(&value, const_cast<const void*>(at), static_cast<std::size_t>(bytes));
      return value;
    }
    return loaded(look(site, at, place.address, bytes, frame), bytes);
  }
  turn_.clear();
  if (!place.is_simulated) publish_stack();
  const Value to = stored(operand, bytes);
  const Value from = stored(expected, bytes);
  if (access != NativeAccess::store && lacks_store(at, place.address, bytes))
    write_back(at, place.address, static_cast<std::size_t>(bytes));
  const Value before = atomic(access, place.address, bytes, order, to, from);
  resume();
  if (on_stack(at)) {  // other code may load the variable without reporting it
    const Value after = loaded(fails_weakly_ ? before : value_after(access, before, to, from), bytes);
    std::memcpy(const_cast<void*>(at), &after, static_cast<std::size_t>(bytes));
  }
  note_write(at, place.address, bytes);
  return loaded(before, bytes);
}

// The order of an atomic operation that succeeds, as the code or a trial has it; that of one that fails stays as it is.
int NativeCall::order_at(NativeAccess access, const void* site, int order) const {
  if (access <= NativeAccess::write) return order;
  const NativeOrder::Kind kind = access == NativeAccess::load    ? NativeOrder::Kind::load
                                 : access == NativeAccess::store ? NativeOrder::Kind::store
                                                                 : NativeOrder::Kind::update;
  const LockObject& object = memory_->object();
  return (order & ~kSuccess) | object.order_at(object.site(site), kind, order & kSuccess);
}

// Prepares a plain access. The code makes the access itself when this function returns.
void NativeCall::plain(NativeAccess access, const volatile void* at, int bytes, const Target& target, const void* site,
                       const char* frame) {
  if (access == NativeAccess::write) {
    turn_.clear();
    if (target.is_simulated) {
      pending_ = {at, static_cast<std::size_t>(bytes)};
    } else {
      note_unpublished({at, static_cast<std::size_t>(bytes)});
    }
  } else if (target.is_simulated) {
    const Value value = loaded(look(site, at, target.address, bytes, frame), bytes);
    std::memcpy(const_cast<void*>(at), &value, static_cast<std::size_t>(bytes));
    note_own(at, target.address, bytes);
  }
}

// The size of the largest aligned word at the beginning of these bytes.
int NativeCall::word_at(Address address, std::size_t bytes) {
  int word = 8;
  while ((address & static_cast<Address>(word - 1)) != 0 || static_cast<std::size_t>(word) > bytes) word /= 2;
  return word;
}

void NativeCall::range(NativeAccess access, const volatile void* at, std::size_t bytes, const void* site) {
  if (bytes == 0) return;
  write_pending();
  charge(site, false);
  turn_.clear();
  const Target place = target(access, at, 1, site);
  if (access == NativeAccess::write) {
    place.is_simulated ? static_cast<void>(pending_ = {at, bytes}) : note_unpublished({at, bytes});
    return;
  }
  if (!place.is_simulated) return;
  auto* to = static_cast<char*>(const_cast<void*>(at));
  for (std::size_t done = 0; done < bytes;) {
    const int word = word_at(place.address + done, bytes - done);
    const Value seen = cpu_->load(place.address + done, word);
    resume();
    const Value value = loaded(newest(seen, to + done, place.address + done, word), word);
    std::memcpy(to + done, &value, static_cast<std::size_t>(word));
    note_own(to + done, place.address + done, word);
    done += static_cast<std::size_t>(word);
  }
}

void NativeCall::write_pending() {
  if (!pending_) return;
  const Pending written = *std::exchange(pending_, std::nullopt);
  const auto simulated = memory_->simulated(written.at);
  write_back(written.at, simulated ? *simulated : *on_stack(written.at), written.bytes);
}

void NativeCall::write_back(const volatile void* at, Address to, std::size_t bytes) {
  const auto* from = static_cast<const char*>(const_cast<const void*>(at));
  for (std::size_t done = 0; done < bytes;) {
    const int word = word_at(to + done, bytes - done);
    Value value = 0;
    std::memcpy(&value, from + done, static_cast<std::size_t>(word));
    const Value in_memory = stored(value, word);
    cpu_->store(to + done, in_memory, word);
    resume();
    note_write(from + done, to + done, word);
    done += static_cast<std::size_t>(word);
  }
}

void NativeCall::fence(int order) {
  if (order == NativeOrder::kSequential) {
    cpu_->fence();
  } else if (order == NativeOrder::kRelease || order == NativeOrder::kBoth) {
    cpu_->store_fence();
  }
  if (order == NativeOrder::kConsume || order == NativeOrder::kAcquire || order == NativeOrder::kBoth) cpu_->load_fence();
}

MemoryOrder NativeCall::update_order(int order) const {
  const bool is_full = order == NativeOrder::kSequential && memory_->object().has_kernel_orders();
  return is_full ? MemoryOrder::full : memory_order(order);
}

// Simulated atomic operations are full fences, whatever the order.
Value NativeCall::atomic(NativeAccess access, Address address, int bytes, int order, Value operand, Value expected) {
  fails_weakly_ = false;
  if (access == NativeAccess::store) {
    if (order == NativeOrder::kSequential) cpu_->order_next(MemoryOrder::sequential_store);
  } else {
    cpu_->order_next(update_order(order & kSuccess), memory_order(order >> kFailureShift));
  }
  switch (access) {
    case NativeAccess::store:
      if (order == NativeOrder::kSequential) return cpu_->exchange(address, operand, bytes);
      order == NativeOrder::kRelaxed ? cpu_->store(address, operand, bytes) : cpu_->store_release(address, operand, bytes);
      return 0;
    case NativeAccess::exchange: return cpu_->exchange(address, operand, bytes);
    case NativeAccess::fetch_add: return cpu_->fetch_add(address, operand, bytes);
    case NativeAccess::compare_exchange: return cpu_->compare_exchange(address, expected, operand, bytes);
    case NativeAccess::compare_exchange_weak: return exchange_weakly(address, bytes, operand, expected);
    default: return change(access, address, bytes, operand, update_order(order & kSuccess));
  }
}

// Simulated machines' compare-exchanges never fail for no reason; a checker may let them.
Value NativeCall::exchange_weakly(Address address, int bytes, Value operand, Value expected) {
  Draws* const draws = memory_->per_cpu().draws();
  if (draws == nullptr) return cpu_->compare_exchange(address, expected, operand, bytes);
  const auto found = draws->compare_exchange_weak(*cpu_, address, expected, operand, bytes);
  fails_weakly_ = found == expected;
  return found.value_or(expected);
}

// Runs an operation that Cpu does not have as a loop of compare-exchanges. The first one mostly fails, but fetches the line
// for the next one.
Value NativeCall::change(NativeAccess access, Address address, int bytes, Value operand, MemoryOrder order) {
  for (Value guess = 0;;) {
    cpu_->order_next(order);
    const Value after = low_bytes_of(changed_by(access, guess, operand), bytes);
    const Value before = cpu_->compare_exchange(address, guess, after, bytes);
    if (before == guess) return before;
    guess = before;
  }
}

// ---- spins ----

bool NativeCall::is_next_turn(const void* site, Address address, int bytes) const {
  return !turn_.empty() && turn_.front().site == site && turn_.front().address == address && turn_.front().bytes == bytes;
}

// Detects a spin. The code between two calls of a hook depends only on its registers and its stack. Suppose it returns to the
// same load with the same registers and stack, and has only loaded words in between. Then it repeats this until one of these
// words changes.
Value NativeCall::look(const void* site, const volatile void* at, Address address, int bytes, const char* frame) {
  const bool again = is_next_turn(site, address, bytes);
  if (again && state_is_kept(frame)) return spin();
  if (again || turn_.size() == kMostLooks || (!turn_.empty() && turn_.front().bytes != bytes)) turn_.clear();
  if (turn_.empty()) keep_state(frame);
  cpu_->order_next(load_order_);
  const Value seen = cpu_->load(address, bytes);
  resume();
  turn_.push_back({site, address, bytes, seen});
  return newest(seen, at, address, bytes);
}

Value NativeCall::spin() {
  std::array<Address, kMostLooks> addresses = {};
  std::array<Value, kMostLooks> values = {};
  const std::size_t words = turn_.size();
  for (std::size_t i = 0; i < words; ++i) addresses[i] = turn_[i].address;
  const auto has_changed = [this](std::span<const Value> now) {
    bool same = true;
    for (std::size_t i = 0; i < now.size(); ++i) same = same && now[i] == turn_[i].seen;
    return !same;
  };
  note_wait();
  cpu_->order_next(load_order_);
  cpu_->spin_until_any(std::span(addresses).first(words), std::span(values).first(words), has_changed, turn_.front().bytes,
                       loop_);
  resume();
  turn_.resize(1);
  return turn_.front().seen = values[0];
}

void NativeCall::keep_state(const char* frame) {
  state_.resize(static_cast<std::size_t>(top_ - frame));
  copy_stack(state_.data(), frame, state_.size());
}

bool NativeCall::state_is_kept(const char* frame) const {
  const auto bytes = static_cast<std::size_t>(top_ - frame);
  return bytes == state_.size() && equal_stacks(state_.data(), frame, bytes);
}

}  // namespace linebounce::workloads
