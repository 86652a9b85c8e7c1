#include "forms/kernel_loads.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "forms/synthetic_thread.hpp"

namespace linebounce::sim {
namespace {

using trace::Field;
using workloads::Zipf;

constexpr std::uint64_t kPointer = 8;
constexpr std::uint64_t kCount = 4;  // size of a reference count in bytes
constexpr int kLine = 64;            // structures of this size or more are aligned to it, in bytes

std::uint32_t define_structure(trace::Writer& out, const std::string& name, std::int64_t size, std::vector<Field> fields) {
  trace::Structure structure;
  structure.name = name;
  structure.size = size;
  structure.alignment = size >= kLine ? kLine : 8;
  structure.fields = std::move(fields);
  return out.define(structure);
}

// `of_cpu`: places the object in the memory of the CPU that first uses it.
std::uint32_t define_object(trace::Writer& out, const std::string& name, std::uint32_t structure, std::int64_t size,
                            bool of_cpu = false) {
  trace::Object object;
  object.name = name;
  object.structure = structure;
  object.size = size;
  if (of_cpu) object.home = "first_touch";
  return out.define(object);
}

std::uint32_t define_lock(trace::Writer& out, const std::string& name, const LoadSpec& spec, const std::string& figures = "") {
  trace::Lock lock;
  lock.name = name;
  lock.algorithm = spec.algorithm;
  lock.figures = figures;
  return out.define(lock);
}

std::uint32_t define_function(trace::Writer& out, const std::string& name) {
  return out.define(trace::Function{name, false});
}

// Appends the threads' operations in turns, so that the writer never has to buffer many operations of one thread.
template <class Step>
void run_threads(const LoadSpec& spec, trace::Writer& out, Step step) {
  std::vector<SyntheticThread> threads;
  for (int i = 0; i < spec.threads; ++i) threads.emplace_back(out, "cpu", i, spec.between_cycles, spec.seed);
  for (std::int64_t i = 0; i < spec.operations; ++i) {
    for (SyntheticThread& thread : threads) {
      thread.compute();
      step(thread);
    }
  }
}

constexpr Place kDentryCount{0, kCount}, kDentryHash{40, kPointer}, kDentryName{56, kPointer};
constexpr Place kChainNext{0, kPointer}, kChainPrevious{8, kPointer};

constexpr Place kReferences{0, kCount};

constexpr Place kTimerNext{0, kPointer}, kTimerPrevious{8, kPointer}, kTimerExpires{16, kPointer};
constexpr int kWheelSlots = 64;

constexpr Place kAvailable{0, kCount}, kObjectWords{0, kPointer}, kObjectLink{8, kPointer};
constexpr Place kListPartial{0, kPointer}, kListFull{16, kPointer}, kListFree{32, kPointer};

}  // namespace

void write_load(const DentryLoad& load, trace::Writer& out) {
  const std::uint32_t dentry = define_structure(
      out, "dentry", 128, {{"d_count", 0, 4}, {"d_flags", 4, 4}, {"d_inode", 8, 8}, {"d_hash", 40, 16}, {"d_name", 56, 16}});
  const std::uint32_t chain = define_structure(out, "hash_chain", 16, {{"next", 0, 8}, {"prev", 8, 8}});
  std::vector<std::uint32_t> dentries, chains;
  for (int i = 0; i < load.dentries; ++i) dentries.push_back(define_object(out, fmt::format("dentry[{}]", i), dentry, 128));
  for (int i = 0; i < load.dentries; ++i)
    chains.push_back(define_object(out, fmt::format("dentry_hashtable[{}]", i), chain, 16));
  const std::uint32_t lock = define_lock(out, "dcache_lock", load.common);
  const std::uint32_t d_lookup = define_function(out, "d_lookup");
  const std::uint32_t dput = define_function(out, "dput");
  const std::uint32_t d_move = define_function(out, "d_move");
  const Zipf popularity = zipf(load.dentries, load.skew);
  const auto drawn = [&popularity](SyntheticThread& thread) { return popularity.draw(thread.random()); };

  const auto move = [&](SyntheticThread& thread) {
    const std::size_t moved = drawn(thread);
    const std::size_t to = thread.below(load.dentries);
    thread.enter(d_move);
    thread.acquire(lock);
    thread.store(chains[moved], kChainNext);
    thread.store(chains[to], kChainNext);
    thread.store(chains[to], kChainPrevious);
    thread.store(dentries[moved], kDentryHash);
    thread.release(lock);
    thread.leave();
  };
  std::vector<std::size_t> walked;
  const auto walk = [&](SyntheticThread& thread) {
    walked.clear();
    thread.enter(d_lookup);
    for (int i = 0; i < load.components; ++i) {
      walked.push_back(drawn(thread));
      thread.acquire(lock);
      thread.load(chains[walked.back()], kChainNext);
      thread.load(dentries[walked.back()], kDentryHash);
      thread.load(dentries[walked.back()], kDentryName);
      thread.add(dentries[walked.back()], kDentryCount);
      thread.release(lock);
    }
    thread.leave();
    thread.enter(dput);
    for (const std::size_t entry : walked) thread.add(dentries[entry], kDentryCount);
    thread.leave();
  };
  run_threads(load.common, out,
              [&](SyntheticThread& thread) { thread.happens(load.updates_pct) ? move(thread) : walk(thread); });
}

void write_load(const RefcountLoad& load, trace::Writer& out) {
  const std::uint32_t structure = define_structure(out, "object", 64, {{"count", 0, 4}, {"data", 8, 56}});
  std::vector<std::uint32_t> objects;
  for (int i = 0; i < load.objects; ++i) objects.push_back(define_object(out, fmt::format("object[{}]", i), structure, 64));
  const std::uint32_t use = define_function(out, "use_object");
  const Zipf popularity = zipf(load.objects, load.skew);
  run_threads(load.common, out, [&](SyntheticThread& thread) {
    const std::uint32_t object = objects[popularity.draw(thread.random())];
    thread.enter(use);
    thread.add(object, kReferences);
    for (int i = 0; i < load.reads; ++i)
      thread.load(object, {kPointer + kPointer * static_cast<std::uint64_t>(thread.below(7)), kPointer});
    thread.add(object, kReferences);
    thread.leave();
  });
}

void write_load(const TimerLoad& load, trace::Writer& out) {
  const std::uint32_t timer = define_structure(
      out, "timer_list", 64, {{"next", 0, 8}, {"prev", 8, 8}, {"expires", 16, 8}, {"function", 24, 8}, {"data", 32, 8}});
  const std::uint32_t wheel = define_structure(out, "timer_base", kWheelSlots * 16, {{"slots", 0, kWheelSlots * 16}});
  std::vector<std::uint32_t> timers, bases, locks;
  for (int cpu = 0; cpu < load.common.threads; ++cpu) {
    bases.push_back(define_object(out, fmt::format("timer_base[{}]", cpu), wheel, kWheelSlots * 16, true));
    locks.push_back(define_lock(out, fmt::format("base_lock[{}]", cpu), load.common, "base_lock"));
    for (int i = 0; i < load.timers; ++i)
      timers.push_back(define_object(out, fmt::format("timer[{}]", cpu * load.timers + i), timer, 64, true));
  }
  const std::uint32_t mod_timer = define_function(out, "mod_timer");
  run_threads(load.common, out, [&](SyntheticThread& thread) {
    const int owner = thread.happens(load.remote_pct) ? thread.another(load.common.threads) : thread.number();
    const auto of_owner = owner * load.timers;
    const std::uint32_t moved = timers[of_owner + thread.below(load.timers)];
    const std::uint32_t base = bases[owner];
    const Place slot{static_cast<std::uint64_t>(thread.below(kWheelSlots)) * 16, kPointer};
    thread.enter(mod_timer);
    thread.acquire(locks[owner]);
    thread.load(moved, kTimerNext);
    thread.store(moved, kTimerExpires);
    thread.load(base, slot);
    thread.store(base, slot);
    thread.store(moved, kTimerNext);
    thread.store(moved, kTimerPrevious);
    thread.release(locks[owner]);
    thread.leave();
  });
}

namespace {

// Tracks free objects as an allocator does, in per-CPU arrays and shared lists.
class Slab {
 public:
  Slab(const SlabLoad& load, trace::Writer& out) : load_(load), arrays_(load.common.threads) {
    const auto array_bytes = static_cast<std::int64_t>(kPointer) * (load.array + 1);
    const std::uint32_t array =
        define_structure(out, "array_cache", array_bytes, {{"avail", 0, 4}, {"entry", 8, array_bytes - 8}});
    const std::uint32_t object = define_structure(out, "object", 64, {{"data", 0, 8}, {"link", 8, 8}});
    const std::uint32_t lists =
        define_structure(out, "kmem_list3", 48, {{"slabs_partial", 0, 16}, {"slabs_full", 16, 16}, {"slabs_free", 32, 16}});
    for (int cpu = 0; cpu < load.common.threads; ++cpu)
      array_objects_.push_back(define_object(out, fmt::format("array_cache[{}]", cpu), array, array_bytes, true));
    lists_ = define_object(out, "kmem_list3", lists, 48);
    // Enough objects for full arrays, two per CPU that are in use or passed on, and a batch for one CPU that refills.
    const int objects_in_all = load.common.threads * (load.array + 2) + load.batch;
    for (int i = objects_in_all - 1; i >= 0; --i)
      free_.push_back(define_object(out, fmt::format("slab_object[{}]", i), object, 64));
    lock_ = define_lock(out, "list_lock", load.common);
    alloc_ = define_function(out, "kmem_cache_alloc");
    free_function_ = define_function(out, "kmem_cache_free");
  }

