// Source: Linux's tools/memory-model/Documentation and Documentation/atomic_t.txt, and C11, 7.17.
#include "litmus/kernel_calls.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace linebounce::sim::litmus {
namespace {

using CallKind = KernelCall::Kind;
using Returns = KernelCall::Returns;
using Op = Expression::Op;

struct Named {
  std::string_view name;
  KernelCall call;
};

constexpr Tags kOnce = tag(Tag::once), kAcquire = tag(Tag::acquire), kRelease = tag(Tag::release), kFull = tag(Tag::full_fence);

const std::array<Named, 52>& fixed_calls() {
  const auto load = [](Tags tags, bool is_lvalue) {
    return KernelCall{.kind = CallKind::load, .returns = Returns::old, .tags = tags, .is_place_an_lvalue = is_lvalue};
  };
  const auto store = [](Tags tags, bool is_lvalue, Tags fence = 0) {
    return KernelCall{.kind = CallKind::store, .tags = tags, .fence = fence, .is_place_an_lvalue = is_lvalue};
  };
  const auto fence = [](Tag one) { return KernelCall{.kind = CallKind::fence, .tags = tag(one)}; };
  const auto domain = [](Tag one, Returns returns = Returns::nothing) {
    return KernelCall{.kind = CallKind::domain, .returns = returns, .tags = tag(one)};
  };
  static const std::array<Named, 52> kCalls = {{
      {"READ_ONCE", load(kOnce, true)},
      {"rcu_dereference", load(kOnce, true)},
      {"rcu_dereference_check", load(kOnce, true)},
      {"lockless_dereference", load(kOnce, true)},
      {"smp_load_acquire", load(kAcquire, false)},
      {"atomic_read", load(kOnce, false)},
      {"atomic_read_acquire", load(kAcquire, false)},
      {"atomic64_read", load(kOnce, false)},
      {"atomic_long_read", load(kOnce, false)},
      {"WRITE_ONCE", store(kOnce, true)},
      {"rcu_assign_pointer", store(kRelease, true)},
      {"smp_store_release", store(kRelease, false)},
      {"smp_store_mb", store(kOnce, true, kFull)},
      {"set_mb", store(kOnce, true, kFull)},
      {"atomic_set", store(kOnce, false)},
      {"atomic_set_release", store(kRelease, false)},
      {"atomic64_set", store(kOnce, false)},
      {"atomic_long_set", store(kOnce, false)},
      {"smp_mb", fence(Tag::full_fence)},
      {"mb", fence(Tag::full_fence)},
      {"smp_rmb", fence(Tag::load_fence)},
      {"smp_wmb", fence(Tag::store_fence)},
      {"smp_mb__before_atomic", fence(Tag::before_atomic)},
      {"smp_mb__after_atomic", fence(Tag::after_atomic)},
      {"smp_mb__after_spinlock", fence(Tag::after_spinlock)},
      {"smp_mb__after_unlock_lock", fence(Tag::after_unlock_lock)},
      {"smp_mb__after_srcu_read_unlock", fence(Tag::after_srcu_unlock)},
      {"barrier", fence(Tag::compiler_fence)},
      {"atomic_signal_fence", {.kind = CallKind::nothing}},
      {"smp_read_barrier_depends", {.kind = CallKind::nothing}},
      {"rcu_read_lock", fence(Tag::rcu_lock)},
      {"rcu_read_unlock", fence(Tag::rcu_unlock)},
      {"synchronize_rcu", fence(Tag::rcu_grace)},
      {"synchronize_rcu_expedited", fence(Tag::rcu_grace)},
      {"srcu_read_lock", domain(Tag::srcu_lock, Returns::old)},
      {"srcu_read_unlock", domain(Tag::srcu_unlock)},
      {"synchronize_srcu", domain(Tag::srcu_grace)},
      {"synchronize_srcu_expedited", domain(Tag::srcu_grace)},
      {"spin_lock", {.kind = CallKind::lock}},
      {"raw_spin_lock", {.kind = CallKind::lock}},
      {"spin_trylock", {.kind = CallKind::try_lock, .returns = Returns::has_changed}},
      {"raw_spin_trylock", {.kind = CallKind::try_lock, .returns = Returns::has_changed}},
      {"spin_unlock", store(kRelease | tag(Tag::unlock), false)},
      {"raw_spin_unlock", store(kRelease | tag(Tag::unlock), false)},
      {"spin_is_locked", load(tag(Tag::lock_looked_at), false)},
      {"raw_spin_is_locked", load(tag(Tag::lock_looked_at), false)},
      {"atomic_add_unless", {.kind = CallKind::add_unless, .returns = Returns::has_changed, .is_fenced = true}},
      {"atomic_inc_not_zero", {.kind = CallKind::add_unless, .returns = Returns::has_changed, .is_fenced = true, .operand = 1}},
      // C11. Without "_explicit", the order is memory_order_seq_cst.
      {"atomic_load", {.kind = CallKind::load, .returns = Returns::old, .is_c11 = true}},
      {"atomic_store", {.kind = CallKind::store, .is_c11 = true}},
      {"atomic_exchange", {.kind = CallKind::exchange, .returns = Returns::old, .is_c11 = true}},
      {"atomic_thread_fence", {.kind = CallKind::fence, .is_c11 = true}},
  }};
  return kCalls;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "_relaxed", "_acquire" or "_release", or a full barrier if there is no such word.
bool take_order(std::string_view& name, KernelCall& call) {
  if (name.empty()) {
    call.tags = call.store_tags = kOnce;
    call.is_fenced = true;
    return true;
  }
  call.tags = name == "_acquire" ? kAcquire : kOnce;
  call.store_tags = name == "_release" ? kRelease : kOnce;
  return name == "_acquire" || name == "_release" || name == "_relaxed";
}

// xchg(), cmpxchg(), with the prefix of an atomic type or without one, and with an order or without one.
std::optional<KernelCall> exchange_call(std::string_view name) {
  KernelCall call{.returns = Returns::old};
  if (take(name, "cmpxchg")) {
    call.kind = CallKind::compare;
  } else if (take(name, "xchg")) {
    call.kind = CallKind::exchange;
  } else {
    return std::nullopt;
  }
  return take_order(name, call) ? std::optional(call) : std::nullopt;
}

// atomic_add(), atomic_fetch_or_acquire(), atomic_dec_and_test(), ... without "atomic_".
std::optional<KernelCall> arithmetic_call(std::string_view name) {
  struct Word {
    std::string_view name;
    Op op;
    bool is_one;
  };
  static constexpr std::array<Word, 7> kWords = {{{"add", Op::add, false},
                                                  {"sub", Op::subtract, false},
                                                  {"inc", Op::add, true},
                                                  {"dec", Op::subtract, true},
                                                  {"and", Op::bit_and, false},
                                                  {"or", Op::bit_or, false},
                                                  {"xor", Op::bit_xor, false}}};
  KernelCall call{.kind = CallKind::arithmetic};
  const bool fetches = take(name, "fetch_");
  const auto word = std::ranges::find_if(kWords, [&](const Word& one) { return name.starts_with(one.name); });
  if (word == kWords.end()) return std::nullopt;
  name.remove_prefix(word->name.size());
  call.op = word->op;
  if (word->is_one) call.operand = 1;
  if (fetches) {
    call.returns = Returns::old;
  } else if (take(name, "_return")) {
    call.returns = Returns::result;
  } else if (name == "_and_test" || name == "_negative") {
    call.returns = name == "_negative" ? Returns::is_negative : Returns::is_zero;
    name = {};
  } else if (name.empty()) {
    // Orders nothing: neither its load nor its store.
    call.tags = kOnce | tag(Tag::no_return);
    call.store_tags = kOnce;
    return call;
  }
  return take_order(name, call) ? std::optional(call) : std::nullopt;
}

std::optional<KernelCall> c11_call(std::string_view name) {
  constexpr std::string_view kExplicit = "_explicit";
  const bool is_explicit = name.ends_with(kExplicit);
  if (is_explicit) name.remove_suffix(kExplicit.size());
  const auto found = std::ranges::find(fixed_calls(), name, &Named::name);
  if (found == fixed_calls().end() || !found->call.is_c11) return std::nullopt;
  KernelCall call = found->call;
  const bool has_order = is_explicit || call.kind == CallKind::fence;
  call.needs_order = has_order;
  if (!has_order) set_c11_order(call, "memory_order_seq_cst");
  return call;
}

}  // namespace

std::optional<KernelCall> kernel_call(std::string_view name) {
  if (const auto call = c11_call(name)) return call;
  const auto found = std::ranges::find(fixed_calls(), name, &Named::name);
  if (found != fixed_calls().end()) return found->call;
  const bool is_atomic = take(name, "atomic_") || take(name, "atomic64_") || take(name, "atomic_long_");
  if (const auto call = exchange_call(name)) return call;
  return is_atomic ? arithmetic_call(name) : std::nullopt;
}

void set_c11_order(KernelCall& call, std::string_view order) {
  const auto has = [order](std::string_view word) { return order.find(word) != order.npos; };
  const bool is_total = has("seq_cst"), is_both = is_total || has("acq_rel");
  const bool acquires = is_both || has("acquire") || has("consume"), releases = is_both || has("release");
  if (!acquires && !releases && !has("relaxed")) throw std::invalid_argument("expected an order such as memory_order_acquire");
  if (call.kind == CallKind::fence) {
    call.tags = is_total   ? kFull
                : is_both  ? tag(Tag::load_fence) | tag(Tag::store_fence)
                : acquires ? tag(Tag::load_fence)
                : releases ? tag(Tag::store_fence)
                           : 0;
    if (call.tags == 0) call.kind = CallKind::nothing;
    return;
  }
  const bool is_load = call.kind == CallKind::load || call.kind == CallKind::exchange;
  call.tags = is_load ? (acquires ? kAcquire : kOnce) : (releases ? kRelease : kOnce);
  call.store_tags = releases ? kRelease : kOnce;
  // A later seq_cst load is not performed before a seq_cst store.
  if (call.kind == CallKind::store && is_total) call.fence = kFull;
}

}  // namespace linebounce::sim::litmus
