#include "sim/studies/advice/count_cures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/ordinal.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {
namespace {

using workloads::CountForm;

constexpr std::size_t kMostWords = 3;
constexpr double kCostly = 1;        // percent of the threads' time
constexpr double kMostlyAdds = 0.9;  // of the writes

bool is_awaited(const CountWord& word, const trace::Symbols& symbols) {
  return std::ranges::any_of(symbols.words, [&](const trace::Word& awaited) {
    const trace::Object& object = symbols.objects[awaited.object];
    const std::string& layout = object.structure == trace::kNone ? object.name : symbols.structures[object.structure].name;
    return layout == word.layout && awaited.offset == static_cast<std::int64_t>(word.offset);
  });
}

// Not so the replay's own words for events, and for threads that begin and end.
bool is_of_program(const CountWord& word, const trace::Symbols& symbols) {
  return std::ranges::any_of(symbols.objects, [&](const trace::Object& object) {
    const std::string& layout = object.structure == trace::kNone ? object.name : symbols.structures[object.structure].name;
    return layout == word.layout && word.offset < static_cast<std::uint64_t>(object.size);
  });
}

bool is_count(const TimeAccount& account, const TimeShare& share, const trace::Symbols& symbols) {
  return share.what == TimeClass::true_sharing && account.pct(share.ticks) >= kCostly && share.word &&
         static_cast<double>(share.word->adds) >= kMostlyAdds * static_cast<double>(share.word->writes) &&
         is_of_program(*share.word, symbols) && !is_awaited(*share.word, symbols);
}

// A count beside other fields may be the reference count of what they are.
bool is_field(const CountWord& word, const trace::Symbols& symbols) {
  return std::ranges::any_of(symbols.structures, [&word](const trace::Structure& it) { return it.name == word.layout; });
}

std::string count_name(const TimeShare& share) {
  std::string name = share.name;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

CountCure cure_of(CountForm form, const TimeShare& share) {
  using workloads::kBatch;
  using workloads::kStripes;
  CountCure cure{{{form, share.word->layout, share.word->offset}}, {}, {}, {}, share.source};
  const std::string name = count_name(share);
  const char* const slot = "struct {{ _Alignas(64) _Atomic long count; }} {}_{}[{}];\n";
  switch (form) {
    case CountForm::per_thread:
      cure.what = fmt::format("count {} per thread, and sum the counts on a read", share.name);
      cure.only_if = "nobody uses the value that an add returns or needs the exact sum after every add";
      cure.sketch = fmt::format(fmt::runtime(slot), name, "of", "THREADS") +
                    "// add: a relaxed load and store of the thread's own count; read: the sum of all\n";
      break;
    case CountForm::batched:
      cure.what = fmt::format("add to {} only every {} adds of a thread", share.name, kBatch);
      cure.only_if = fmt::format(
          "nobody uses the value that an add returns, and a sum will do that lacks up to {} adds of each thread", kBatch - 1);
      cure.sketch =
          fmt::format("static _Thread_local long pending;\n// add: if (++pending == {0}) {{ add {0} to {1}; pending = 0; }}\n",
                      kBatch, name);
      break;
    case CountForm::striped:
      cure.what = fmt::format("stripe {} over {} counts on lines of their own, and sum them on a read", share.name, kStripes);
      cure.only_if = "nobody uses the value that an add returns or needs the exact sum after every add";
      cure.sketch = fmt::format(fmt::runtime(slot), name, "stripe", kStripes) +
                    "// add: an atomic add to the stripe of the thread or CPU; read: the sum of all\n";
      break;
    case CountForm::removed:
      cure.what = fmt::format("take {} out of the readers' path (RCU, hazard pointers)", share.name);
      cure.only_if =
          "it is a reference count, and the object may be freed after a grace period (whose cost to the writer is not "
          "simulated) "
          "instead of by its last user";
      cure.sketch = "// reader: rcu_read_lock() ... rcu_read_unlock(), no count; writer: unlink, synchronize_rcu(), free\n";
      break;
  }
  return cure;
}

// The most that each word's cures may gain, at once.
CountCure together(const std::vector<CountCure>& cures) {
  CountCure all;
  for (const CountCure& cure : cures) {
    all.choices.insert(all.choices.end(), cure.choices.begin(), cure.choices.end());
    all.what += (all.what.empty() ? "" : "; ") + cure.what;
    if (all.only_if.find(cure.only_if) == std::string::npos)
      all.only_if += (all.only_if.empty() ? "" : "; and only if ") + cure.only_if;
    all.sketch += cure.sketch;
    all.source += (all.source.empty() ? "" : " and ") + cure.source;
  }
  return all;
}

}  // namespace

std::vector<CountCure> count_cures(const TimeAccount& account, const trace::Symbols& symbols) {
  std::vector<CountCure> cures, best;
  for (const TimeShare& share : account.shares) {
    if (best.size() == kMostWords) break;
    if (!is_count(account, share, symbols)) continue;
    const bool may_be_reference = is_field(*share.word, symbols);
    best.push_back(cure_of(may_be_reference ? CountForm::removed : CountForm::per_thread, share));
    for (const CountForm form : {CountForm::per_thread, CountForm::batched, CountForm::striped, CountForm::removed}) {
      if (form != CountForm::removed || may_be_reference) cures.push_back(cure_of(form, share));
    }
  }
  if (best.size() > 1) cures.push_back(together(best));
  return cures;
}

}  // namespace linebounce::sim
