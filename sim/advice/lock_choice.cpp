#include "sim/advice/lock_choice.hpp"

#include <algorithm>

#include "workloads/registry.hpp"

namespace linebounce {

namespace {

// As LockSet does: a metric's name is dotted, a lock's is not.
std::string figures_name(const trace::Lock& lock) {
  std::string name = lock.figures.empty() ? lock.name : lock.figures;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

struct Uses {
  std::int64_t acquired = 0, acquired_shared = 0;
};

std::vector<Uses> uses_of(const trace::Reader& reader) {
  std::vector<Uses> uses(reader.symbols().locks.size());
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    trace::Reader::Cursor cursor = reader.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const trace::Operation& operation : frame) {
        const bool alone = operation.kind == trace::Kind::acquire || operation.kind == trace::Kind::try_acquire;
        const bool shared = operation.kind == trace::Kind::acquire_shared || operation.kind == trace::Kind::try_acquire_shared;
        if (alone) ++uses.at(operation.id).acquired;
        if (shared) ++uses.at(operation.id).acquired_shared;
      }
    }
  }
  return uses;
}

}  // namespace

std::vector<RecordedLock> recorded_locks(const trace::Reader& reader) {
  const std::vector<Uses> uses = uses_of(reader);
  std::vector<RecordedLock> locks;
  for (std::size_t id = 0; id < uses.size(); ++id) {
    if (uses[id].acquired + uses[id].acquired_shared == 0) continue;
    const trace::Lock& symbol = reader.symbols().locks[id];
    const std::string name = figures_name(symbol);
    auto lock = std::find_if(locks.begin(), locks.end(), [&name](const RecordedLock& known) { return known.name == name; });
    if (lock == locks.end()) lock = locks.insert(locks.end(), {name, symbol.algorithm});
    lock->acquired += uses[id].acquired;
    lock->acquired_shared += uses[id].acquired_shared;
    lock->in_handlers = lock->in_handlers || symbol.in_handlers;
    lock->readers_write = lock->readers_write || symbol.readers_write;
  }
  return locks;
}

std::vector<std::string> suitable_locks(const RecordedLock& lock) {
  return lock_names([&lock](const LockTraits& traits) {
    if (!traits.excludes || (traits.sleeps && lock.in_handlers)) return false;
    switch (traits.readers) {
      case Readers::one_by_one: return true;
      case Readers::together: return lock.acquired_shared > 0;
      case Readers::read_again: return lock.acquired_shared > 0 && !lock.readers_write;
      case Readers::never_wait: break;
    }
    return false;
  });
}

}  // namespace linebounce