  void step(SyntheticThread& thread) {
    const std::uint32_t object = allocate(thread);
    thread.store(object, kObjectWords);
    const int freed_by = thread.happens(load_.remote_pct) ? thread.another(load_.common.threads) : thread.number();
    arrays_[freed_by].to_free.push_back(object);
    for (const std::uint32_t handed : std::exchange(array_of(thread).to_free, {})) free(thread, handed);
  }

 private:
  struct Array {
    std::vector<std::uint32_t> objects;
    // Objects that this CPU must free: its own, and those that other CPUs have passed to it.
    std::vector<std::uint32_t> to_free;
  };

  Array& array_of(const SyntheticThread& thread) { return arrays_[thread.number()]; }
  [[nodiscard]] static Place entry(std::size_t number) { return {kPointer * (number + 1), kPointer}; }

  std::uint32_t allocate(SyntheticThread& thread) {
    Array& array = array_of(thread);
    const std::uint32_t own = array_objects_[thread.number()];
    thread.enter(alloc_);
    thread.load(own, kAvailable);
    if (array.objects.empty()) refill(thread, array);
    const std::uint32_t object = array.objects.back();
    array.objects.pop_back();
    thread.load(own, entry(array.objects.size()));
    thread.store(own, kAvailable);
    thread.leave();
    return object;
  }

