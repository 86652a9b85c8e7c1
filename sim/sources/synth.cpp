#include "sim/sources/synth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/program/random.hpp"
#include "workloads/program/zipf.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

using trace::Kind;
using trace::Operation;

constexpr std::uint64_t kWord = 8;  // bytes of an access

// What all threads have in common: ids in the trace.
struct World {
  std::vector<std::uint32_t> objects, locks;
  std::uint32_t function = 0;
};

class SynthThread {
 public:
  SynthThread(const SynthSpec& spec, const World& world, const Zipf& zipf, int number, trace::Writer& out)
      : spec_(&spec),
        world_(&world),
        zipf_(&zipf),
        out_(&out),
        stream_(out.define(trace::Stream{fmt::format("thread[{}]", number), number, -1, false})),
        own_(define_own(number)),
        left_(spec.accesses),
        random_(spec.seed, static_cast<std::uint64_t>(number), 0) {
    append(Kind::enter, world.function);
  }

  [[nodiscard]] bool done() const { return left_ == 0; }

  void section() {
    compute();
    const auto object = static_cast<std::size_t>(zipf_->draw(random_));
    const bool only_reads = happens(spec_->shared_section_pct);
    if (!world_->locks.empty()) append(only_reads ? Kind::acquire_shared : Kind::acquire, lock_of(object));
    const std::int64_t accesses = std::min<std::int64_t>(spec_->section, left_);
    for (std::int64_t i = 0; i < accesses; ++i) access(object, only_reads);
    if (!world_->locks.empty()) append(only_reads ? Kind::release_shared : Kind::release, lock_of(object));
    left_ -= accesses;
    if (done()) append(Kind::leave, 0);
  }

 private:
  std::uint32_t define_own(int number) {
    trace::Object object;
    object.name = fmt::format("private[{}]", number);
    object.size = std::int64_t{spec_->private_kib} * 1024;
    object.alignment = 4096;
    object.home = "first_touch";
    return out_->define(object);
  }

  // As often above the average as below it.
  void compute() {
    const auto cycles = static_cast<std::uint64_t>(spec_->between_cycles);
    if (cycles > 0) append(Kind::compute, 0, random_.below(2 * cycles + 1));
  }

  void access(std::size_t object, bool only_reads) {
    const bool shared = happens(spec_->shared_pct);
    // Without locks, each access finds an object of its own.
    const std::size_t chosen = shared && world_->locks.empty() ? static_cast<std::size_t>(zipf_->draw(random_)) : object;
    const std::int64_t bytes = shared ? spec_->object_bytes : std::int64_t{spec_->private_kib} * 1024;
    const std::uint64_t offset = random_.below(static_cast<std::uint64_t>(bytes) / kWord) * kWord;
    append(kind(shared, only_reads), shared ? world_->objects[chosen] : own_, offset, static_cast<std::uint8_t>(kWord));
  }

  Kind kind(bool shared, bool only_reads) {
    if (only_reads && shared) return Kind::load;
    if (happens(spec_->read_pct)) return Kind::load;
    return shared && happens(spec_->atomic_pct) ? Kind::fetch_add : Kind::store;
  }

  bool happens(int pct) { return random_.below(100) < static_cast<std::uint64_t>(pct); }

  [[nodiscard]] std::uint32_t lock_of(std::size_t object) const { return world_->locks[object % world_->locks.size()]; }

  void append(Kind what, std::uint32_t id, std::uint64_t argument = 0, std::uint8_t bytes = 0) {
    out_->append(stream_, Operation{what, bytes, 0, id, argument});
  }

  const SynthSpec* spec_;
  const World* world_;
  const Zipf* zipf_;
  trace::Writer* out_;
  std::uint32_t stream_, own_;
  std::int64_t left_;  // accesses to come
  Random random_;
};

World define_world(const SynthSpec& spec, trace::Writer& out) {
  World world;
  world.function = out.define(trace::Function{"section", false});
  for (int i = 0; i < spec.objects; ++i) {
    trace::Object object;
    object.name = fmt::format("shared[{}]", i);
    object.size = spec.object_bytes;
    object.alignment = static_cast<int>(kWord);
    world.objects.push_back(out.define(object));
  }
  for (int i = 0; i < spec.locks; ++i) {
    trace::Lock lock;
    lock.name = spec.locks == 1 ? "lock" : fmt::format("lock[{}]", i);
    lock.algorithm = spec.algorithm;
    lock.figures = "lock";
    world.locks.push_back(out.define(lock));
  }
  return world;
}

}  // namespace

void write_synthetic(const SynthSpec& spec, trace::Writer& out) {
  const World world = define_world(spec, out);
  const Zipf zipf(spec.objects, spec.zipf_milli);
  std::vector<SynthThread> threads;
  for (int i = 0; i < spec.threads; ++i) threads.emplace_back(spec, world, zipf, i, out);
  // Section by section in turn, so that no thread's operations have to wait in memory for those of others.
  while (!threads.front().done()) {
    for (SynthThread& thread : threads) thread.section();
  }
}

}  // namespace linebounce::sim
