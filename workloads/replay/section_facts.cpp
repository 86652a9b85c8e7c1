#include "workloads/replay/section_facts.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace linebounce::workloads {
namespace {

using trace::Kind;

bool writes(const trace::Operation& operation) {
  const bool can_write = operation.kind >= Kind::store && operation.kind <= Kind::compare_exchange;
  return can_write && (operation.flags & trace::kFailed) == 0;
}

struct Facts {
  bool held_alone = false, written = false, tried = false;
};

// The operations of one thread, or of one vector's handlers, in order. A reader may hold a lock several times.
class SectionsOfOneThread {
 public:
  explicit SectionsOfOneThread(std::vector<Facts>& facts) : facts_(facts) {}

  void add(const trace::Operation& operation) {
    const bool tries = operation.kind == Kind::try_acquire || operation.kind == Kind::try_acquire_shared;
    if (tries) facts_.at(operation.id).tried = true;
    switch (operation.kind) {
      case Kind::try_acquire:
      case Kind::acquire: return hold(operation, true);
      case Kind::try_acquire_shared:
      case Kind::acquire_shared: return hold(operation, false);
      case Kind::release:
      case Kind::release_shared: return leave(operation.id);
      default: break;
    }
    if (!writes(operation)) return;
    for (const std::uint32_t lock : held_) facts_.at(lock).written = true;
  }

 private:
  void hold(const trace::Operation& operation, bool alone) {
    if ((operation.flags & trace::kFailed) != 0) return;
    held_.push_back(operation.id);
    if (alone) facts_.at(operation.id).held_alone = true;
  }

  // A lock that the thread acquired before the recording began is not in held_.
  void leave(std::uint32_t lock) {
    const auto last = std::find(held_.rbegin(), held_.rend(), lock);
    if (last != held_.rend()) held_.erase(std::next(last).base());
  }

  std::vector<Facts>& facts_;
  std::vector<std::uint32_t> held_;
};

}  // namespace

namespace {

// A simulated program has no memory that could be freed under its readers.
std::string readers_hazard(const trace::Reader& reader, const trace::Lock& lock) {
  if (lock.readers_follow == trace::kFollowNothing || lock.readers_follow.starts_with(trace::kFollowUnchanged)) return {};
  if (!lock.readers_follow.empty() || !reader.summary().recorder.starts_with(trace::kProgramRecorder))
    return lock.readers_follow;
  return "the recording does not say whether its readers follow pointers into memory that writers free or change";
}

std::string unchanged_pointer(const trace::Lock& lock) {
  const std::string_view text = lock.readers_follow, before = trace::kFollowUnchanged;
  return text.starts_with(before) ? std::string(text.substr(before.size())) : std::string();
}

}  // namespace

void SectionFacts::add(const SectionFacts& other) {
  with_writers = with_writers || other.with_writers;
  tried = tried || other.tried;
  if (readers_hazard.empty()) readers_hazard = other.readers_hazard;
  if (unchanged_pointer.empty()) unchanged_pointer = other.unchanged_pointer;
}

std::vector<SectionFacts> section_facts(const trace::Reader& reader) {
  std::vector<Facts> facts(reader.symbols().locks.size());
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    SectionsOfOneThread sections(facts);
    trace::Reader::Cursor cursor = reader.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const trace::Operation& operation : frame) sections.add(operation);
    }
  }
  std::vector<SectionFacts> found;
  for (std::size_t id = 0; id < facts.size(); ++id) {
    const Facts& lock = facts[id];
    found.push_back({.with_writers = lock.held_alone && lock.written,
                     .tried = lock.tried,
                     .readers_hazard = readers_hazard(reader, reader.symbols().locks[id]),
                     .unchanged_pointer = unchanged_pointer(reader.symbols().locks[id])});
  }
  return found;
}

}  // namespace linebounce::workloads