  void free(SyntheticThread& thread, std::uint32_t object) {
    Array& array = array_of(thread);
    const std::uint32_t own = array_objects_[thread.number()];
    thread.enter(free_function_);
    thread.load(own, kAvailable);
    if (std::ssize(array.objects) == load_.array) flush(thread, array);
    thread.store(own, entry(array.objects.size()));
    thread.store(own, kAvailable);
    array.objects.push_back(object);
    thread.leave();
  }

  void refill(SyntheticThread& thread, Array& array) {
    thread.acquire(lock_);
    thread.load(lists_, kListPartial);
    for (int i = 0; i < load_.batch; ++i) {
      array.objects.push_back(free_.back());
      free_.pop_back();
      thread.load(array.objects.back(), kObjectLink);
    }
    thread.store(lists_, kListPartial);
    thread.store(lists_, kListFull);
    thread.release(lock_);
  }

  // Frees the oldest objects.
  void flush(SyntheticThread& thread, Array& array) {
    thread.acquire(lock_);
    for (int i = 0; i < load_.batch; ++i) {
      thread.store(array.objects[i], kObjectLink);
      free_.push_back(array.objects[i]);
    }
    array.objects.erase(array.objects.begin(), array.objects.begin() + load_.batch);
    thread.store(lists_, kListPartial);
    thread.store(lists_, kListFree);
    thread.release(lock_);
  }

  const SlabLoad& load_;
  std::vector<Array> arrays_;  // by CPU
  std::vector<std::uint32_t> array_objects_;
  std::vector<std::uint32_t> free_;  // free objects on the shared lists
  std::uint32_t lists_ = 0, lock_ = 0, alloc_ = 0, free_function_ = 0;
};

}  // namespace

void write_load(const SlabLoad& load, trace::Writer& out) {
  Slab slab(load, out);
  run_threads(load.common, out, [&slab](SyntheticThread& thread) { slab.step(thread); });
}

}  // namespace linebounce::sim
