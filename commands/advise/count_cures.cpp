#include "commands/advise/count_cures.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <tuple>

#include "sim/answer/quantity.hpp"

namespace linebounce::sim {
namespace {

using workloads::CountForm;
using workloads::kBatch;
using workloads::kStripes;

constexpr std::size_t kMostCounts = 3;     // that are cured alone
constexpr std::size_t kMostTogether = 16;  // that one cure changes

// What a cure's text says.
struct Wording {
  std::string what, only_if, sketch;
};

std::string name_in_c(const std::string& name) {
  std::string changed = name;
  std::ranges::replace_if(
      changed, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return changed;
}

std::string slots(const std::string& name, const std::string& number, const std::string& members = "count") {
  return fmt::format("struct {{ _Alignas(64) _Atomic long {}; }} {}[{}];\n", members, name, number);
}

// True if no addition returns a value that the program uses.
bool is_unused(const CountShare& count) {
  const CountUse use = count.use();
  return use.unseen == 0 && use.used_ups + use.used_downs + use.used_others == 0;
}

// Returns the text for a count of which the program only needs the sum. `unused`: see is_unused().
Wording wording_of_sum(CountForm form, const std::string& name, bool unused) {
  const std::string unseen = unused ? "nobody" : "nobody uses the value that an add returns or";
  const std::string exact = unseen + " needs the exact sum after every add";
  switch (form) {
    case CountForm::per_thread:
      return {fmt::format("count {} per thread, and sum the counts on a read", name), exact,
              slots(name_in_c(name) + "_of", "THREADS") +
                  "// add: a relaxed load and store of the thread's own count; read: the sum of all\n"};
    case CountForm::batched:
      return {
          fmt::format("add to {} only every {} adds of a thread", name, kBatch),
          fmt::format("{}a sum will do that lacks up to {} adds of each thread",
                      unused ? "" : "nobody uses the value that an add returns, and ", kBatch - 1),
          fmt::format("static _Thread_local long pending;\n// add: if (++pending == {0}) {{ add {0} to {1}; pending = 0; }}\n",
                      kBatch, name_in_c(name))};
    case CountForm::striped:
      return {fmt::format("stripe {} over {} counts on lines of their own, and sum them on a read", name, kStripes), exact,
              slots(name_in_c(name) + "_stripe", std::to_string(kStripes)) +
                  "// add: an atomic add to the stripe of the thread or CPU; read: the sum of all\n"};
    case CountForm::removed:
      return {fmt::format("take {} out of the readers' path (RCU, hazard pointers)", name),
              "it is a reference count, and the object may be freed after a grace period (whose cost to the writer is not "
              "simulated) instead of by its last user",
              "// reader: rcu_read_lock() ... rcu_read_unlock(), no count; writer: unlink, synchronize_rcu(), free\n"};
  }
  return {};
}

Wording wording_of_numbers(const std::string& name) {
  return {fmt::format("take numbers from {} {} at a time", name, kBatch),
          fmt::format("numbers need not be used in order, and a thread may keep up to {} that it has not used", kBatch - 1),
          fmt::format(
              "static _Thread_local long next, end;\n// take: if (next == end) {{ next = add {0} to {1}; end = next + {0}; }} "
              "return next++;\n",
              kBatch, name_in_c(name))};
}

Wording wording_of_references(CountForm form, const std::string& name) {
  switch (form) {
    case CountForm::removed:
      return {fmt::format("take {} out of the readers' path (RCU, hazard pointers)", name),
              "the object may be freed after a grace period (whose cost to the writer is not simulated) instead of by its last "
              "user",
              "// reader: rcu_read_lock() ... rcu_read_unlock(), no count; writer: unlink, synchronize_rcu(), free\n"};
    case CountForm::per_thread:
      return {fmt::format("count the references of {} per CPU or thread, as the kernel's percpu_ref does", name),
              "an owner says when no more references are taken: until then nobody looks whether the last one is gone, and then "
              "the counts become one again",
              slots(name_in_c(name) + "_of", "THREADS") +
                  "// take and drop: add to the thread's own count; the owner ends that, sums them, and frees at 0\n"};
    default:
      return {fmt::format("take a reference to what {} counts only every {} uses of a thread", name, kBatch),
              "a thread may keep the object for so long",
              "// use: if (uses++ % " + std::to_string(kBatch) + " == 0) { drop the reference, take one }\n"};
  }
}

Wording wording_of_shared_ptr(CountForm form, const std::string& count) {
  const std::string name = count.substr(0, count.rfind('.'));  // "shared_ptr<Table>"
  switch (form) {
    case CountForm::removed:
      return {fmt::format("use the object of {} by reference, without a copy", name),
              "a shared_ptr that the caller or its owner keeps outlives the use; else hazard pointers or RCU have to keep the "
              "object, whose cost is not simulated",
              "void use(const Object& object);  // use(*shared), in the place of a parameter or a local shared_ptr\n"};
    case CountForm::per_thread:
      return {fmt::format("give each thread a {} with a count of its own", name),
              "the object may live until every thread has dropped its own",
              "thread_local auto own = make_shared<shared_ptr<Object>>(shared);  // one copy for each thread\n"
              "shared_ptr<Object> copy(own, own->get());  // counts in the thread's own block\n"};
    default:
      return {
          fmt::format("copy {} only every {} uses of a thread", name, kBatch), "a thread may keep the object for so long",
          "thread_local shared_ptr<Object> kept;\n// use: if (uses++ % " + std::to_string(kBatch) + " == 0) kept = shared;\n"};
  }
}

Wording wording_of(CountForm form, const CountShare& count) {
  const std::string& name = count.share->name;
  if (is_shared_ptr(*count.share)) return wording_of_shared_ptr(form, name);
  if (count.kind == CountKind::references) return wording_of_references(form, name);
  if (count.kind == CountKind::numbers) return wording_of_numbers(name);
  return wording_of_sum(form, name, is_unused(count));
}

// Returns the suitable counters. The first gains most, if the program meets its condition.
std::vector<CountForm> forms_for(const CountShare& count) {
  if (is_shared_ptr(*count.share) || count.kind == CountKind::references)
    return {CountForm::removed, CountForm::per_thread, CountForm::batched};
  switch (count.kind) {
    case CountKind::numbers: return {CountForm::batched};
    case CountKind::events:
      if (count.use().is_by_loops()) return {CountForm::batched};
      return {CountForm::per_thread, CountForm::batched, CountForm::striped};
    case CountKind::level:
      if (!count.is_field) return {CountForm::per_thread, CountForm::striped};
      return {CountForm::removed, CountForm::per_thread, CountForm::striped};
    default:
      if (!count.is_field) return {CountForm::per_thread, CountForm::batched, CountForm::striped};
      return {CountForm::removed, CountForm::per_thread, CountForm::batched, CountForm::striped};
  }
}

CountCure cure_of(CountForm form, const CountShare& count) {
  Wording wording = wording_of(form, count);
  CountCure cure{.choices = {},
                 .what = std::move(wording.what),
                 .seen = fmt::format("{} is {}", count.share->name, sentence(count)),
                 .only_if = std::move(wording.only_if),
                 .sketch = std::move(wording.sketch),
                 .source = count.share->source};
  for (const SharedCount& it : count.counts) cure.choices.push_back({form, it.word.layout, it.word.offset});
  return cure;
}

bool becomes_sum_of_threads(const CountShare& count) {
  const bool is_sum = !is_shared_ptr(*count.share) && count.kind != CountKind::references && count.kind != CountKind::numbers;
  return is_sum && forms_for(count).front() == CountForm::per_thread;
}

// The text for several counts that become sums of threads' counts: a thread has all its counts together.
Wording wording_of_sums(const std::vector<const CountShare*>& counts) {
  std::vector<std::string> names, members;
  bool unused = true;
  for (const CountShare* count : counts) {
    names.push_back(count->share->name);
    members.push_back(name_in_c(count->share->name));
    unused = unused && is_unused(*count);
  }
  Wording wording = wording_of_sum(CountForm::per_thread, enumeration(names), unused);
  wording.sketch = slots("counts_of", "THREADS", fmt::format("{}", fmt::join(members, ", "))) +
                   "// add: a relaxed load and store of the thread's own count; read: the sum of all\n";
  return wording;
}

// Texts of several cures, each text once.
class Texts {
 public:
  void add(const std::string& text) {
    if (std::ranges::find(all_, text) == all_.end()) all_.push_back(text);
  }
  [[nodiscard]] std::string joined(const char* between) const { return fmt::format("{}", fmt::join(all_, between)); }

 private:
  std::vector<std::string> all_;
};

// Combines the most promising cure of each count into one. Counts that become sums are described together.
CountCure together(const std::vector<const CountShare*>& counts) {
  std::vector<const CountShare*> sums;
  std::ranges::copy_if(counts, std::back_inserter(sums), [](const CountShare* it) { return becomes_sum_of_threads(*it); });
  CountCure all;
  Texts what, seen, only_if, sketch, source;
  for (const CountShare* count : counts) {
    const CountForm form = forms_for(*count).front();
    const bool of_sums = sums.size() > 1 && becomes_sum_of_threads(*count);
    const CountCure cure = cure_of(form, *count);
    const Wording wording = of_sums ? wording_of_sums(sums) : wording_of(form, *count);
    all.choices.insert(all.choices.end(), cure.choices.begin(), cure.choices.end());
    what.add(wording.what);
    only_if.add(wording.only_if);
    sketch.add(wording.sketch);
    seen.add(cure.seen);
    source.add(cure.source);
  }
  all.what = what.joined("; ");
  all.seen = seen.joined("; ");
  all.only_if = only_if.joined("; and only if ");
  all.sketch = sketch.joined("");
  all.source = source.joined(" and ");
  return all;
}

}  // namespace

std::vector<CountCure> count_cures(const TimeAccount& account, const trace::Reader& reader) {
  const CountShares counts = count_shares(account, reader);
  std::vector<CountCure> cures;
  std::vector<const CountShare*> all;
  for (const CountShare& count : counts.costly) {
    all.push_back(&count);
    if (all.size() > kMostCounts) continue;
    for (const CountForm form : forms_for(count)) cures.push_back(cure_of(form, count));
  }
  for (const CountShare& count : counts.beside) all.push_back(&count);
  if (all.size() > kMostTogether) all.resize(kMostTogether);
  // In the order of the words, whatever they cost, so that the cure is known by the same name on every machine.
  std::ranges::stable_sort(all, {}, [](const CountShare* it) {
    const CountWord& word = it->counts.front().word;
    return std::tuple(word.layout, word.offset);
  });
  if (all.size() > 1) cures.push_back(together(all));
  return cures;
}

}  // namespace linebounce::sim
