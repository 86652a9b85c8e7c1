#include "forms/synth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "forms/synthetic_thread.hpp"

namespace linebounce::sim {
namespace {

using trace::Kind;
using workloads::Zipf;

constexpr std::uint64_t kSynthWord = 8;  // size of an access in bytes

// The objects and locks that all threads share, by number.
struct World {
  std::vector<std::uint32_t> objects, locks;
  std::uint32_t function = 0;
};

class SectionThread {
 public:
  SectionThread(const SynthSpec& spec, const World& world, const Zipf& popularity, int number, trace::Writer& out)
      : spec_(&spec),
        world_(&world),
        popularity_(&popularity),
        thread_(out, "thread", number, spec.between_cycles, spec.seed),
        own_(define_own(number, out)),
        left_(spec.accesses) {
    thread_.enter(world.function);
  }

  [[nodiscard]] bool done() const { return left_ == 0; }

  void section() {
    thread_.compute();
    const std::size_t object = draw_object();
    const bool only_reads = thread_.happens(spec_->shared_section_pct);
    if (!world_->locks.empty()) only_reads ? thread_.acquire_shared(lock_of(object)) : thread_.acquire(lock_of(object));
    const std::int64_t accesses = std::min<std::int64_t>(spec_->section, left_);
    for (std::int64_t i = 0; i < accesses; ++i) access(object, only_reads);
    if (!world_->locks.empty()) only_reads ? thread_.release_shared(lock_of(object)) : thread_.release(lock_of(object));
    left_ -= accesses;
    if (done()) thread_.leave();
  }

 private:
  std::uint32_t define_own(int number, trace::Writer& out) const {
    trace::Object object;
    object.name = fmt::format("private[{}]", number);
    object.size = std::int64_t{spec_->private_kib} * 1024;
    object.alignment = 4096;
    object.home = "first_touch";
    return out.define(object);
  }

  std::size_t draw_object() { return popularity_->draw(thread_.random()); }

  void access(std::size_t object, bool only_reads) {
    const bool shared = thread_.happens(spec_->shared_pct);
    // Without locks, each access draws an object. With locks, all accesses of a section use the object that its lock
    // protects.
    const std::size_t chosen = shared && world_->locks.empty() ? draw_object() : object;
    const std::int64_t bytes = shared ? spec_->object_bytes : std::int64_t{spec_->private_kib} * 1024;
    const std::uint64_t offset = thread_.random().below(static_cast<std::uint64_t>(bytes) / kSynthWord) * kSynthWord;
    thread_.access(kind(shared, only_reads), shared ? world_->objects[chosen] : own_, {offset, kSynthWord});
  }

  Kind kind(bool shared, bool only_reads) {
    if (only_reads && shared) return Kind::load;
    if (thread_.happens(spec_->read_pct)) return Kind::load;
    return shared && thread_.happens(spec_->atomic_pct) ? Kind::fetch_add : Kind::store;
  }

  [[nodiscard]] std::uint32_t lock_of(std::size_t object) const { return world_->locks[object % world_->locks.size()]; }

  const SynthSpec* spec_;
  const World* world_;
  const Zipf* popularity_;
  SyntheticThread thread_;
  std::uint32_t own_;
  std::int64_t left_;  // remaining accesses
};

World define_world(const SynthSpec& spec, trace::Writer& out) {
  World world;
  world.function = out.define(trace::Function{"section", false});
  for (int i = 0; i < spec.objects; ++i) {
    trace::Object object;
    object.name = fmt::format("shared[{}]", i);
    object.size = spec.object_bytes;
    object.alignment = static_cast<int>(kSynthWord);
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
  const Zipf popularity = zipf(spec.objects, spec.skew);
  std::vector<SectionThread> threads;
  for (int i = 0; i < spec.threads; ++i) threads.emplace_back(spec, world, popularity, i, out);
  // Appends the threads' sections in turns, so that the writer never has to buffer many operations of one thread.
  while (!threads.front().done()) {
    for (SectionThread& thread : threads) thread.section();
  }
}

}  // namespace linebounce::sim
