#include "trace/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace linebounce::trace {
namespace {

Bearing bearing_of(const std::string& sentence) {
  const LossKind* kind = kind_of_sentence(sentence);
  return kind == nullptr ? Bearing::none : kind->bearing;
}

void add_losses(std::vector<Limit>& limits, const std::vector<std::string>& missing) {
  for (const std::string& sentence : missing) {
    const LossKind* kind = kind_of_sentence(sentence);
    if (kind == nullptr || kind->bearing == Bearing::none) continue;
    limits.push_back({std::string(kind->name), kind->bearing, before_verdict(*kind, sentence)});
  }
}

void add_damage(std::vector<Limit>& limits, const std::string& damage) {
  if (damage.empty()) return;
  const LossKind& kind = facts_of(Loss::damaged);
  limits.push_back({std::string(kind.name), kind.bearing, before_verdict(kind, facts_text(Loss::damaged, "", damage))});
}

// A recorded program in which no more than one thread was seen at work: others may exist that the recorder could not see, or
// they work in libraries that were not compiled for it.
void add_threads(std::vector<Limit>& limits, const Reader& reader, const Profile& profile) {
  if (!reader.summary().recorder.starts_with(kProgramRecorder)) return;
  const std::vector<Stream>& streams = reader.symbols().streams;
  std::size_t threads = 0, at_work = 0;
  std::string name;
  for (std::size_t id = 0; id < streams.size(); ++id) {
    if (streams[id].vector >= 0) continue;
    ++threads;
    if (profile.streams[id].accesses == 0) continue;
    ++at_work;
    name = streams[id].name;
  }
  if (at_work > 1) return;
  const std::string seen =
      threads == 1
          ? "Only one thread was recorded, so what it shares with threads or processes that the recorder can't see is unknown."
          : fmt::format("Of {} recorded threads {} was seen to touch memory, so nothing that they share could be seen.",
                        threads, at_work == 0 ? "none" : "only " + name);
  limits.push_back({"one_thread_seen", Bearing::may_add, seen});
}

Limits sorted(std::vector<Limit> found) {
  Limits limits;
  limits.add(Limits(std::move(found)));
  return limits;
}

}  // namespace

bool Limits::any_from(Bearing least) const {
  return std::ranges::any_of(all_, [least](const Limit& limit) { return limit.bearing >= least; });
}

std::string Limits::text() const {
  std::string text;
  for (const Limit& limit : all_) text += (text.empty() ? "" : " ") + limit.sentence;
  return text;
}

void Limits::add(const Limits& others) {
  for (const Limit& limit : others.all_) {
    if (std::ranges::find(all_, limit) == all_.end()) all_.push_back(limit);
  }
  std::ranges::stable_sort(all_, std::ranges::greater{}, &Limit::bearing);
}

Limits limits_of(const Reader& reader) {
  return limits_of(reader, profile(reader));
}

Limits stated_limits(const Reader& reader) {
  std::vector<Limit> found;
  add_losses(found, reader.summary().missing);
  add_damage(found, reader.damage());
  return sorted(std::move(found));
}

Limits limits_of(const Reader& reader, const Profile& profile) {
  std::vector<Limit> found = stated_limits(reader).all();
  add_threads(found, reader, profile);
  return sorted(std::move(found));
}

std::vector<std::string> missing_beside_limits(const std::vector<std::string>& missing) {
  std::vector<std::string> others = missing;
  std::erase_if(others, [](const std::string& sentence) { return bearing_of(sentence) != Bearing::none; });
  return others;
}

}  // namespace linebounce::trace
