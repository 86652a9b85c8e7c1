#include <fmt/ranges.h>

#include <algorithm>

#include "commands/describe/named_kinds.hpp"
#include "models/text/visible.hpp"
#include "sim/config/lua_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/point/config_error.hpp"
#include "sim/terminal/table.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

using nlohmann::ordered_json;

struct ReadersText {
  const char* name;  // in JSON
  const char* text;
};

ReadersText readers_text(Readers readers) {
  switch (readers) {
    case Readers::one_by_one: return {"one_by_one", "enter one at a time, as writers do"};
    case Readers::together: return {"together", "enter together and keep writers out"};
    case Readers::read_again: return {"read_again", "don't wait, and retry if a writer came between"};
    case Readers::never_wait: return {"never_wait", "don't wait and see the old version; a writer waits for them"};
  }
  return {"", ""};
}

std::string order_text(const LockTraits& traits) {
  if (!traits.excludes) return "none: it excludes nobody, and its races are counted";
  return traits.fifo ? "first come, first served" : "none: the fastest CPU wins";
}

// The size in bytes of the structure field that holds the lock.
int bytes_of(const LockTraits& traits) {
  return traits.fits_4_bytes ? 4 : kLockWordBytes;
}

ordered_json facts_json(const LockEntry& lock) {
  const LockTraits& traits = lock.traits;
  ordered_json facts = {{"excludes", traits.excludes},     {"first_come_first_served", traits.fifo},
                        {"sleeps", traits.sleeps},         {"readers", readers_text(traits.readers).name},
                        {"numa_aware", traits.numa_aware}, {"bytes", bytes_of(traits)}};
  if (traits.most_cpus > 0) facts["cpus"] = traits.most_cpus;
  if (!lock.library.empty()) facts["library"] = lock.library;
  if (!lock.file.empty()) facts["file"] = lock.file;
  return facts;
}

// What distinguishes the lock from a plain spin lock, in one line for lists.
std::string traits_remark(const LockTraits& traits) {
  if (!traits.excludes) return "excludes nobody";
  std::vector<std::string> remarks;
  if (traits.fifo) remarks.emplace_back("first come, first served");
  if (traits.readers != Readers::one_by_one) remarks.push_back(std::string("readers ") + readers_text(traits.readers).text);
  if (traits.sleeps) remarks.emplace_back("waiters sleep");
  if (traits.numa_aware) remarks.emplace_back("prefers CPUs of its node");
  if (traits.most_cpus > 0) remarks.push_back(fmt::format("for {} CPUs", traits.most_cpus));
  return fmt::format("{}", fmt::join(remarks, "; "));
}

// A parameter of a workload that takes a lock's name: it accepts this lock, or refuses it.
struct Place {
  std::string workload, parameter;
  std::string refusal;  // why it refuses the lock; empty: it accepts it
};

// Lists the parameters that take a lock's name, and whether each accepts this lock. For a lock from a file, its traits decide.
std::vector<Place> places_of(const LockEntry& entry) {
  const std::string& lock = entry.name;
  std::vector<Place> places;
  for (const WorkloadEntry& workload : all_workloads()) {
    for (const ParameterDeclaration& parameter : workload.parameters) {
      if (is_source_path(lock)) {
        if (parameter.why_no_lock) places.push_back({workload.name, parameter.name, parameter.why_no_lock(entry.traits)});
        continue;
      }
      const auto refusal = parameter.refusals.find(lock);
      if (refusal != parameter.refusals.end()) {
        places.push_back({workload.name, parameter.name, refusal->second});
      } else if (std::ranges::find(parameter.choices, lock) != parameter.choices.end()) {
        places.push_back({workload.name, parameter.name, ""});
      }
    }
  }
  return places;
}

}  // namespace

std::vector<ListedThing> list_locks() {
  std::vector<ListedThing> things;
  for (const LockEntry& entry : all_locks())
    things.push_back({entry.name, entry.title, "", traits_remark(entry.traits), facts_json(entry)});
  return things;
}

std::string lock_page(const std::string& name, const Painter& paint) {
  const LockEntry entry = lock_called(name);
  Table facts = labelled(14, paint);
  const auto add = [&facts](const char* label, const std::string& text) { facts.add({{label, Colour::cyan}, text}); };
  add("order", order_text(entry.traits));
  if (entry.traits.excludes) {
    add("who waits", entry.traits.sleeps ? "sleeps, and gives its CPU away" : "spins");
    add("readers", readers_text(entry.traits.readers).text);
    if (entry.traits.numa_aware) add("nodes", "waiters of the holder's node come first");
  }
  if (entry.traits.most_cpus > 0) add("CPUs", fmt::format("at most {}", entry.traits.most_cpus));
  add("size", fmt::format("{} bytes", bytes_of(entry.traits)));
  if (!entry.library.empty()) add("library", entry.library);
  if (!entry.file.empty()) add("file", entry.file);
  for (const Place& place : places_of(entry)) {
    const bool refused = !place.refusal.empty();
    add(refused ? "refused by" : "usable in",
        place.workload + ", workload." + place.parameter + (refused ? ": " + place.refusal : ""));
  }
  return paint(Colour::bold, entry.name) + "  " + visible_name(entry.title) + "\n\n" + facts.text();
}

ordered_json lock_json(const std::string& name) {
  const LockEntry entry = lock_called(name);
  ordered_json out = {{"name", entry.name}, {"title", entry.title}};
  out.update(facts_json(entry));
  out["usable_in"] = ordered_json::array();
  out["refused_by"] = ordered_json::array();
  for (const Place& place : places_of(entry)) {
    ordered_json item = {{"workload", place.workload}, {"parameter", "workload." + place.parameter}};
    if (!place.refusal.empty()) item["reason"] = place.refusal;
    out[place.refusal.empty() ? "usable_in" : "refused_by"].push_back(std::move(item));
  }
  return out;
}

}  // namespace linebounce::sim
