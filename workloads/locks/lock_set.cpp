#include "workloads/locks/lock_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "models/text/visible.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/program/composite_operation.hpp"

namespace linebounce::workloads {

std::string name_in_figures(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return visible_name(name);
}

const LockEntry& LockSet::find(const std::string& algorithm) const {
  for (const LockEntry& entry : from_files_) {
    if (entry.name == algorithm) return entry;
  }
  return find_lock(algorithm);
}

MeteredLock& LockSet::create(const LockEntry& entry, const std::string& name, const Options& options) {
  const int most = entry.traits.most_cpus;
  if (most > 0 && per_cpu_.cpus() > most)
    throw std::invalid_argument(fmt::format("the lock {} is for at most {} CPUs, and the machine has {}: --set machine.cpus={}",
                                            entry.name, most, per_cpu_.cpus(), most));
  const std::size_t first_object = memory_->objects().size();
  if (entry.traits.sleeps && !sleepers_) sleepers_.emplace(per_cpu_);
  LockFigures& figures = figures_[name_in_figures(options.figures.empty() ? name : options.figures)];
  const bool fits = options.word_bytes >= kLockWordBytes || entry.traits.fits_4_bytes;
  const std::optional<Address> word = fits ? options.word : std::nullopt;
  std::unique_ptr<Lock> lock =
      entry.create({*memory_, per_cpu_, name, word, options.waits_in, word ? options.word_bytes : kLockWordBytes});
  locks_.push_back(std::make_unique<MeteredLock>(name, entry.name, entry.traits, std::move(lock), figures, holders_));
  created_.push_back({entry.name, options, locks_.back().get(), first_object, memory_->objects().size()});
  return *locks_.back();
}

void LockSet::sleep(Cpu& cpu) const {
  const CompositeOperation sleeping(cpu, {.what = Composite::What::sleep});
  if (sleepers_) {
    sleepers_->sleep(cpu);
  } else {
    cpu.sleep();
  }
}

void LockSet::finish(std::span<const Cpu* const> cpus, Tick end) {
  for (const Cpu* cpu : cpus) {
    for (const LockHolders::Use& use : holders_.held(cpu->id().value)) {
      use.lock->still_held(*cpu, use, end);
      if (!use.lock->traits().excludes) use.lock->sections().add(*cpu, use.call_site, use.since, end, use.shared);
    }
    for (const LockHolders::Use& use : holders_.awaited(cpu->id().value)) {
      if (holders_.is_kept_waiting(cpu->id().value, use)) use.lock->figures().still_waited(*cpu, use.call_site, use.since, end);
    }
  }
  for (const auto& lock : locks_) {
    lock->figures().add_instance(lock->held());
    if (!lock->traits().excludes) lock->figures().raced(lock->sections().find_races());
  }
}

}  // namespace linebounce::workloads
